//! Data sets by name, and the real streams where they are at hand.

use mercer::datasets::DATA_VARIABLE;

use crate::support::Folder;

#[test]
fn diamonds_are_built_in() {
    let report = Folder::new().json("eval diamonds --learner nons-ald --scale paper01 --limit 3000 --permute 1");
    assert_eq!((report["n"].as_u64(), report["d"].as_u64()), (Some(3000), Some(9)));
    assert!(report["mse"].as_f64().unwrap() < 0.01, "{report}");
}

#[test]
fn a_file_goes_before_a_data_set_of_its_name() {
    let folder = Folder::new().with("diamonds", "1,2\n2,3\n");
    assert_eq!(folder.json("eval diamonds --format csv --learner krls")["n"].as_u64(), Some(2));
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

/// The protocol of the paper's table on calhousing: 14,000 rows scaled by the ranges of all 20,640.
#[test]
fn calhousing_by_the_ranges_of_the_full_set() {
    if std::env::var_os(DATA_VARIABLE).is_none() {
        println!("skipped: {DATA_VARIABLE} is not set");
        return;
    }
    let options = "--learner nons-ald --kernel gaussian:4 --set alpha=25/T --scale paper01 --permute 1";
    let report = Folder::new().json(&format!("eval calhousing {options} --scale-from calhousing_full"));
    assert_eq!((report["n"].as_u64(), report["d"].as_u64()), (Some(14_000), Some(8)));
    assert_eq!(report["parameters"]["alpha"].as_f64(), Some(25.0 / 14_000.0));
    let mse = report["mse"].as_f64().unwrap();
    assert!(mse > 0.0 && mse < 0.03, "{mse}");
}
