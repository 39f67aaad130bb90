//! Running experiments one after the other, each kept when it is finished.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::experiment::{Experiment, Paper};
use crate::plan::{ExperimentError, Plan};
use crate::report::edition::{Beside, Edition, State};
use crate::report::full::{self, FullError, FullResult};
use crate::report::keep::{self, KeepError, Kept};
use crate::report::provenance::{Moment, Provenance};
use crate::report::{Report, ReportError};

/// What is run, and where it goes.
#[derive(Clone, Copy, Debug)]
pub struct Errand<'a> {
    /// All papers there are.
    pub papers: &'a [Paper],
    /// The names of the experiments asked for, in the order in which they run.
    pub chosen: &'a [&'a str],
    /// How they are run.
    pub plan: &'a Plan,
    /// The folder of the run.
    pub out: &'a Path,
    /// Whether what is kept is run again all the same.
    pub fresh: bool,
    /// Where results at the papers' size are kept from run to run.
    pub full: &'a Path,
    /// Whether those of this run are kept there.
    pub keep: bool,
}

/// What a person who waits is told.
#[derive(Debug)]
pub enum News<'a> {
    /// An experiment that was kept stands for a run.
    Reused(&'a Experiment, &'a Kept),
    /// One begins.
    Begins(&'a Experiment),
    /// One is finished, after so many seconds.
    Done(&'a Experiment, &'a Report, f64),
    /// One failed; the others go on.
    Failed(&'a Experiment, &'a ExperimentError),
    /// A kept experiment could not be read or written; it is run again, now or the next time.
    NotKept(&'a Experiment, &'a KeepError),
    /// A result at the papers' size was kept.
    FullKept(&'a Experiment),
    /// A result at the papers' size could not be kept or read; the report goes without it.
    NoFull(&'a Experiment, &'a FullError),
}

/// What there is in the end.
#[derive(Debug)]
pub struct Conducted {
    /// The whole report.
    pub edition: Edition,
    /// All files written.
    pub files: Vec<PathBuf>,
    /// How many experiments failed.
    pub failures: usize,
    /// How many were reused.
    pub reused: usize,
}

/// Runs the experiments asked for, except for those that are kept, and writes the report anew after each of them, so that an
/// interruption costs one experiment. Those not asked for are in the report if they are kept.
///
/// # Errors
/// [`ReportError`] when a file of the report cannot be made or written. An experiment that fails is in the report.
pub fn conduct(
    errand: &Errand<'_>,
    provenance: Provenance,
    tell: &mut dyn FnMut(&News<'_>),
) -> Result<Conducted, ReportError> {
    let Errand { papers, chosen, plan, out, fresh, full: folder, keep } = *errand;
    let mut edition = Edition::new(papers, provenance);
    let (mut files, mut failures, mut reused) = (Vec::new(), 0, 0);
    let all = || papers.iter().flat_map(|paper| paper.experiments);
    let keys: Vec<String> = all().map(|experiment| keep::key(&edition.provenance, experiment.name)).collect();
    let mut waiting = Vec::new();
    for (experiment, key) in all().zip(keys) {
        match full::load(folder, experiment.name) {
            Ok(full) => show_beside(&mut edition, experiment, full),
            Err(error) => tell(&News::NoFull(experiment, &error)),
        }
        let asked = chosen.contains(&experiment.name);
        let kept = if fresh && asked { Ok(None) } else { keep::load(out, experiment.name, &key) };
        match kept {
            Ok(Some(kept)) => {
                if asked {
                    tell(&News::Reused(experiment, &kept));
                    reused += 1;
                    files.extend(kept.report.save(out)?);
                    if keep {
                        keep_full(&mut edition, experiment, &kept, folder, tell);
                    }
                }
                set(&mut edition, experiment, State::Done { kept: Box::new(kept), reused: true });
                continue;
            }
            Ok(None) => {}
            Err(error) => tell(&News::NotKept(experiment, &error)),
        }
        if asked {
            waiting.push((experiment, key));
        }
    }
    waiting.sort_by_key(|(experiment, _)| chosen.iter().position(|name| *name == experiment.name));
    for (experiment, key) in waiting {
        tell(&News::Begins(experiment));
        let begun = Instant::now();
        let done = (experiment.run)(plan).and_then(|report| Ok((report.save(out)?, report)));
        let state = match done {
            Ok((written, report)) => {
                let seconds = begun.elapsed().as_secs_f64();
                tell(&News::Done(experiment, &report, seconds));
                files.extend(written);
                let name = experiment.name.to_owned();
                let kept = Kept { experiment: name, key, finished: Moment::now(), seconds, report };
                if let Err(error) = keep::store(out, &kept) {
                    tell(&News::NotKept(experiment, &error));
                }
                if keep {
                    keep_full(&mut edition, experiment, &kept, folder, tell);
                }
                State::Done { kept: Box::new(kept), reused: false }
            }
            Err(error) => {
                tell(&News::Failed(experiment, &error));
                failures += 1;
                State::Failed { error: error.to_string() }
            }
        };
        set(&mut edition, experiment, state);
        edition.written = Moment::now();
        edition.save(out)?;
    }
    files.extend(edition.save(out)?);
    Ok(Conducted { edition, files, failures, reused })
}

/// Keeps what an experiment gave as its result at the papers' size.
fn keep_full(
    edition: &mut Edition,
    experiment: &Experiment,
    kept: &Kept,
    folder: &Path,
    tell: &mut dyn FnMut(&News<'_>),
) {
    let full = FullResult::new(experiment, &edition.provenance, (kept.finished, kept.seconds), kept.report.clone());
    match full.and_then(|full| full::store(folder, &full).map(|()| full)) {
        Ok(full) => {
            tell(&News::FullKept(experiment));
            show_beside(edition, experiment, Some(full));
        }
        Err(error) => tell(&News::NoFull(experiment, &error)),
    }
}

fn show_beside(edition: &mut Edition, experiment: &Experiment, full: Option<FullResult>) {
    let beside = full.map(|full| {
        if full.is_current(experiment) {
            Beside::Current(Box::new(full))
        } else {
            Beside::Stale { kept: full.version, now: experiment.version }
        }
    });
    if let Some(section) = edition.section_mut(experiment.name) {
        section.full = beside;
    }
}

fn set(edition: &mut Edition, experiment: &Experiment, state: State) {
    if let Some(section) = edition.section_mut(experiment.name) {
        section.state = state;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::report::provenance::{Asked, Machine, Program};
    use crate::table::{Format, Table};

    static RUNS: AtomicUsize = AtomicUsize::new(0);

    fn steady(plan: &Plan) -> Result<Report, ExperimentError> {
        RUNS.fetch_add(1, Ordering::Relaxed);
        uncounted(plan)
    }

    fn uncounted(plan: &Plan) -> Result<Report, ExperimentError> {
        let mut table = Table::new().numbers("seed", Format::Shortest);
        table.push(vec![(plan.seed as f64 + 0.1).into()])?;
        let mut report = Report::new("Steady");
        report.table("steady", "The seed", table);
        Ok(report)
    }

    fn failing(_: &Plan) -> Result<Report, ExperimentError> {
        let mut table = Table::new();
        table.push(vec![1.0.into()])?;
        Ok(Report::new(""))
    }

    const PAPERS: &[Paper] = &[Paper {
        name: "paper",
        title: "A paper",
        source: None,
        claim: "Nothing.",
        experiments: &[
            Experiment { name: "steady", title: "Steady", run: steady, ..BLANK },
            Experiment { name: "failing", title: "Failing", run: failing, ..BLANK },
        ],
    }];

    const BLANK: Experiment = Experiment {
        name: "",
        title: "",
        place: "",
        question: "",
        reading: "",
        version: 1,
        run: failing,
        estimate: |_| None,
    };

    fn provenance(program: &str, plan: &Plan) -> Provenance {
        Provenance {
            program: Program { commit: "c".into(), sha256: program.into() },
            machine: Machine { processor: "p".into(), cores: 1, system: "s".into() },
            plan: Asked { full: plan.full, repetitions: None, seed: plan.seed, threads: 1 },
            data: Vec::new(),
            absent: Vec::new(),
        }
    }

    #[test]
    fn a_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let registry = mercer_datasets::Registry::load_from(Vec::new()).unwrap();
        let plan = |seed| Plan {
            registry: registry.clone(),
            full: false,
            repetitions: None,
            seed,
            threads: 1,
            progress: false,
        };
        let run = |program: &str, seed: u64, chosen: &[&str], fresh: bool| {
            let plan = plan(seed);
            let mut told = Vec::new();
            let errand =
                Errand { papers: PAPERS, chosen, plan: &plan, out, fresh, full: &out.join("full"), keep: false };
            let done = conduct(&errand, provenance(program, &plan), &mut |news| {
                told.push(match news {
                    News::Reused(..) => "reused",
                    News::Begins(_) => "begins",
                    News::Done(..) => "done",
                    News::Failed(..) => "failed",
                    News::NotKept(..) => "not kept",
                    News::FullKept(_) => "full kept",
                    News::NoFull(..) => "no full",
                });
            });
            (done.unwrap(), told.join(" "), RUNS.load(Ordering::Relaxed))
        };
        let all = ["steady", "failing"];
        let (first, told, runs) = run("a", 1, &all, false);
        assert_eq!((told.as_str(), runs, first.failures, first.reused), ("begins done begins failed", 1, 1, 0));
        let pages = ["summary.md", "report/index.html", "report/paper.html", "report/report.json", "kept/steady.json"];
        assert!(pages.iter().all(|page| out.join(page).is_file()));

        // The same again: what was finished is reused, with its files; what failed is not kept.
        std::fs::remove_file(out.join("steady.csv")).unwrap();
        let (second, told, runs) = run("a", 1, &all, false);
        assert_eq!((told.as_str(), runs, second.reused), ("reused begins failed", 1, 1));
        assert_eq!(std::fs::read_to_string(out.join("steady.csv")).unwrap(), "seed\n1.1\n");
        let page = std::fs::read_to_string(out.join("report/paper.html")).unwrap();
        assert!(page.contains("reused from an earlier run") && page.contains("It failed: "));
        assert!(second.edition.markdown().contains("*Reused from a run that finished"));

        // Not asked for, it is in the report all the same, without being run.
        let (third, told, runs) = run("a", 1, &["failing"], false);
        assert_eq!((told.as_str(), runs), ("begins failed", 1));
        assert!(third.edition.sections().any(|section| section.name == "steady" && section.report().is_some()));

        // Asked for afresh, with another seed or from another program, it is run.
        for (program, seed, fresh, expected) in
            [("a", 1, true, 2), ("a", 2, false, 3), ("b", 2, false, 4), ("b", 2, false, 4)]
        {
            assert_eq!(run(program, seed, &["steady"], fresh).2, expected);
        }

        // A damaged file is told and costs a run.
        std::fs::write(out.join("kept/steady.json"), "{").unwrap();
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
        let registry = mercer_datasets::Registry::load_from(Vec::new()).unwrap();
        let run = |papers: &'static [Paper], whole: bool, keep: bool, out: &str| {
            let registry = registry.clone();
            let plan = Plan { registry, full: whole, repetitions: None, seed: 3, threads: 1, progress: false };
            let out = folder.path().join(out);
            let mut told = Vec::new();
            let errand =
                Errand { papers, chosen: &["steady"], plan: &plan, out: &out, fresh: false, full: &full, keep };
            let done = conduct(&errand, provenance("f", &plan), &mut |news| match news {
                News::FullKept(_) => told.push("kept".to_owned()),
                News::NoFull(_, error) => told.push(error.to_string()),
                _ => {}
            });
            (done.unwrap().edition, told, out.join("report"))
        };
        // A reduced run has nothing to keep, and nothing to show.
        let (edition, told, pages) = run(UNCOUNTED, false, true, "a");
        assert!(told.len() == 1 && told[0].contains("--full") && edition.kept().count() == 0, "{told:?}");
        assert!(!pages.join("paper-full.html").exists());
        // A full one is kept, once it was run and once it was reused. It shows itself, so nothing stands beside it.
        for _ in 0..2 {
            let (edition, told, pages) = run(UNCOUNTED, true, true, "b");
            assert_eq!((told, edition.kept().count()), (vec!["kept".to_owned()], 0));
            assert!(!pages.join("paper-full.html").exists());
        }
        // Beside a reduced one it is shown, and told apart.
        let (edition, told, pages) = run(UNCOUNTED, false, false, "a");
        assert_eq!((told.len(), edition.kept().count()), (0, 1));
        let text = std::fs::read_to_string(pages.join("paper-full.html")).unwrap();
        assert!(text.contains("3.1") && text.contains("cargo xtask reproduce --only steady --full --seed 3"));
        assert!(edition.markdown().contains("kept from a run of commit c"), "{}", edition.markdown());
        let value: serde_json::Value = serde_json::from_str(&edition.json().unwrap()).unwrap();
        assert_eq!(value["kept"]["experiments"]["steady"]["commit"], "c");
        // Of an earlier version of the experiment it is not.
        const NEWER: &[Paper] = &[Paper {
            experiments: &[Experiment { name: "steady", title: "Steady", run: uncounted, version: 2, ..BLANK }],
            ..UNCOUNTED[0]
        }];
        let (edition, _, pages) = run(NEWER, false, false, "a");
        assert_eq!(edition.kept().count(), 0);
        assert!(!pages.join("paper-full.html").exists());
        let page = std::fs::read_to_string(pages.join("paper.html")).unwrap();
        assert!(page.contains("version 1") && page.contains("version 2"));
        // A damaged file is told, and the report goes without it.
        std::fs::write(full::place(&full, "steady"), "{").unwrap();
        let (edition, told, _) = run(UNCOUNTED, false, false, "a");
        assert!(told.len() == 1 && told[0].contains("restore the file") && edition.kept().count() == 0, "{told:?}");
    }
}
