//! Running experiments one after the other, each kept when it is finished.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

use crate::experiment::{Experiment, Paper};
use crate::html;
use crate::plan::Plan;
use crate::report::Report;
use crate::report::edition::{Edition, SectionState};
use crate::report::kept::{self, KeptReport};
use crate::report::provenance::{Moment, Provenance};

/// Experiments to run, and where their results go.
#[derive(Clone, Copy, Debug)]
pub struct Errand<'a> {
    /// All papers there are.
    pub papers: &'static [Paper],
    /// The names of the experiments asked for, in the order in which they run.
    pub chosen: &'a [&'a str],
    /// The plan of the runs.
    pub plan: &'a Plan,
    /// The folder of the run.
    pub out: &'a Path,
    /// True if what is kept is run again all the same.
    pub fresh: bool,
    /// Where results at the papers' size are kept from run to run.
    pub full: &'a Path,
    /// True if results of this run are kept there.
    pub keep: bool,
}

/// News of an experiment for a person who waits.
#[derive(Debug)]
pub enum News<'a> {
    /// A result of an earlier run stands for a run.
    Reused(&'a KeptReport),
    /// It begins.
    Begins,
    /// It is finished, after so many seconds.
    Done(&'a Report, f64),
    /// It failed; the others go on.
    Failed(&'a anyhow::Error),
    /// Its result at the papers' size was kept.
    Kept,
    /// A kept result could not be read or written; the report goes without it.
    NotKept(&'a anyhow::Error),
}

/// Results in the end.
#[derive(Debug)]
pub struct Completion {
    /// The whole report.
    pub edition: Edition,
    /// All files written.
    pub files: Vec<PathBuf>,
    /// Number of experiments that failed.
    pub failures: usize,
    /// Number of experiments that were reused.
    pub reused: usize,
}

/// Runs the experiments asked for, except for those that are kept: each is kept when it is
/// finished, so that an interruption costs one experiment. Then writes the report, in which those
/// not asked for are as well if they are kept.
pub fn conduct(
    errand: &Errand<'_>,
    provenance: Provenance,
    tell: &mut dyn FnMut(&Experiment, &News<'_>),
) -> Result<Completion> {
    let own = errand.out.join("kept");
    let mut done =
        Completion { edition: Edition::new(errand.papers, provenance), files: Vec::new(), failures: 0, reused: 0 };
    let mut waiting = Vec::new();
    for i in 0..done.edition.sections.len() {
        let experiment = done.edition.sections[i].experiment;
        let mut read = |folder: &Path| {
            let kept = kept::load(folder, experiment.name);
            kept.unwrap_or_else(|error| {
                tell(experiment, &News::NotKept(&error));
                None
            })
        };
        done.edition.sections[i].full = read(errand.full);
        let asked = errand.chosen.contains(&experiment.name);
        let earlier = if errand.fresh && asked { None } else { read(&own) };
        match earlier.filter(|kept| kept.provenance == done.edition.provenance) {
            Some(kept) => {
                if asked {
                    tell(experiment, &News::Reused(&kept));
                    done.reused += 1;
                    done.files.extend(kept.report.save(errand.out)?);
                    keep(errand, &mut done.edition, i, &kept, tell);
                }
                done.edition.sections[i].state = SectionState::Done { kept: Box::new(kept), reused: true };
            }
            None if asked => waiting.push(i),
            None => {}
        }
    }
    let name = |i: &usize| done.edition.sections[*i].experiment.name;
    waiting.sort_by_key(|i| errand.chosen.iter().position(|chosen| *chosen == name(i)));
    for i in waiting {
        run(errand, &own, &mut done, i, tell)?;
    }
    done.edition.written = Moment::now();
    done.files.extend(html::save(&done.edition, errand.out)?);
    Ok(done)
}

/// Runs one experiment.
fn run(
    errand: &Errand<'_>,
    own: &Path,
    done: &mut Completion,
    i: usize,
    tell: &mut dyn FnMut(&Experiment, &News<'_>),
) -> Result<()> {
    let experiment = done.edition.sections[i].experiment;
    tell(experiment, &News::Begins);
    let begun = Instant::now();
    done.edition.sections[i].state = match (experiment.run)(errand.plan) {
        Ok(report) => {
            done.files.extend(report.save(errand.out)?);
            let seconds = begun.elapsed().as_secs_f64();
            tell(experiment, &News::Done(&report, seconds));
            let (provenance, sources) = (done.edition.provenance.clone(), experiment.fingerprint());
            let (experiment_name, finished) = (experiment.name.to_owned(), Moment::now());
            let kept = KeptReport { experiment: experiment_name, sources, provenance, finished, seconds, report };
            if let Err(error) = kept::store(own, &kept) {
                tell(experiment, &News::NotKept(&error));
            }
            keep(errand, &mut done.edition, i, &kept, tell);
            SectionState::Done { kept: Box::new(kept), reused: false }
        }
        Err(error) => {
            tell(experiment, &News::Failed(&error));
            done.failures += 1;
            SectionState::Failed(format!("{error:#}"))
        }
    };
    Ok(())
}

/// Keeps what an experiment gave as its result at the papers' size, if that is asked for.
fn keep(
    errand: &Errand<'_>,
    edition: &mut Edition,
    i: usize,
    kept: &KeptReport,
    tell: &mut dyn FnMut(&Experiment, &News<'_>),
) {
    if !errand.keep {
        return;
    }
    let section = &mut edition.sections[i];
    match kept::store_full(errand.full, kept) {
        Ok(()) => {
            tell(section.experiment, &News::Kept);
            section.full = Some(kept.clone());
        }
        Err(error) => tell(section.experiment, &News::NotKept(&error)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::report::provenance::{Machine, Program, Request};
    use crate::table::{Format, Table};

    static RUNS: AtomicUsize = AtomicUsize::new(0);

    fn steady(plan: &Plan) -> Result<Report> {
        RUNS.fetch_add(1, Ordering::Relaxed);
        uncounted(plan)
    }

    fn uncounted(plan: &Plan) -> Result<Report> {
        let mut table = Table::new().numbers("seed", Format::Shortest);
        table.push(vec![(plan.seed as f64 + 0.1).into()])?;
        let mut report = Report::new("Steady");
        report.table("steady", "The seed", table);
        Ok(report)
    }

    fn failing(_: &Plan) -> Result<Report> {
        let mut table = Table::new();
        table.push(vec![1.0.into()])?;
        Ok(Report::new(""))
    }

    const BLANK: Experiment = Experiment {
        name: "",
        title: "",
        place: "",
        question: "",
        reading: "",
        sources: &[&["a"]],
        run: failing,
        estimate: |_| None,
    };

    const PAPERS: &[Paper] = &[Paper {
        name: "paper",
        title: "A paper",
        source: None,
        claim: "Nothing.",
        picture: "",
        experiments: &[
            Experiment { name: "steady", title: "Steady", run: steady, ..BLANK },
            Experiment { name: "failing", title: "Failing", run: failing, ..BLANK },
        ],
    }];

    fn provenance(program: &str, plan: &Plan) -> Provenance {
        Provenance {
            program: Program { commit: "c".into(), sha256: program.into() },
            machine: Machine { processor: "p".into(), cores: 1, system: "s".into() },
            plan: Request { full: plan.full, repetitions: None, seed: plan.seed, threads: 1 },
            data: Vec::new(),
            absent: Vec::new(),
        }
    }

    fn plan(full: bool, seed: u64) -> Plan {
        let registry = mercer_datasets::Registry::load_from(Vec::new()).unwrap();
        Plan { full, ..Plan::reduced(registry, seed, 1) }
    }

    #[test]
    fn a_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let run = |program: &str, seed: u64, chosen: &[&str], fresh: bool| {
            let plan = plan(false, seed);
            let mut told = Vec::new();
            let errand =
                Errand { papers: PAPERS, chosen, plan: &plan, out, fresh, full: &out.join("none"), keep: false };
            let done = conduct(&errand, provenance(program, &plan), &mut |_, news| {
                told.push(match news {
                    News::Reused(_) => "reused",
                    News::Begins => "begins",
                    News::Done(..) => "done",
                    News::Failed(_) => "failed",
                    News::Kept => "kept",
                    News::NotKept(_) => "not kept",
                });
            });
            (done.unwrap(), told.join(" "), RUNS.load(Ordering::Relaxed))
        };
        let all = ["steady", "failing"];
        let (first, told, runs) = run("a", 1, &all, false);
        assert_eq!((told.as_str(), runs, first.failures, first.reused), ("begins done begins failed", 1, 1, 0));
        let pages = ["report/index.html", "report/paper.html", "report/report.json", "kept/steady.json.gz"];
        assert!(pages.iter().all(|page| out.join(page).is_file()));

        // The same again: what was finished is reused, with its files; what failed is not kept.
        std::fs::remove_file(out.join("steady.csv")).unwrap();
        let (second, told, runs) = run("a", 1, &all, false);
        assert_eq!((told.as_str(), runs, second.reused), ("reused begins failed", 1, 1));
        assert_eq!(std::fs::read_to_string(out.join("steady.csv")).unwrap(), "seed\n1.1\n");
        let page = std::fs::read_to_string(out.join("report/paper.html")).unwrap();
        assert!(page.contains("reused from an earlier run") && page.contains("It failed: "));

        // Not asked for, it is in the report all the same, without being run.
        let (third, told, runs) = run("a", 1, &["failing"], false);
        assert_eq!((told.as_str(), runs), ("begins failed", 1));
        assert!(third.edition.sections[0].done().is_some());

        // Asked for afresh, with another seed or from another program, it is run.
        for (program, seed, fresh, expected) in
            [("a", 1, true, 2), ("a", 2, false, 3), ("b", 2, false, 4), ("b", 2, false, 4)]
        {
            assert_eq!(run(program, seed, &["steady"], fresh).2, expected);
        }

        // A damaged file is told and costs a run.
        std::fs::write(out.join("kept/steady.json.gz"), "{").unwrap();
        let (_, told, runs) = run("b", 2, &["steady"], false);
        assert_eq!((told.as_str(), runs), ("not kept begins done", 5));
        assert_eq!(run("b", 2, &["steady"], false).1, "reused");
    }

    #[test]
    fn a_full_run_is_kept_and_shown_beside_a_reduced_one() {
        const UNCOUNTED: &[Paper] = &[Paper {
            experiments: &[Experiment { name: "steady", title: "Steady", run: uncounted, ..BLANK }],
            ..PAPERS[0]
        }];
        let folder = tempfile::tempdir().unwrap();
        let full = folder.path().join("full");
        let run = |papers: &'static [Paper], whole: bool, keep: bool, out: &str| {
            let (plan, out) = (plan(whole, 3), folder.path().join(out));
            let mut told = Vec::new();
            let errand =
                Errand { papers, chosen: &["steady"], plan: &plan, out: &out, fresh: false, full: &full, keep };
            let done = conduct(&errand, provenance("f", &plan), &mut |_, news| match news {
                News::Kept => told.push("kept".to_owned()),
                News::NotKept(error) => told.push(format!("{error:#}")),
                _ => {}
            });
            (done.unwrap().edition, told, std::fs::read_to_string(out.join("report/paper.html")).unwrap())
        };
        // A reduced run has nothing to keep, and nothing to show.
        let (edition, told, page) = run(UNCOUNTED, false, true, "a");
        assert!(told.len() == 1 && told[0].contains("--full") && edition.kept().count() == 0, "{told:?}");
        assert!(!page.contains("from an earlier run"));
        // A full one is kept, once it was run and once it was reused. It shows itself, so nothing
        // stands beside it.
        for _ in 0..2 {
            let (edition, told, _) = run(UNCOUNTED, true, true, "b");
            assert_eq!((told, edition.kept().count()), (vec!["kept".to_owned()], 0));
        }
        // Beside a reduced one it is shown, and told apart.
        let (edition, told, page) = run(UNCOUNTED, false, false, "a");
        assert_eq!((told.len(), edition.kept().count()), (0, 1));
        assert!(page.contains("3.1") && page.contains("cargo xtask reproduce --only steady --full --seed 3"));
        assert!(!page.contains("have changed since"));
        assert!(page.contains("From commit <code>c</code>"));
        assert_eq!(edition.json()["papers"][0]["experiments"][0]["kept"]["current"], true);
        // Of other sources it is shown, and that is said.
        const NEWER: &[Paper] = &[Paper {
            experiments: &[Experiment { name: "steady", title: "Steady", run: uncounted, sources: &[&["b"]], ..BLANK }],
            ..UNCOUNTED[0]
        }];
        let (edition, _, page) = run(NEWER, false, false, "a");
        assert_eq!(edition.kept().count(), 1);
        assert!(page.contains("have changed since"));
    }
}
