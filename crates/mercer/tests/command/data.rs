//! Data sets by name, and the real streams where they are at hand.

use mercer::datasets::DATA_VARIABLE;

use crate::support::Folder;

#[test]
fn diamonds_are_built_in() {
    let report = Folder::new().json("eval diamonds --learner nons-ald --scale standard --limit 3000 --permute 1");
    assert_eq!((report["rows"].as_u64(), report["features"].as_u64()), (Some(3000), Some(9)));
    assert!(report["r2"].as_f64().unwrap() > 0.8, "{report}");
}

#[test]
fn a_file_goes_before_a_data_set_of_its_name() {
    let folder = Folder::new().with("diamonds", "1,2\n2,3\n");
    assert_eq!(folder.json("eval diamonds --format csv --learner krls")["rows"].as_u64(), Some(2));
}

#[test]
fn a_data_set_that_is_not_there_says_where_to_get_it() {
    let folder = Folder::new();
    let output =
        folder.command(&["eval", "toms_hardware", "--learner", "krls"]).env_remove(DATA_VARIABLE).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("https://") && said.contains(DATA_VARIABLE) && !said.contains("--data"), "{said}");
}
