//! Rows with weights, several targets and labels, from files as they come.

use std::io::{Cursor, Read, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use mercer_readers::{
    ColumnChoice, DataError, Dataset, Example, Header, Missing, ReadOptions, RowReader, TargetColumn, TargetHead,
    Targets, read_bytes,
};

fn options(target: &str, weight: Option<&str>, targets: Targets) -> ReadOptions {
    ReadOptions {
        target: if target.is_empty() { TargetColumn::Last } else { target.parse().unwrap() },
        weight: weight.map(|weight| weight.parse().unwrap()),
        targets,
        ..ReadOptions::default()
    }
}

fn open(name: &str, text: &str, options: &ReadOptions) -> Result<RowReader, DataError> {
    let options = ReadOptions { libsvm_dimension: options.libsvm_dimension.or(Some(2)), ..options.clone() };
    RowReader::from_reader(name, Cursor::new(text.as_bytes().to_vec()), &options)
}

/// All rows, or what is wrong with each.
fn rows(name: &str, text: &str, options: &ReadOptions) -> Vec<Result<Example, String>> {
    let mut reader = open(name, text, options).unwrap();
    let (mut example, mut all) = (Example { label: "rest".into(), ..Example::default() }, Vec::new());
    loop {
        match reader.next_example(&mut example) {
            Ok(true) => all.push(Ok(example.clone())),
            Ok(false) => return all,
            Err(error) => {
                assert!(error.concerns_one_row(), "{error}");
                assert_eq!(example, Example { weight: 1.0, ..Example::default() });
                all.push(Err(error.to_string()));
            }
        }
    }
}

fn refused(name: &str, text: &str, options: &ReadOptions) -> String {
    open(name, text, options).map(drop).unwrap_err().to_string()
}

fn example(features: &[f64], targets: &[f64], label: &str, weight: f64) -> Result<Example, String> {
    Ok(Example {
        features: features.to_vec(),
        targets: targets.to_vec(),
        label: label.to_owned(),
        weight,
        tokens: None,
    })
}

fn labels(name: &str, text: &str, options: &ReadOptions) -> Vec<String> {
    rows(name, text, options).into_iter().map(|row| row.map_or_else(|error| error, |row| row.label)).collect()
}

#[test]
fn weights_stand_anywhere() {
    let expected = vec![example(&[1.0, 2.0], &[3.0], "", 0.5), example(&[4.0, 5.0], &[6.0], "", 0.0)];
    for (name, text, target, weight) in [
        ("f.csv", "w,a,y,b\n0.5,1,3,2\n0,4,6,5\n", "y", "w"),
        ("f.csv", "\u{feff}a,b,y,w\r\n1,2,3,.5\r\n4,\"5\",6, 0 \r\n", "", "w"),
        ("f.csv", "0.5,1,2,3\n-0,4,5,6\n", "", "1"),
        ("f.tsv", "1\t5e-1\t2\t3\n4\t0\t5\t6\n", "", "2"),
        ("f.ndjson", "{\"w\":0.5,\"a\":1,\"b\":2,\"y\":3}\n{\"y\":6,\"b\":5,\"a\":4,\"w\":0}\n", "", "w"),
    ] {
        let options = options(target, Some(weight), Targets::Numbers);
        assert_eq!(rows(name, text, &options), expected, "{text}");
        let reader = open(name, text, &options).unwrap();
        assert!(reader.is_weighted() && !reader.is_label() && reader.outputs() == 1);
        assert_eq!(reader.feature_names().is_none(), reader.target_names().is_none());
        let table = read_bytes(name, text.as_bytes().to_vec(), &options).unwrap();
        assert_eq!((table.weights(), table.weight(1)), (Some(&[0.5, 0.0][..]), 0.0));
        assert_eq!((table.row(1), table.target(1)), (&[4.0, 5.0][..], 6.0));
    }
    // One number a row still comes the short way.
    let mut reader = open("f.csv", "1,2,3\n4,x,6\n7,8,9\n", &options("", Some("2"), Targets::Numbers)).unwrap();
    let mut row = Vec::new();
    assert_eq!((reader.next_row(&mut row).unwrap(), &row[..]), (Some(3.0), &[1.0][..]));
    assert!(reader.next_row(&mut row).is_err());
    assert_eq!((reader.next_row(&mut row).unwrap(), &row[..]), (Some(9.0), &[7.0][..]));
    assert_eq!(rows("f.csv", "1,2\n", &ReadOptions::default()), [example(&[1.0], &[2.0], "", 1.0)]);
}

#[test]
fn weights_that_are_none() {
    let options = |missing| ReadOptions { missing, ..options("", Some("w"), Targets::Numbers) };
    let rule = "a weight must be a finite number of at least 0: correct it, or remove the row";
    for missing in [Missing::Refuse, Missing::Nan] {
        let text =
            "a,w,y\r\n1,2,3\r\n\r\n1,-1,3\r\n1,,3\r\n1,nan,3\r\n1,inf,3\r\n\"1\",\"a lot\",3\r\n1,1e999,3\r\n1,0,3\r\n";
        let said = rows("f.csv", text, &options(missing));
        assert_eq!(
            (said[0].clone(), said[7].clone()),
            (example(&[1.0], &[3.0], "", 2.0), example(&[1.0], &[3.0], "", 0.0))
        );
        for (row, (line, what)) in said[1..7].iter().zip([
            (4, "\"-1\" is not a weight"),
            (5, "the weight is missing"),
            (6, "\"nan\" is not a weight"),
            (7, "\"inf\" is not a weight"),
            (8, "\"a lot\" is not a weight"),
            (9, "\"1e999\" is not a weight"),
        ]) {
            assert_eq!(row, &Err(format!("f.csv, line {line}, column 2 (\"w\"): {what}; {rule}")));
        }
        let text = "{\"a\":1,\"w\":2,\"y\":3}\n{\"a\":1,\"w\":-0.5,\"y\":3}\n{\"a\":1,\"y\":3}\n{\"a\":1,\"w\":null,\"y\":3}\n\
                    {\"a\":1,\"w\":\"two\",\"y\":3}\n{\"a\":1,\"w\":[2],\"y\":3}\n";
        let said = rows("f.ndjson", text, &options(missing));
        for (row, (line, what)) in said[1..5].iter().zip([
            (2, "\"-0.5\" is not a weight"),
            (3, "the weight is missing"),
            (4, "the weight is missing"),
            (5, "\"two\" is not a weight"),
        ]) {
            assert_eq!(row, &Err(format!("f.ndjson, line {line}, column 2 (\"w\"): {what}; {rule}")));
        }
        assert!(said[5].as_ref().unwrap_err().contains("holds a list of numbers"));
    }
}

#[test]
fn columns_of_weights_that_cannot_be() {
    let refused = |weight: &str, target: &str| {
        refused("f.csv", "a,b,y\n1,2,3\n", &options(target, Some(weight), Targets::Numbers))
    };
    assert_eq!(refused("w", ""), "f.csv: has no column \"w\"; it has 3 columns, counted from 1: \"a\", \"b\", \"y\"");
    assert_eq!(refused("4", ""), "f.csv: has no column 4; it has 3 columns, counted from 1: \"a\", \"b\", \"y\"");
    let taken = "is to be the weight and to be the target, a feature or left out; choose one of the two";
    assert_eq!(refused("y", "y"), format!("f.csv: column \"y\" {taken}"));
    assert_eq!(refused("2", "a,b"), format!("f.csv: column 2 {taken}"));
    let both = ReadOptions { ignore: vec![ColumnChoice::Index(2)], ..options("", Some("b"), Targets::Numbers) };
    assert_eq!(self::refused("f.csv", "a,b,y\n1,2,3\n", &both), format!("f.csv: column \"b\" {taken}"));
    let svm = self::refused("f.libsvm", "1 1:2\n", &options("", Some("1"), Targets::Numbers));
    assert!(
        svm.starts_with("f.libsvm: a libsvm file has no column of weights; leave the choice of weight 1 out"),
        "{svm}"
    );
    assert!(refused("1", "b,y").contains("has too few columns"));
}

#[test]
fn several_targets_come_in_the_order_asked_for() {
    let expected = vec![example(&[1.0, 2.0], &[30.0, 10.0], "", 1.0), example(&[3.0, 4.0], &[60.0, 50.0], "", 1.0)];
    for (name, text, target) in [
        ("f.csv", "y,a,z,b\n10,1,30,2\n50,3,60,4\n", "z,y"),
        ("f.csv", "y,a,\"z,1\",b\r\n10,1,30,2\r\n50,3, 60 ,\"4\"\r\n", "\"z,1\", 1"),
        ("f.csv", "10,1,30,2\n50,3,60,4\n", "3,1"),
        ("f.ndjson", "{\"y\":10,\"a\":1,\"z\":30,\"b\":2}\n{\"b\":4,\"a\":3,\"z\":60,\"y\":50}\n", "z,y"),
    ] {
        for targets in [Targets::Numbers, Targets::Auto] {
            let options = options(target, None, targets);
            assert_eq!(rows(name, text, &options), expected, "{text}");
            let mut reader = open(name, text, &options).unwrap();
            assert_eq!((reader.outputs(), reader.is_label(), reader.target_head()), (2, false, None));
            assert!(matches!(reader.next_row(&mut Vec::new()), Err(DataError::NotOneNumber { .. })));
            assert!(matches!(reader.read_labels(), Err(DataError::LabelsOfSeveral { targets: 2, .. })));
            let table = read_bytes(name, text.as_bytes().to_vec(), &options).unwrap();
            assert_eq!((table.outputs(), table.len(), table.targets_of(1)), (2, 2, &[60.0, 50.0][..]));
            assert_eq!((table.target_names(), table.target_name()), (reader.target_names(), reader.target_name()));
        }
    }
    let named = ReadOptions { features: vec!["b".into(), "a".into()], ..options("z,y", Some("w"), Targets::Numbers) };
    let row = vec![example(&[2.0, 1.0], &[30.0, 10.0], "", 7.0)];
    assert_eq!(rows("f.csv", "id,y,a,w,z,b\nk,10,1,7,30,2\n", &named), row);
    let object = "{\"id\":\"k\",\"y\":10,\"w\":7,\"a\":1,\"z\":30,\"b\":2}\n";
    assert_eq!(rows("f.ndjson", object, &named), row);
    // Features alone: as many columns more as there are targets are not looked at.
    let alone = ReadOptions { features_alone: Some(2), ..options("3,1", None, Targets::Numbers) };
    assert_eq!(
        rows("f.csv", "x,1,,2\n", &ReadOptions { header: Header::Absent, ..alone.clone() })[0],
        example(&[1.0, 2.0], &[], "", 1.0)
    );
    assert_eq!(rows("f.csv", "1,2\n", &alone), [example(&[1.0, 2.0], &[], "", 1.0)]);
}

#[test]
fn several_targets_that_cannot_be() {
    let at = |target: &str| refused("f.csv", "a,b,b,y\n1,2,3,4\n", &options(target, None, Targets::Numbers));
    assert_eq!(
        at("a,z"),
        "f.csv: no target column \"z\"; it has 4 columns, counted from 1: \"a\", \"b\", \"b\", \"y\""
    );
    assert_eq!(at("a,9"), "f.csv: no target column 9; it has 4 columns, counted from 1: \"a\", \"b\", \"b\", \"y\"");
    assert_eq!(at("a,b"), "f.csv: columns 2 and 3 are both named \"b\"; choose the target by number");
    assert_eq!(at("y,a,4"), "f.csv: column 4 (\"y\") is named twice among the targets; name it once");
    assert!(at("1,2,3,4").contains("has too few columns"));
    let svm = refused("f.libsvm", "1 1:2\n", &options("1,2", None, Targets::Numbers));
    assert!(svm.ends_with("no other; leave the choice of target 1, 2 out"), "{svm}");
    let text = refused("f.csv", "a,b,y\n1,2,3\n", &options("a,b", None, Targets::Labels));
    assert_eq!(
        text,
        "f.csv: 2 targets are to be read as labels, and only one can be; choose one, or read them as numbers"
    );
    let said = rows("f.csv", "a,y,z\n1,2,\n1,x,3\n", &options("z,y", None, Targets::Auto));
    assert_eq!(
        said[0],
        Err("f.csv, line 2, column 3 (\"z\"): the target is missing; fill it, or remove the row".into())
    );
    assert!(said[1].as_ref().unwrap_err().starts_with("f.csv, line 3, column 2 (\"y\"): \"x\" is not a number;"));
}

#[test]
fn labels_are_text_or_numbers() {
    let text =
        "a,colour,b\r\n1,red,2\r\n3,\"dark, red\",4\r\n5,\" say \"\"no\"\" \",6\r\n7,1.0,8\r\n9,+1,10\r\n11, é ,12\r\n";
    let expected = ["red", "dark, red", "say \"no\"", "1", "1", "é"];
    let colour = |targets| options("colour", None, targets);
    assert_eq!(labels("f.csv", text, &colour(Targets::Labels)), expected);
    assert_eq!(labels("f.csv", text, &colour(Targets::Auto)), expected);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let table = read_bytes("f.csv.gz", encoder.finish().unwrap(), &colour(Targets::Auto)).unwrap();
    assert_eq!(table.classes().unwrap(), ["1", "dark, red", "red", "say \"no\"", "é"]);
    assert_eq!(table.targets(), [2.0, 1.0, 3.0, 0.0, 0.0, 4.0]);
    assert_eq!((table.label(1), table.is_binary(), table.target_name()), (Some("dark, red"), false, Some("colour")));

    let objects = "{\"a\":1,\"y\":\"x\"}\n{\"a\":1,\"y\":true}\n{\"a\":1,\"y\":2.0}\n{\"y\":\" 2e0 \",\"a\":1}\n{\"a\":1,\"y\":\"\\u00e9\"}\n";
    for targets in [Targets::Labels, Targets::Auto] {
        assert_eq!(labels("f.ndjson", objects, &options("", None, targets)), ["x", "true", "2", "2", "é"]);
    }
    let svm = options("", None, Targets::Labels);
    assert_eq!(labels("f.libsvm", "+1 1:2\n-1 2:3\n1.0 1:1\nred 1:2\n", &svm)[..3], ["1", "-1", "1"]);
    assert!(
        labels("f.libsvm", "red 1:2\n", &svm)[0]
            .starts_with("f.libsvm, line 1, column 3 (\"target\"): \"red\" is not a number")
    );
}

#[test]
fn labels_that_are_none() {
    let options = ReadOptions { missing: Missing::Nan, ..options("y", None, Targets::Labels) };
    let missing = |line, number| {
        format!("line {line}, column {number} (\"y\"): the target is missing; fill it, or remove the row")
    };
    let said = labels("f.csv", "y,a\nred,1\n,2\n\" \",3\n\"open,4\nx,5,6\nnan,\nx,word\n", &options);
    assert_eq!((&said[0][..], &said[5][..]), ("red", "nan"));
    assert_eq!(said[1], format!("f.csv, {}", missing(3, 1)));
    assert_eq!(said[2], format!("f.csv, {}", missing(4, 1)));
    assert!(said[3].starts_with("f.csv, line 5: a quoted cell begins here and"));
    // Over two lines it is a label.
    assert_eq!(labels("f.csv", "y,a\n\"two\nlines\",1\nred,2\n", &options), ["two\nlines", "red"]);
    assert!(said[4].starts_with("f.csv, line 6: has 3 cells, the first row has 2;"));
    assert!(said[6].starts_with("f.csv, line 8, column 2 (\"a\"): \"word\" is not a number;"));
    let objects = "{\"a\":1,\"y\":\"x\"}\n{\"a\":1}\n{\"a\":1,\"y\":null}\n{\"a\":1,\"y\":\" \"}\n{\"a\":1,\"y\":NaN}\n{\"a\":1,\"y\":{}}\n";
    let said = labels("f.ndjson", objects, &options);
    for line in [2, 3, 4] {
        assert_eq!(said[line - 1], format!("f.ndjson, {}", missing(line, 2)));
    }
    assert!(said[4].contains("line 5, column 2 (\"y\"): \"NaN\" is not a finite number"), "{}", said[4]);
    assert!(said[5].contains("the value is nested"));
    let mut bytes = RowReader::from_reader("f.csv", &b"a,y\n1,\x81\n2,x\n"[..], &options).unwrap();
    let error = bytes.next_example(&mut Example::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f.csv, line 2, column 2 (\"y\"): the text is not valid UTF-8; save the file as UTF-8"
    );
    let mut example = Example::default();
    assert!(bytes.next_example(&mut example).unwrap() && example.label == "x");
    assert!(matches!(bytes.next_row(&mut Vec::new()), Err(DataError::NotOneNumber { .. })));
}

#[test]
fn the_first_rows_tell_what_the_target_is() {
    let auto = options("", None, Targets::Auto);
    let head = |name: &str, text: &str| {
        let reader = open(name, text, &auto).unwrap();
        (reader.is_label(), reader.target_head().unwrap())
    };
    let seen = |rows, texts, zero_one, (differ, last)| TargetHead {
        rows,
        texts,
        zero_one,
        differ,
        last,
        ..TargetHead::default()
    };
    assert_eq!(head("f.csv", "a,y\n1,0\n2,1\n3,1.0\n"), (false, seen(3, 0, true, (true, Some(1.0)))));
    assert_eq!(head("f.csv", "1,0\n2,1\n3,2\n"), (false, seen(3, 0, false, (true, Some(2.0)))));
    assert_eq!(head("f.csv", "a,y\n1,0\n2,\n3,nan\n4\n5,x\n"), (true, seen(2, 1, false, (false, Some(0.0)))));
    assert_eq!(head("f.csv", "a,y\n1,2\n"), (false, seen(1, 0, false, (false, Some(2.0)))));
    let signs = TargetHead { signs: true, ..seen(2, 0, false, (true, Some(1.0))) };
    assert_eq!(head("f.csv", "a,y\n1,-1\n2,+1\n"), (false, signs));
    assert_eq!(head("f.csv", "a,y\n1,\n"), (false, seen(0, 0, false, (false, None))));
    assert_eq!(
        head("f.ndjson", "{\"a\":1,\"y\":1}\nrubbish\n{\"a\":1,\"y\":0}\n"),
        (false, seen(2, 0, true, (true, Some(0.0))))
    );
    assert_eq!(
        head("f.ndjson", "{\"a\":1,\"y\":1}\n{\"a\":1,\"y\":\"1\"}\n"),
        (true, seen(2, 1, false, (false, Some(1.0))))
    );
    assert_eq!(head("f.libsvm", "\u{feff}# words\n0 1:2\n+1 2:3\n"), (false, seen(2, 0, true, (true, Some(1.0)))));
    let named = ReadOptions { features: vec!["a".into()], ..options("y", None, Targets::Auto) };
    assert_eq!(labels("f.ndjson", "{\"a\":1,\"y\":1}\n{\"a\":1,\"y\":\"x\"}\n", &named), ["1", "x"]);
    // A key beside those that are named may be one to leave out.
    let named = ReadOptions { ignore: vec![ColumnChoice::Name("id".into())], ..named };
    assert_eq!(labels("f.ndjson", "{\"id\":7,\"a\":1,\"y\":\"x\"}\n", &named), ["x"]);

    // Nothing that was looked at is lost, and numbers may be taken as labels afterwards.
    for (name, text) in
        [("f.csv", "1,0\n2,1"), ("f.ndjson", "{\"a\":1,\"y\":0}\n{\"a\":2,\"y\":1}"), ("f.libsvm", "0 1:1\n1 1:2")]
    {
        let mut reader = open(name, text, &ReadOptions { libsvm_dimension: Some(1), ..auto.clone() }).unwrap();
        assert_eq!(reader.next_row(&mut Vec::new()).unwrap(), Some(0.0));
        reader.read_labels().unwrap();
        let mut example = Example::default();
        assert!(reader.next_example(&mut example).unwrap() && reader.is_label());
        assert_eq!(Ok(example), self::example(&[2.0], &[], "1", 1.0));
    }
}

#[test]
fn a_label_behind_the_first_rows_is_told_with_its_line() {
    let auto = options("", None, Targets::Auto);
    let (csv, ndjson) = ("1,2\n".repeat(300), "{\"a\":1,\"y\":2}\n".repeat(300));
    let rest =
        "is not a number, and the targets of the first 256 rows are; replace it by one, or read the target as a label";
    let said = rows("f.csv", &format!("a,y\n{csv}1,x\n1,3\n"), &auto);
    assert_eq!((said.len(), &said[300]), (302, &Err(format!("f.csv, line 302, column 2 (\"y\"): \"x\" {rest}"))));
    assert_eq!(said[301], example(&[1.0], &[3.0], "", 1.0));
    let said = rows("f.ndjson", &format!("{ndjson}{{\"a\":1,\"y\":\"x\"}}\n"), &auto);
    assert_eq!(said[300], Err(format!("f.ndjson, line 301, column 2 (\"y\"): \"x\" {}", rest.replace("256", "257"))));
    // Features are never labels.
    let feature = rows("f.csv", &format!("a,y\n{csv}x,1\n"), &auto).pop().unwrap().unwrap_err();
    assert!(feature.ends_with("\"x\" is not a number; replace it by one, or leave the column out"), "{feature}");
}

#[test]
fn first_rows_of_numbers_and_one_label() {
    for targets in [Targets::Labels, Targets::Auto] {
        let options = options("", None, targets);
        let text = "5.1,3.5,setosa\n4.9,3,setosa\n6,2,virginica\n";
        assert_eq!(labels("f.csv", text, &options), ["setosa", "setosa", "virginica"]);
        // Wavelengths, say, and the name of the class.
        let header = "400,410,class\n1,2,0\n3,4,1\n";
        assert_eq!(open("f.csv", header, &options).unwrap().target_name(), Some("class"));
        assert_eq!(rows("f.csv", header, &options).len(), 2);
        let doubtful = "400,410,class\n1,2,a\n3,4,b\n";
        assert_eq!(
            refused("f.csv", doubtful, &options),
            "f.csv, line 1, column 3: the first row holds numbers, and \"class\" may be a label or a name; make every name in it \
             text if it is a header, or say that there is no header (--header no)"
        );
        let absent = ReadOptions { header: Header::Absent, ..options.clone() };
        assert_eq!(labels("f.csv", doubtful, &absent), ["class", "a", "b"]);
        assert!(
            refused("f.csv", "x,410,a\n1,2,a\n", &options)
                .contains("the first row mixes numbers with text such as \"x\"")
        );
        let weighted = self::options("1", Some("3"), targets);
        assert_eq!(rows("f.csv", "red,1,2\nred,3,4\n", &weighted)[1], example(&[3.0], &[], "red", 4.0));
    }
    assert!(refused("f.csv", "1,2,a\n3,4,a\n", &ReadOptions::default()).contains("the first row mixes"));
}

/// A reader that gives some bytes, then an error, then says that it has ended.
struct Broken(Cursor<Vec<u8>>, bool);

impl Read for Broken {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into)? {
            0 if !std::mem::replace(&mut self.1, true) => Err(std::io::Error::other("unplugged")),
            read => Ok(read),
        }
    }
}

#[test]
fn what_breaks_while_looking_ahead_is_told_in_its_place() {
    let input = Broken(Cursor::new(b"a,y\n1,2\n3,4\n5,".to_vec()), false);
    let mut reader = RowReader::from_reader("f.csv", input, &options("", None, Targets::Auto)).unwrap();
    let mut row = Vec::new();
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(2.0));
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(4.0));
    assert!(reader.next_row(&mut row).unwrap_err().to_string().contains("unplugged"));
    assert_eq!(reader.next_row(&mut row).unwrap(), None);
}

#[test]
fn lines_longer_than_the_look_ahead_stay_whole() {
    let wide = |label: &str| format!("{}{label}\n", "1.5,".repeat(400_000));
    let text = [wide("a"), wide("b"), wide("a")].concat();
    let options = ReadOptions { header: Header::Absent, ..options("", None, Targets::Labels) };
    assert_eq!(labels("f.csv", &text, &options), ["a", "b", "a"]);
    let auto = ReadOptions { targets: Targets::Auto, ..options };
    assert_eq!(labels("f.csv", &text, &auto), ["a", "b", "a"]);
    let cut = rows("f.csv", &text.replacen("a\n", "1\n", 1), &auto);
    assert!(cut[1].as_ref().unwrap_err().contains("the targets of the first 1 row are"));
}

#[test]
fn whole_tables_keep_what_belongs_together() {
    let text = "w,y,a,z\n1,10,1,c\n2,20,2,b\n3,30,3,a\n4,40,4,b\n";
    let table = read_bytes("f.csv", text.as_bytes().to_vec(), &options("z", Some("w"), Targets::Auto)).unwrap();
    let together = |table: &Dataset, i: usize| {
        let id = table.row(i)[1];
        assert_eq!((table.row(i)[0], table.weight(i)), (10.0 * id, id));
        assert_eq!(table.label(i), Some(["c", "b", "a", "b"][id as usize - 1]));
    };
    let mut moved = table.permuted(3);
    (0..4).for_each(|i| together(&moved, i));
    moved.truncate(2);
    (0..2).for_each(|i| together(&moved, i));
    assert_eq!(
        (moved.len(), moved.weights().map(<[f64]>::len), moved.classes().map(<[String]>::len)),
        (2, Some(2), Some(3))
    );
    let mut reader = open("f.csv", text, &options("z", Some("w"), Targets::Auto)).unwrap();
    assert_eq!(reader.read_rows(2).unwrap().classes().unwrap(), ["b", "c"]);
    assert_eq!(reader.read_rows(9).unwrap().classes().unwrap(), ["a", "b"]);
}
