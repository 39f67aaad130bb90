//! The pages of a small report that has one of everything.

use super::*;
use crate::experiment::{Experiment, Paper, Source};
use crate::figure::{Figure, Grid, HeatMap, Panels, Scale};
use crate::judgement::{Judgement, Kind};
use crate::plan::{ExperimentError, Plan};
use crate::report::Report;
use crate::report::edition::{Beside, State};
use crate::report::full::FullResult;
use crate::report::keep::Kept;
use crate::report::provenance::{Asked, DataFile, Machine, Moment, Program, Provenance};
use crate::table::{Cell, Format, Table};
use crate::verdict::Verdict;

fn everything(_: &Plan) -> Result<Report, ExperimentError> {
    let mut report = Report::new("Everything & <more>");
    report.words("One **word**, <b>no</b> HTML.");
    report.differs("sizes", "Ours are *larger*, <i>much</i>.");
    report.not_run(Kind::Printed, 12, "year", "It is not here.");
    let mut table = Table::new()
        .words("set")
        .numbers("J printed", Format::Shortest)
        .numbers("J", Format::Decimals(1))
        .words("verdict");
    let reproduced = Verdict::Reproduced { relative: 0.01, standard_errors: 0.5 };
    table.push(vec![
        "a<b>".into(),
        28usize.into(),
        28.3.into(),
        Judgement::printed(&reproduced, Some("μ = 1".into())).into(),
    ])?;
    table.push(vec![
        "c".into(),
        3usize.into(),
        f64::NAN.into(),
        Judgement::new(Kind::Printed, Outcome::Differs, "differs (diverged)").into(),
    ])?;
    table.push(vec![
        "d".into(),
        Cell::Empty,
        Cell::Empty,
        Judgement::printed(&Verdict::not_run("no data"), None).into(),
    ])?;
    report.table("sizes", "Sizes of <dictionaries>", table);
    report.picture(
        "growth",
        "How \"they\" grow",
        Figure::new("</svg><script>x()</script>").line("J", &[1.0, 2.0], &[1.0, 2.0]),
    );
    let map = HeatMap { grid: Grid::square(1.0, 2), values: vec![0.0, 1.0, 2.0, f64::NAN], scale: Scale::Sequential };
    report.picture("map", "A map", Panels::new("", 1).panel(Figure::new("m").heat_map(map)));
    Ok(report)
}

const fn experiment(name: &'static str, title: &'static str) -> Experiment {
    Experiment {
        name,
        title,
        place: "Figure <1>",
        question: "Is it <so>?",
        reading: "It <is>.",
        version: 1,
        run: everything,
        estimate: |_| None,
    }
}

const PAPERS: &[Paper] = &[
    Paper {
        name: "first",
        title: "The first & the <last>",
        source: Some(Source { authors: "A. <Author>", year: 2020, place: "A <journal>", link: "https://example.org" }),
        claim: "All is <well>.",
        experiments: &[experiment("everything", "Everything"), experiment("broken", "Broken")],
    },
    Paper {
        name: "second",
        title: "The second",
        source: None,
        claim: "Nothing.",
        experiments: &[experiment("waiting", "Waiting")],
    },
];

fn edition() -> Edition {
    let plan = Plan {
        registry: mercer_datasets::Registry::load_from(Vec::new()).unwrap(),
        full: false,
        repetitions: None,
        seed: 1,
        threads: 2,
        progress: false,
    };
    let listed = DataFile { name: "diamonds".into(), sha256: Some("cd".into()), as_listed: Some(false) };
    let provenance = Provenance {
        program: Program { commit: "0123456789ab".into(), sha256: "ab".into() },
        machine: Machine { processor: "A <processor>".into(), cores: 2, system: "linux".into() },
        plan: Asked { full: false, repetitions: None, seed: 1, threads: 2 },
        data: vec![listed],
        absent: vec!["year".into()],
    };
    let mut edition = Edition::new(PAPERS, provenance);
    edition.written = Moment(1_800_000_000);
    let kept = Kept {
        experiment: "everything".into(),
        key: "k".into(),
        finished: Moment(1_800_000_000),
        seconds: 12.0,
        report: everything(&plan).unwrap(),
    };
    edition.section_mut("everything").unwrap().state = State::Done { kept: Box::new(kept), reused: true };
    let asked = Asked { full: true, ..edition.provenance.plan.clone() };
    let full = Provenance { plan: asked, ..edition.provenance.clone() };
    let full =
        FullResult::new(&PAPERS[0].experiments[1], &full, (Moment(1_799_000_000), 3600.0), everything(&plan).unwrap());
    edition.section_mut("broken").unwrap().full = Some(Beside::Current(Box::new(full.unwrap())));
    edition.section_mut("waiting").unwrap().full = Some(Beside::Stale { kept: 1, now: 2 });
    edition.section_mut("broken").unwrap().state = State::Failed { error: "no <room>".into() };
    edition
}

/// The page without its style, its script and what is in its pictures, an element a line.
fn skeleton(page: &str) -> String {
    let mut text = page.to_owned();
    for (from, to) in [("<style>", "</style>"), ("<script>", "</script>")] {
        while let Some(start) = text.find(from) {
            let end = start + text[start..].find(to).unwrap() + to.len();
            text.replace_range(start..end, "");
        }
    }
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("<svg role=") {
        let opening = start + rest[start..].find('>').unwrap() + 1;
        shown += &rest[..opening];
        // The plot is an element of its own within the chart.
        let end = rest[start..].find("</svg></div>").or_else(|| rest[start..].find("</svg>")).unwrap();
        rest = &rest[start + end..];
    }
    shown += rest;
    shown.replace("><", ">\n<")
}

#[test]
fn pages_have_everything_in_its_place() {
    let pages = pages(&edition()).unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["index.html", "first.html", "first-full.html", "second.html"]);
    for (name, page) in &pages {
        insta::assert_snapshot!(name.replace(".html", ""), skeleton(page));
    }
}

#[test]
fn nothing_given_becomes_an_element_or_a_request() {
    for (name, page) in pages(&edition()).unwrap() {
        for bad in [
            "<b>no",
            "<i>much",
            "a<b>",
            "<dictionaries>",
            "<script>x",
            "<last>",
            "<processor>",
            "<room>",
            "<1>",
            "<so>",
            "<is>",
            "<Author>",
            "<journal>",
            "<well>",
            "</svg><",
        ] {
            assert!(!skeleton(&page).contains(bad), "{bad} in {name}");
        }
        for outside in ["src=", "@import", "url(http", "<link rel=\"stylesheet"] {
            assert!(!page.contains(outside), "{outside} in {name}");
        }
    }
}

#[test]
fn pictures_take_the_theme_and_a_heat_map_is_an_image() {
    let page = &pages(&edition()).unwrap()[1].1;
    let part = |id: &str| {
        page.split(&format!("<figure id=\"figure-{id}\"")).nth(1).unwrap().split("</figure>").next().unwrap()
    };
    assert!(part("growth").contains("style=\"color:var(--c-") && part("growth").contains("data-toggle"));
    assert_eq!(part("map").matches("<image class=\"heat\"").count(), 2);
    assert!(page.contains("prefers-color-scheme:dark){:root{--c-"));
}

/// What a reader sees on the front page is what a program counts in `report.json`, verdict by verdict.
#[test]
fn the_front_pages_counts_are_those_of_the_json() {
    let edition = edition();
    let value: serde_json::Value = serde_json::from_str(&edition.json().unwrap()).unwrap();
    let front = &pages(&edition).unwrap()[0].1;
    let tiles = front.split("<ul class=\"tiles\">").nth(1).unwrap().split("<section").next().unwrap();
    let remarks: Vec<&serde_json::Value> = value["papers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|paper| paper["experiments"].as_array().unwrap())
        .filter_map(|section| section["state"]["done"]["kept"]["report"]["blocks"].as_array())
        .flatten()
        .filter_map(|block| block["remark"]["missing"].as_array().map(|_| &block["remark"]["missing"]))
        .collect();
    for (kind, tile, key, words) in [
        ("printed", "Printed numbers", "printed", ["reproduced", "differ", "not_run"]),
        ("bound", "Bounds and orders", "bounds", ["hold", "do_not_hold", "not_run"]),
        ("claim", "Our own claims", "claims", ["hold", "do_not_hold", "not_run"]),
    ] {
        let tile = tiles.split(tile).nth(1).unwrap();
        let shown: Vec<u64> =
            tile.split("</svg>").skip(1).take(3).map(|rest| rest.split('<').next().unwrap().parse().unwrap()).collect();
        let judged = || value["verdicts"].as_object().unwrap().values().flat_map(|all| all.as_array().unwrap());
        let own = |outcome: &str| {
            judged().filter(|judged| judged["kind"] == kind && judged["outcome"] == outcome).count() as u64
        };
        let missing: u64 =
            remarks.iter().filter(|missing| missing[0] == kind).map(|missing| missing[1].as_u64().unwrap()).sum();
        let counted = [own("reproduced"), own("differs"), own("not_run") + missing];
        assert_eq!(shown, counted, "{kind}");
        assert_eq!(words.map(|word| value["tally"][key][word].as_u64().unwrap()).to_vec(), counted, "{kind}");
    }
    // Kept results are counted apart, from their own verdicts.
    let kept = front.split("<h2 id=\"kept\">").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(value["kept"]["tally"], value["tally"]);
    assert_eq!(value["kept"]["experiments"]["broken"]["verdicts"], value["verdicts"]["everything"]);
    assert!(kept.contains("1 reproduced") && kept.contains("13 not run") && kept.contains("gave them: 1."), "{kept}");
    // No number that needs a choice of ours is called reproduced without saying so.
    for judged in value["verdicts"].as_object().unwrap().values().flat_map(|all| all.as_array().unwrap()) {
        let choice = judged["choice"].as_str();
        assert!(choice.is_none_or(|choice| judged["words"].as_str().unwrap().contains(choice)), "{judged}");
    }
}

#[test]
fn json_has_numbers_verdicts_and_reasons() {
    let mut edition = edition();
    let text = edition.json().unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let printed = serde_json::json!({ "reproduced": 1, "with_our_choice": 1, "differ": 1, "not_run": 13 });
    let bounds = serde_json::json!({ "hold": 0, "loose": 0, "do_not_hold": 0, "not_run": 0 });
    let claims = serde_json::json!({ "hold": 0, "with_our_choice": 0, "do_not_hold": 0, "not_run": 0 });
    assert_eq!(value["tally"], serde_json::json!({ "printed": printed, "bounds": bounds, "claims": claims }));
    assert_eq!(value["verdicts"]["everything"][1]["subject"], "c");
    let done = &value["papers"][0]["experiments"][0]["state"]["done"];
    assert_eq!((&done["reused"], &done["kept"]["seconds"]), (&true.into(), &12.0.into()));
    let blocks = &done["kept"]["report"]["blocks"];
    assert_eq!(blocks[1]["remark"]["outcome"], "differs");
    assert_eq!(blocks[3]["table"]["table"]["rows"][1][2], serde_json::json!({ "number": "NaN" }));
    assert_eq!(blocks[4]["picture"]["picture"]["figure"]["series"][0]["ys"], serde_json::json!([1.0, 2.0]));
    assert_eq!(value["papers"][0]["experiments"][1]["state"]["failed"]["error"], "no <room>");
    assert_eq!(value["papers"][1]["experiments"][0]["state"], "waiting");
    // What is left when the long part is out is stable.
    edition.papers.clear();
    insta::assert_snapshot!("json", edition.json().unwrap());
}
