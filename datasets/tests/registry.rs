//! The manifest is sound, the bundled data are what it says, and so is whatever `MERCER_DATA`
//! holds.

use std::path::PathBuf;

use mercer_datasets::{DATA_VARIABLE, Kind, Registry, Task};
use mercer_readers::{Ranges, Scaling, Scheme};

/// An installed program must not look where it was built.
#[test]
fn no_folder_of_the_building_machine_is_searched() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let built = std::path::Path::new(source).parent().unwrap();
    let named = std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
    let registry = Registry::load().unwrap();
    let folders = registry.folders().iter().filter(|folder| Some(*folder) != named.as_ref());
    assert!(folders.clone().count() >= 3);
    assert!(folders.clone().all(|folder| !folder.starts_with(built)), "{:?}", registry.folders());
}

/// The registry with the folder of the environment, or `None` (said aloud) without one.
fn with_data() -> Option<Registry> {
    match std::env::var_os(DATA_VARIABLE) {
        Some(folder) => Some(Registry::load_from(vec![PathBuf::from(folder)]).unwrap()),
        None => {
            println!("skipped: {DATA_VARIABLE} names no folder of data sets");
            None
        }
    }
}

#[test]
fn every_entry_is_complete() {
    let registry = Registry::load().unwrap();
    assert!(registry.entries().len() >= 20);
    for entry in registry.entries() {
        let name = &entry.name;
        assert_eq!(registry.find(name), Some(entry), "{name} is there twice");
        assert!(entry.n > 0 && entry.d > 0, "{name}");
        assert!(entry.page.starts_with("https://"), "{name}");
        for text in [&entry.origin, &entry.licence, &entry.target, &entry.prepare, &entry.file] {
            assert!(!text.trim().is_empty(), "{name}");
        }
        if let Some(download) = &entry.download {
            assert!(download.url.starts_with("https://"), "{name}");
        }
        if let Some(digest) = &entry.sha256 {
            assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
        }
        assert!(entry.target_column.is_none_or(|column| (1..=entry.d + 1).contains(&column)), "{name}");
        assert_eq!(entry.sha256.is_some(), entry.bytes.is_some(), "{name}");
        assert!(entry.kind == Kind::External || entry.sha256.is_some(), "{name}");
    }
    for name in ["diamonds", "year", "toms_hardware", "susy", "cod_rna"] {
        assert!(registry.find(name).is_some(), "{name}");
    }
}

/// The manifest's files of the repository are there and as it says; a crate unpacked elsewhere has
/// none of them.
#[test]
fn the_repositorys_files_are_what_the_manifest_says() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let registry = Registry::load_from(vec![here.clone()]).unwrap();
    let stored = registry.entries().iter().filter(|entry| entry.kind == Kind::Repository);
    let (mut bytes, mut found) = (0, 0);
    for entry in stored.filter(|entry| here.join(&entry.file).is_file()) {
        registry.verify(&entry.name).unwrap();
        assert!(entry.licence.starts_with("CC BY 4.0"), "{}", entry.name);
        bytes += entry.bytes.unwrap();
        found += 1;
    }
    assert!(bytes < 4_000_000 && (found == 6 || !here.join("../xtask").is_dir()), "{found} files of {bytes} bytes");
}

#[test]
fn unknown_and_missing_data_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::load_from(vec![folder.path().to_owned()]).unwrap();
    let unknown = registry.open("wine").unwrap_err().to_string();
    assert!(
        unknown.starts_with("no data set is named \"wine\"; known are diamonds, earth_orientation, parkinson_motor, "),
        "{unknown}"
    );
    let missing = registry.open("year").unwrap_err().to_string();
    let expected = format!(
        "year: year.csv.gz is in none of {}; get it from https://archive.ics.uci.edu/dataset/203/yearpredictionmsd and put it there, \
         or name its folder in MERCER_DATA",
        folder.path().display()
    );
    assert_eq!(missing, expected);
    assert!(registry.locate("year").is_none() && !registry.is_available("year"));
}

#[test]
fn folders_are_searched_in_order() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let registry = Registry::load_from(vec![second.path().to_owned()]).unwrap().with_folder(first.path());
    std::fs::write(second.path().join("year.csv.gz"), "").unwrap();
    assert_eq!(registry.locate("year"), Some(second.path().join("year.csv.gz")));
    std::fs::write(first.path().join("year.csv.gz"), "").unwrap();
    assert_eq!(registry.locate("year"), Some(first.path().join("year.csv.gz")));
    assert_eq!(registry.folders(), [first.path(), second.path()]);
}

/// A file of the right shape whose bytes are not those of the manifest is as much another data set
/// as one of another shape.
#[test]
fn altered_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("diamonds.csv.gz");
    let registry = Registry::load_from(vec![folder.path().to_owned()]).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..53_940 {
        std::io::Write::write_all(&mut encoder, b"1,2,3,4,5,6,7,8,9,10\n").unwrap();
    }
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    for refused in [registry.open("diamonds").map(drop), registry.verify("diamonds")] {
        let digest = refused.unwrap_err().to_string();
        assert!(
            digest.contains("diamonds.csv.gz: its sha256 is ") && digest.contains(", the manifest says ba9169f8"),
            "{digest}"
        );
    }
    // Where the manifest knows no digest, the shape is what is left to check.
    let unknown =
        registry.entries().iter().find(|entry| entry.sha256.is_none() && entry.file.ends_with(".gz")).unwrap();
    std::fs::rename(path, folder.path().join(&unknown.file)).unwrap();
    let shape = registry.verify(&unknown.name).unwrap_err().to_string();
    assert!(shape.contains(": has 53940 rows of ") && shape.ends_with("; fetch the file again"), "{shape}");
}

#[cfg(feature = "bundled")]
#[test]
fn diamonds_need_no_file() {
    let registry = Registry::load_from(Vec::new()).unwrap();
    assert!(registry.is_available("diamonds") && registry.locate("diamonds").is_none());
    let diamonds = registry.open("diamonds").unwrap();
    assert_eq!((diamonds.name(), diamonds.len(), diamonds.dimension()), ("diamonds", 53_940, 9));
    assert_eq!(
        diamonds.feature_names().unwrap(),
        ["carat", "cut", "color", "clarity", "depth", "table", "x", "y", "z"]
    );
    assert_eq!(diamonds.target_name(), Some("price"));
    // 0.23 carat, Ideal, E, SI2: grades from the worst.
    assert_eq!(diamonds.row(0), [0.23, 4.0, 5.0, 1.0, 61.5, 55.0, 3.95, 3.98, 2.43]);
    assert_eq!((diamonds.target(0), diamonds.target(53_939)), (326.0, 2757.0));
    for (column, best) in [(1, 4.0), (2, 6.0), (3, 7.0)] {
        let mut grades: Vec<f64> = diamonds.iter().map(|(row, _)| row[column]).collect();
        grades.sort_by(f64::total_cmp);
        grades.dedup();
        assert_eq!(grades, (0..=best as usize).map(|grade| grade as f64).collect::<Vec<_>>());
    }
}

#[cfg(feature = "bundled")]
#[test]
fn earth_orientation_is_a_series_and_needs_no_file() {
    let registry = Registry::load_from(Vec::new()).unwrap();
    registry.verify("earth_orientation").unwrap();
    let series = registry.open_series("earth_orientation").unwrap();
    assert_eq!((series.name(), series.len(), series.dimension()), ("earth_orientation", 7681, 3));
    assert_eq!(series.column_names().unwrap(), ["pole_x", "pole_y", "ut1_tai"]);
    assert_eq!(series.row(0), [31.244, 154.039, -32389.6111]);
    assert_eq!(series.row(7680), [133.125, 305.277, -36957.5371]);
    // Leap seconds would be jumps of 1000; the length of a day never differs from its mean by more
    // than a few milliseconds.
    for column in 0..3 {
        let steps = series.iter().zip(series.iter().skip(1)).map(|(from, to)| (to[column] - from[column]).abs());
        assert!(steps.fold(0.0, f64::max) < 5.0);
    }
    assert_eq!(
        registry.open("earth_orientation").unwrap_err().to_string(),
        "earth_orientation: is a series and has no target; forecast it, or read its file and name a target column"
    );
    // Any data set can be read with its target among the columns.
    assert_eq!(
        registry.open_series("diamonds").unwrap().row(0),
        [0.23, 4.0, 5.0, 1.0, 61.5, 55.0, 3.95, 3.98, 2.43, 326.0]
    );
}

#[test]
fn the_data_folder_holds_what_the_manifest_says() {
    let Some(registry) = with_data() else { return };
    let mut found = 0;
    for entry in registry.entries().iter().filter(|entry| registry.locate(&entry.name).is_some()) {
        registry.verify(&entry.name).unwrap();
        if entry.task == Task::Binary && entry.target_column.is_none() {
            assert!(registry.open(&entry.name).unwrap().is_binary(), "{}", entry.name);
        }
        found += 1;
    }
    println!("{found} data sets checked");
}

/// calhousing is a part of calhousing_full, so the ranges of the whole must cover it; the part
/// alone has narrower ones.
#[test]
fn ranges_of_the_whole_scale_the_part() {
    let Some(registry) = with_data() else { return };
    if !["calhousing", "calhousing_full"].iter().all(|name| registry.is_available(name)) {
        println!("skipped: calhousing and calhousing_full are not both here");
        return;
    }
    let mut part = registry.open("calhousing").unwrap();
    let whole = registry.open("calhousing_full").unwrap();
    Scaling::new(Ranges::from_table(&whole), Scheme::PAPER01).apply(&mut part).unwrap();
    assert!(part.features().iter().all(|x| (-1.0..=1.0).contains(x)));
    assert!(part.targets().iter().all(|y| (0.0..=1.0).contains(y)));
    let population = part.feature_names().unwrap().iter().position(|name| name == "population").unwrap();
    let top = part.iter().map(|(row, _)| row[population]).fold(f64::MIN, f64::max);
    assert!((top - 0.601).abs() < 5e-4, "{top}");
}
