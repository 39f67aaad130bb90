//! `mercer fit` of tables with columns of any kind, encoded by what one file tells.

use std::fmt::Write as _;
use std::fs;

use crate::support::Folder;

/// A sale: a date, a city, a size with gaps, whether it was paid, and a price.
struct Sale {
    city: &'static str,
    size: Option<f64>,
    paid: &'static str,
    price: f64,
}

fn sale(t: usize) -> Sale {
    let size = (20 + t * 37 % 61) as f64;
    let city = ["Ulm", "Bonn", "Kiel"][t * 7 / 5 % 3];
    let price = 1000.0 * (1 + t * 7 / 5 % 3) as f64 + 20.0 * size + (t * 13 % 17) as f64;
    Sale { city, size: (t % 9 != 4).then_some(size), paid: if size > 50.0 { "yes" } else { "no" }, price }
}

fn size(sale: &Sale) -> String {
    sale.size.map_or(String::new(), |size| size.to_string())
}

fn sales(rows: std::ops::Range<usize>) -> String {
    let mut text = "day,city,size,paid,price\n".to_owned();
    for t in rows {
        let one = sale(t);
        let day = format!("2024-{:02}-{:02}", 1 + t / 28 % 12, 1 + t % 28);
        let _ = writeln!(text, "{day},{},{},{},{}", one.city, size(&one), one.paid, one.price);
    }
    text
}

/// The same rows with the columns in another order, one more, and numbers in other words.
fn other(rows: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for t in rows {
        let one = sale(t);
        let day = format!("2024-{:02}-{:02}", 1 + t / 28 % 12, 1 + t % 28);
        let size = one.size.map_or("null".to_owned(), |size| size.to_string());
        let (price, city, paid) = (one.price, one.city, one.paid);
        let row = format!(r#""price":{price},"size":{size},"more":1,"city":"{city}","paid":"{paid}","day":"{day}""#);
        let _ = writeln!(text, "{{{row}}}");
    }
    text
}

fn folder() -> Folder {
    Folder::new()
        .with("from.csv", sales(0..300))
        .with("part-1.csv", sales(100..500))
        .with("part-2.ndjson", other(500..700))
        .with("part-3.csv", sales(700..900))
        .with("new.csv", sales(900..1000))
}

const PARTS: &str = "part-1.csv part-2.ndjson part-3.csv";

/// The cells of every line of predictions: a class, and numbers.
fn predictions(folder: &Folder, model: &str) -> Vec<(String, Vec<f64>)> {
    let text = folder.done(&format!("predict new.csv --model {model}"));
    let line = |line: &str| {
        let (text, numbers): (Vec<&str>, Vec<&str>) = line.split(',').partition(|cell| cell.parse::<f64>().is_err());
        (text.concat(), numbers.iter().map(|cell| cell.parse().unwrap()).collect())
    };
    text.lines().skip(1).map(line).collect()
}

fn assert_near(ours: &[(String, Vec<f64>)], theirs: &[(String, Vec<f64>)], what: &str) {
    assert!(ours.len() == 100 && theirs.len() == 100);
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(ours.0 == theirs.0 && ours.1.len() == theirs.1.len(), "{what}");
        let near = ours.1.iter().zip(&theirs.1).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0));
        assert!(near, "{what}: {ours:?} {theirs:?}");
    }
}

#[test]
fn shards_of_an_encoded_table_are_one_pass_whatever_the_threads() {
    let folder = folder();
    for options in [
        "--learner ridge --set lambda=0.1 --target price",
        "--learner ridge --set lambda=0.1 --target price --scale standard",
        "--learner pkrr-fourier --kernel median --set features=60 --set lambda=0.1 --target price --scale standard",
        "--learner pkrr-taylor --kernel gaussian:4 --set lambda=0.1 --target paid --scale robust",
        "--learner pkrr-frozen --kernel laplace:3 --set lambda=0.1 --target paid --points new.csv --scale standard",
    ] {
        let fit = format!("fit {PARTS} {options} --scale-from from.csv --quiet");
        let mut files = Vec::new();
        for threads in [1, 3] {
            folder.done(&format!("{fit} --threads {threads} --out one.mercer"));
            files.push(fs::read(folder.path("one.mercer")).unwrap());
        }
        assert_eq!(files[0], files[1], "the sums depend on the threads: {options}");
        for shard in 0..3 {
            folder.done(&format!("{fit} --shard {shard}/3 --out s{shard}.mercer"));
        }
        let told = folder.json("merge s2.mercer s0.mercer s1.mercer --held-out --out all.mercer");
        assert_eq!((told["rows"].as_u64(), told["held_out"].as_object().unwrap().len()), (Some(800), 3));
        let made = predictions(&folder, "all.mercer");
        assert_near(&made, &predictions(&folder, "one.mercer"), options);
        let good = made.iter().enumerate().filter(|(t, (class, numbers))| match &**class {
            "" => (numbers[0] - sale(900 + t).price).abs() < 150.0 || sale(900 + t).size.is_none(),
            class => class == sale(900 + t).paid || sale(900 + t).size.is_none(),
        });
        let good = good.count();
        assert!(good > 90, "{options}: {good} of 100");
        let said = folder.run(&format!("{fit} --shard 1/3 --out s1.mercer --resume"));
        assert_eq!(said.code, Some(0));
        folder.done("merge all.mercer --retract s1.mercer --quiet --out without.mercer");
        folder.done("merge s0.mercer s2.mercer --quiet --out rest.mercer");
        assert_near(&predictions(&folder, "without.mercer"), &predictions(&folder, "rest.mercer"), options);
        let names: Vec<String> = folder.names().into_iter().filter(|name| name.ends_with(".mercer")).collect();
        names.iter().for_each(|name| fs::remove_file(folder.path(name)).unwrap());
    }
}

/// By hand: a column for each city, the mean of the sizes of the one file for a gap, and a mark
/// beside it.
#[test]
fn every_row_is_encoded_by_the_one_file() {
    let sizes: Vec<f64> = (0..300).filter_map(|t| sale(t).size).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let (mut plain, mut hand) = (String::from("city,size,price\n"), String::from("u,b,k,size,gap,price\n"));
    let (mut new, mut new_hand) = (plain.clone(), hand.clone());
    let mut from = plain.clone();
    for t in 0..1000 {
        let one = sale(t);
        let code = |city: &str| u8::from(one.city == city);
        let (value, gap) = (one.size.unwrap_or(mean), u8::from(one.size.is_none()));
        let row = format!("{},{},{}\n", one.city, size(&one), one.price);
        let coded = format!("{},{},{},{value},{gap},{}\n", code("Ulm"), code("Bonn"), code("Kiel"), one.price);
        if t < 300 {
            from += &row;
        }
        let (rows, hand) = if t < 900 { (&mut plain, &mut hand) } else { (&mut new, &mut new_hand) };
        *rows += &row;
        *hand += &coded;
    }
    let folder = Folder::new().with("from.csv", from).with("plain.csv", plain).with("hand.csv", hand);
    let ridge = "--learner ridge --set lambda=0.1 --quiet";
    folder.done(&format!("fit hand.csv {ridge} --out hand.mercer"));
    folder.done(&format!("fit plain.csv {ridge} --scale-from from.csv --out table.mercer"));
    let folder = folder.with("new.csv", new_hand);
    let expected = predictions(&folder, "hand.mercer");
    let folder = folder.with("new.csv", new);
    assert_near(&predictions(&folder, "table.mercer"), &expected, "by hand");
}

#[test]
fn what_is_encoded_in_another_way_is_refused() {
    let folder = folder().with("other.csv", sales(300..600)).with("less.csv", "city,price\nUlm,3\n");
    let folder = folder.with("numbers.csv", "size,price\n1,2\n3,4\n");
    let ridge = "--learner ridge --set lambda=0.1 --quiet";
    folder.done(&format!("fit part-1.csv {ridge} --scale-from from.csv --shard 0/2 --out a.mercer"));
    folder.done(&format!("fit part-1.csv {ridge} --scale-from other.csv --shard 1/2 --out b.mercer"));
    folder.refused(1, "merge a.mercer b.mercer --out c.mercer", &["the encodings", "differ"]);
    folder.done(&format!("fit numbers.csv {ridge} --out c.mercer"));
    folder.refused(1, "merge a.mercer c.mercer --out d.mercer", &["the encodings", "numbers as they are"]);
    let fit = |data: &str| format!("fit {data} {ridge} --out d.mercer");
    folder.refused(1, &fit("part-1.csv"), &["part-1.csv", "city", "--scale-from FILE encodes"]);
    let folder = folder.with("complete.csv", "day,city,size,paid,price\n1,2,3,4,5\n2,3,4,5,7\n");
    let plain = "fit part-1.csv --learner pkrr-taylor --scale-from complete.csv --out d.mercer";
    folder.refused(1, plain, &["part-1.csv", "city", "nothing is encoded"]);
    folder.refused(1, &fit("less.csv --scale-from from.csv"), &["less.csv", "no column \"day\"", "--scale-from"]);
    folder.refused(2, &fit("part-1.csv --scale standard"), &["--scale standard", "--scale-from FILE"]);
    folder.refused(2, &fit("part-1.csv --scale-from -"), &["standard input"]);
    folder.refused(1, &fit("part-1.csv --scale-from from.csv --as citty=category"), &["citty"]);
    // A category that the one file does not hold, and a number that is none, are told.
    let folder = folder.with("odd.csv", "day,city,size,paid,price\n2024-01-01,Jena,big,no,5\n");
    let said = folder.run("fit odd.csv --learner ridge --scale-from from.csv --out e.mercer");
    assert!(said.code == Some(0) && said.err.contains("hashes it") && said.err.contains("counts as missing"));
    // How many cells of a part are so is told at its end, each once.
    let gaps = "day,city,size,paid,price,more\n".to_owned() + &"2024-01-01,Jena,,no,5,1\n".repeat(70);
    let folder = folder.with("gaps.csv", gaps);
    for threads in [1, 2] {
        let said = folder.run(&format!(
            "fit gaps.csv part-3.csv --learner ridge --scale-from from.csv --threads {threads} --out e.mercer"
        ));
        let missing = 70 + (700..900).filter(|t| t % 9 == 4).count();
        for words in [
            "column \"city\": 70 cells",
            &format!("column \"size\": {missing} cells"),
            "gaps.csv: has columns that from.csv lacks, and they are left out: more",
        ] {
            assert!(said.code == Some(0) && said.err.contains(words), "{words}: {}", said.err);
        }
    }
    // What a category is can be said.
    folder.done(&format!("fit part-1.csv {ridge} --scale-from from.csv --as day=identifier --out f.mercer"));
    let [with, without] =
        ["a.mercer", "f.mercer"].map(|name| folder.json(&format!("inspect {name}"))["features"].as_u64());
    assert!(without < with);
}
