//! Errors of NDJSON and LIBSVM alone.

use mercer_readers::{ReadOptions, RowReader, read_bytes};

use super::{complaint, message, options, starts};

#[test]
fn ndjson_that_is_not() {
    let at = |text: &str| complaint("f.ndjson", text);
    let good = "{\"a\":1,\"y\":2}\n";
    starts(&at("1,2\n"), "f.ndjson, line 1, character 1: expected an object that begins with {;");
    starts(
        &at(&format!("{good}{{\"a\":1 \"y\":2}}\n")),
        "f.ndjson, line 2, character 8: expected a comma or a closing };",
    );
    starts(&at(&format!("{good}{{\"a\":,\"y\":2}}\n")), "f.ndjson, line 2, character 6: expected a number;");
    starts(&at(&format!("{good}{{\"a\":oops,\"y\":2}}\n")), "f.ndjson, line 2, character 6: expected a number;");
    starts(
        &at(&format!("{good}{{\"a\":1,\"y\":2\n")),
        "f.ndjson, line 2, character 13: expected a comma or a closing };",
    );
    starts(
        &at(&format!("{good}{{\"a\":1,\"y\":2}} 3\n")),
        "f.ndjson, line 2, character 15: expected the end of the line;",
    );
    starts(&at(&format!("{good}{{a:1}}\n")), "f.ndjson, line 2, character 2: expected a key in double quotes;");
    starts(&at(&format!("{good}{{\"a\" 1}}\n")), "f.ndjson, line 2, character 6: expected a colon behind the key;");
    starts(&at(&format!("{good}{{\"a:1}}\n")), "f.ndjson, line 2, character 7: expected a closing double quote;");
    starts(
        &at(&format!("{good}{{\"\\q\":1}}\n")),
        "f.ndjson, line 2, character 2: expected a string of valid characters",
    );

    let nested = "f.ndjson, line 2, column 1 (\"a\"): the value is nested; \
                  give each of its parts a key of its own, or leave the column out (--ignore)";
    assert_eq!(at(&format!("{good}{{\"a\":{{\"b\":1}},\"y\":2}}\n")), nested);
    assert_eq!(at(&format!("{good}{{\"a\":[\"b\"],\"y\":2}}\n")), nested);
    starts(&at("{\"a\":[1,2],\"y\":2}\n"), "f.ndjson, line 1, column 1 (\"a\"): holds a list of numbers, whose places");
    starts(&at(&format!("{good}{{\"y\":2}}\n")), "f.ndjson, line 2: the key \"a\" is missing, which every row has;");
    starts(&at(&format!("{good}{{\"a\":1,\"a\":3,\"y\":2}}\n")), "f.ndjson, line 2: the key \"a\" is there twice;");
    starts(&at("{\"a\":1,\"a\":3}\n"), "f.ndjson, line 1: the key \"a\" is there twice;");
}

#[test]
fn libsvm_that_is_not() {
    let at = |text: &str| complaint("f.libsvm", text);
    let zero = at("1 1:2\n1 0:2\n");
    assert_eq!(
        zero,
        "f.libsvm, line 2: the index 0 is used; libsvm indices begin at 1: add 1 to every index of the file"
    );
    let order = at("1 1:2\n1 3:2 2:5\n");
    assert_eq!(
        order,
        "f.libsvm, line 2: the index 2 comes after 3; sort the pairs of the row by index, each index once"
    );
    starts(&at("1 2:2 2:5\n"), "f.libsvm, line 1: the index 2 comes after 2;");
    starts(&at("1 1:2\n1 1:2 qid:4\n"), "f.libsvm, line 2: \"qid:4\" is not an index:value pair;");
    starts(&at("1 1:2\n1 7\n"), "f.libsvm, line 2: \"7\" is not an index:value pair;");
    starts(&at("1 1:2\n1 -1:7\n"), "f.libsvm, line 2: \"-1:7\" is not an index:value pair;");
    starts(
        &at("1 1:2\n1 99999999999999999999:7\n"),
        "f.libsvm, line 2: the index 99999999999999999999 is above the dimension 16777216;",
    );
    let narrow = ReadOptions { libsvm_dimension: Some(2), ..options() };
    let wide = message(read_bytes("f.libsvm", "1 3:2\n".as_bytes(), &narrow));
    starts(&wide, "f.libsvm, line 1: the index 3 is above the dimension 2; correct it, or give a larger dimension");
    let once = RowReader::from_reader("pipe.libsvm", "1 1:2\n".as_bytes(), &options()).unwrap_err().to_string();
    starts(&once, "pipe.libsvm: the dimension of a libsvm stream is known only at its end;");
}
