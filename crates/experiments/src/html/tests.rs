//! The pages of a small report that has one of everything.

use super::*;
use crate::experiment::{Experiment, Source};
use crate::figure::{Figure, Grid, HeatMap, Panels, Scale};
use crate::judgement::{ComparisonKind, Judgement};
use crate::plan::Plan;
use crate::report::Report;
use crate::report::edition::{Section, SectionState};
use crate::report::kept::KeptReport;
use crate::report::provenance::{DataFile, Machine, Moment, Program, Provenance, Request};
use crate::table::{Cell, Format, Table};

fn everything(_: &Plan) -> anyhow::Result<Report> {
    let mut report = Report::new("Everything & <more>");
    report.words("One **word**, <b>no</b> HTML.");
    report.differs("sizes", "Ours are *larger*, <i>much</i>.");
    report.not_run(ComparisonKind::Printed, 12, "year", "It is not here.");
    let mut table = Table::new()
        .words("set")
        .numbers("J printed", Format::Shortest)
        .numbers("J", Format::Decimals(1))
        .words("verdict");
    let reproduced = Judgement::new(ComparisonKind::Printed, Outcome::Reproduced, "reproduced (+1.0%, 0.5 se)");
    table.push(vec!["a<b>".into(), 28usize.into(), 28.3.into(), reproduced.with_choice("μ = 1").into()])?;
    table.push(vec![
        "c".into(),
        3usize.into(),
        f64::NAN.into(),
        Judgement::new(ComparisonKind::Printed, Outcome::Differs, "differs (diverged)").into(),
    ])?;
    table.push(vec![
        "d".into(),
        Cell::Empty,
        Cell::Empty,
        Judgement::not_run(ComparisonKind::Printed, "no data").into(),
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
        sources: &[&["a"]],
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
        picture: "growth",
        experiments: &[experiment("everything", "Everything"), experiment("broken", "Broken")],
    },
    Paper {
        name: "second",
        title: "The second",
        source: None,
        claim: "Nothing.",
        picture: "",
        experiments: &[experiment("waiting", "Waiting")],
    },
];

fn reduced() -> Plan {
    Plan::reduced(mercer_datasets::Registry::load_from(Vec::new()).unwrap(), 1, 2)
}

fn section<'a>(edition: &'a mut Edition, name: &str) -> &'a mut Section {
    edition.sections.iter_mut().find(|section| section.experiment.name == name).unwrap()
}

fn edition() -> Edition {
    let listed = DataFile { name: "diamonds".into(), sha256: Some("cd".into()), as_listed: Some(false) };
    let provenance = Provenance {
        program: Program { commit: "0123456789ab".into(), sha256: "ab".into() },
        machine: Machine { processor: "A <processor>".into(), cores: 2, system: "linux".into() },
        plan: Request { full: false, repetitions: None, seed: 1, threads: 2 },
        data: vec![listed],
        absent: vec!["year".into()],
    };
    let mut edition = Edition::new(PAPERS, provenance);
    edition.written = Moment(1_800_000_000);
    let kept = |plan: Request, name: &str, sources: &str| KeptReport {
        experiment: name.into(),
        sources: sources.into(),
        provenance: Provenance { plan, ..edition.provenance.clone() },
        finished: Moment(1_800_000_000),
        seconds: 12.0,
        report: everything(&reduced()).unwrap(),
    };
    let asked = Request { full: true, ..edition.provenance.plan.clone() };
    let own = kept(edition.provenance.plan.clone(), "everything", "a");
    let (current, stale) =
        (kept(asked.clone(), "broken", &PAPERS[0].experiments[1].fingerprint()), kept(asked, "waiting", "older"));
    section(&mut edition, "everything").state = SectionState::Done { kept: Box::new(own), reused: true };
    section(&mut edition, "broken").state = SectionState::Failed("no <room>".into());
    section(&mut edition, "broken").full = Some(current);
    section(&mut edition, "waiting").full = Some(stale);
    edition
}

/// The page without its style and its script, an element a line.
fn skeleton(page: &str) -> String {
    let mut text = page.to_owned();
    for (from, to) in [("<style>", "</style>"), ("<script>", "</script>")] {
        while let Some(start) = text.find(from) {
            let end = start + text[start..].find(to).unwrap() + to.len();
            text.replace_range(start..end, "");
        }
    }
    text.replace("><", ">\n<")
}

#[test]
fn pages_have_everything_in_its_place() {
    let pages = pages(&edition());
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["index.html", "first.html", "second.html"]);
    for (name, page) in &pages {
        insta::assert_snapshot!(name.replace(".html", ""), skeleton(page));
    }
}

#[test]
fn nothing_given_becomes_an_element_or_a_request() {
    for (name, page) in pages(&edition()) {
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
        for outside in ["src=\"http", "@import", "url(http", "<link rel=\"stylesheet"] {
            assert!(!page.contains(outside), "{outside} in {name}");
        }
    }
}

/// A reader of the front page sees the same counts as a program in `report.json`, verdict by
/// verdict.
#[test]
fn the_front_pages_counts_are_those_of_the_json() {
    let edition = edition();
    let value = edition.json();
    let front = &pages(&edition)[0].1;
    let section = front.split("<h2 id=\"run\">").nth(1).unwrap().split("</section>").next().unwrap();
    for (key, kind) in
        [("printed", ComparisonKind::Printed), ("bounds", ComparisonKind::Bound), ("claims", ComparisonKind::Claim)]
    {
        let judged =
            || value["papers"].as_array().unwrap().iter().flat_map(|paper| paper["experiments"].as_array().unwrap());
        let verdicts = judged().filter_map(|one| one["results"]["verdicts"].as_array()).flatten();
        let kind_name = serde_json::to_value(kind).unwrap();
        let own: Vec<_> = verdicts.filter(|judged| judged["kind"] == kind_name).collect();
        for (outcome, field) in [(Outcome::Reproduced, "came_out"), (Outcome::Differs, "differ")] {
            let name = serde_json::to_value(outcome).unwrap();
            let count = own.iter().filter(|judged| judged["outcome"] == name).count();
            assert_eq!(value["tally"][key][field], count, "{key} {field}");
            assert!(count == 0 || section.contains(&format!("{count} {}", kind.word(outcome))), "{section}");
        }
        // No number that needs a choice of ours is called reproduced without saying so.
        for judged in own {
            let choice = judged["choice"].as_str();
            assert!(choice.is_none_or(|choice| judged["words"].as_str().unwrap().contains(choice)), "{judged}");
        }
    }
    assert_eq!(value["tally"]["printed"]["not_run"], 13);
    assert_eq!(value["kept"]["printed"]["came_out"], 2);
}

#[test]
fn json_has_numbers_verdicts_and_reasons() {
    let mut edition = edition();
    let value = edition.json();
    let experiments = &value["papers"][0]["experiments"];
    assert_eq!(experiments[0]["results"]["verdicts"][1]["subject"], "c");
    assert_eq!(experiments[0]["seconds"], 12.0);
    let blocks = &experiments[0]["report"]["blocks"];
    assert_eq!(blocks[1]["remark"]["outcome"], "differs");
    assert_eq!(blocks[3]["table"]["table"]["rows"][1][2], serde_json::json!({ "number": "NaN" }));
    assert_eq!(blocks[4]["picture"]["picture"]["figure"]["series"][0]["ys"], serde_json::json!([1.0, 2.0]));
    assert_eq!(experiments[1]["error"], "no <room>");
    assert_eq!(experiments[1]["kept"]["current"], true);
    let waiting = &value["papers"][1]["experiments"][0];
    assert_eq!((&waiting["state"], &waiting["kept"]["current"]), (&"waiting".into(), &false.into()));
    // What is left when the long part is out is stable.
    edition.papers = &[];
    insta::assert_snapshot!("json", edition.json().to_string());
}
