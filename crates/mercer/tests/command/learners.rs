//! `mercer learners`: the table and the details.

use mercer::catalogue;

use crate::support::{Folder, object};

#[test]
fn the_table_lists_every_learner_with_keys_cost_and_source() {
    let table = Folder::new().done("learners");
    let listed: Vec<&str> = table
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let names: Vec<&str> = catalogue::entries().iter().map(|entry| entry.name).collect();
    assert_eq!(listed, names);
    for entry in catalogue::entries() {
        let start = table.find(&format!("\n{} ", entry.name)).unwrap();
        let row: String = table[start + 1..]
            .lines()
            .enumerate()
            .take_while(|(i, line)| *i == 0 || line.starts_with(' '))
            .map(|(_, line)| line.to_owned() + " ")
            .collect();
        for key in entry.keys {
            assert!(row.contains(&format!("{}={}", key.name, key.default_text())), "{row}");
        }
        // A long cost is broken between its terms.
        for cost in [entry.time, entry.memory] {
            assert!(cost.to_string().split(" + ").all(|term| row.contains(term)), "{row}");
        }
        assert!(row.contains(entry.source.split(' ').next().unwrap()), "{row}");
        assert_eq!(row.contains('*'), entry.growth.is_some(), "{row}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 125), "wide lines");
}

#[test]
fn details_tell_all_there_is() {
    for entry in catalogue::entries() {
        let detail = Folder::new().done(&format!("learners {}", entry.name));
        let (time, memory) = (entry.time.to_string(), entry.memory.to_string());
        for part in [entry.name, entry.summary, &time, &memory, entry.source] {
            assert!(detail.contains(part), "{part} in {detail}");
        }
        for key in entry.keys {
            let default = key.default_text();
            let parts = [key.name, key.symbol, &default, key.range, key.meaning, key.none.unwrap_or_default()];
            for part in parts.into_iter().chain(key.auto.map(|rule| rule.formula)) {
                assert!(detail.contains(part), "{part} in {detail}");
            }
        }
    }
}

/// The example at the end of the details is a command that works.
#[test]
fn examples_work() {
    let classes: String = (0..60).map(|t| format!("{},{},{}\n", t % 7, t % 5, ["no", "yes"][t % 2])).collect();
    let folder = Folder::new().with("classes.csv", classes);
    for entry in catalogue::entries() {
        let detail = folder.done(&format!("learners {}", entry.name));
        let example = detail.lines().find_map(|line| line.strip_prefix("example  mercer ")).unwrap();
        let report = folder.json(&format!("{example} --limit 200").replace("--limit 2000 ", ""));
        assert_eq!(report["learner"], entry.name);
    }
}

#[test]
fn json_says_the_same() {
    let folder = Folder::new();
    let all = object(&folder.done("learners --json"));
    let learners = all["learners"].as_array().unwrap();
    assert_eq!((learners.len(), all.as_object().unwrap().len()), (catalogue::entries().len(), 1));
    for (entry, described) in catalogue::entries().iter().zip(learners) {
        assert_eq!(*described, object(&folder.done(&format!("learners {} --json", entry.name))));
        assert_eq!((&described["name"], &described["source"]), (&entry.name.into(), &entry.source.into()));
        assert_eq!(described["losses"].as_array().unwrap().len(), entry.takes.losses.len());
        assert_eq!(described["targets"].as_array().unwrap().len(), entry.takes.targets().count());
        assert_eq!(described["memory_grows"].as_bool(), Some(entry.growth.is_some()));
        let keys = described["keys"].as_array().unwrap();
        assert_eq!(keys.len(), entry.keys.len());
        for (key, described) in entry.keys.iter().zip(keys) {
            assert_eq!((&described["key"], &described["default"]), (&key.name.into(), &key.default_text().into()));
            assert_eq!(described["auto"].as_str(), key.auto.map(|rule| rule.formula));
        }
    }
}
