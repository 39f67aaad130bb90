//! The report as a table for reading and as one for programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use mercer_benches::roof::Bandwidth;
use mercer_benches::{Roofs, Workload, catalogue};

use crate::machine::Machine;
use crate::peers::Peers;

/// Working sets at which the bandwidth is shown: 80 KB to 200 MB.
const SHOWN: [usize; 7] = [80_000, 320_000, 1_300_000, 4_000_000, 9_000_000, 20_000_000, 200_000_000];

/// One measured operation.
#[derive(Debug)]
pub(crate) struct Measurement {
    pub(crate) topic: &'static str,
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) work: Workload,
    pub(crate) seconds: f64,
}

/// A measured operation with its roofs.
#[derive(Debug)]
struct RoofRow {
    measured: Measurement,
    bandwidth: Bandwidth,
    memory_seconds: f64,
    arithmetic_seconds: f64,
}

/// Everything of one run.
#[derive(Debug)]
pub(crate) struct BenchReport {
    date: String,
    machine: Machine,
    arithmetic: f64,
    bandwidths: Vec<(usize, Bandwidth)>,
    rows: Vec<RoofRow>,
    peers: Peers,
}

impl BenchReport {
    pub(crate) fn new(
        date: String,
        machine: Machine,
        roofs: &mut Roofs,
        measured: Vec<Measurement>,
        peers: Peers,
    ) -> Self {
        let bandwidths = SHOWN.map(|bytes| (bytes, roofs.at(bytes))).to_vec();
        let rows = measured
            .into_iter()
            .map(|measured| {
                let (memory_seconds, arithmetic_seconds) = roofs.seconds(measured.work);
                RoofRow {
                    bandwidth: roofs.at(measured.work.working_set()),
                    memory_seconds,
                    arithmetic_seconds,
                    measured,
                }
            })
            .collect();
        Self { date, machine, arithmetic: roofs.arithmetic(), bandwidths, rows, peers }
    }

    fn seconds(&self, topic: &str, name: &str, size: usize) -> Option<f64> {
        let is_it = |row: &&RoofRow| {
            let measured = &row.measured;
            measured.topic == topic && measured.name == name && measured.size == size
        };
        self.rows.iter().find(is_it).map(|row| row.measured.seconds)
    }

    /// The report for reading.
    pub(crate) fn markdown(&self) -> String {
        // Writing to a string cannot fail.
        let mut text = String::new();
        let machine = &self.machine;
        let _ = writeln!(text, "# Benches of {}\n", self.date);
        let _ = writeln!(
            text,
            "{}; {}; {} cores, one used; {}; {}; commit {}. What the columns mean: [README](../README.md).\n",
            machine.cpu, machine.caches, machine.cores, machine.level, machine.rustc, machine.commit
        );
        let _ = writeln!(text, "## Roofs\n");
        let _ = writeln!(
            text,
            "Arithmetic {:.1} Gop/s ({:.0} GFLOP/s of fused multiply-adds).\n",
            self.arithmetic / 1e9,
            2.0 * self.arithmetic / 1e9
        );
        let _ = writeln!(text, "| working set | read GB/s | read and write GB/s |\n|---:|---:|---:|");
        for (bytes, bandwidth) in &self.bandwidths {
            let (read, update) = (bandwidth.read / 1e9, bandwidth.update / 1e9);
            let _ = writeln!(text, "| {} KB | {read:.0} | {update:.0} |", bytes / 1000);
        }
        self.ratios(&mut text);
        let mut topic = "";
        for row in &self.rows {
            if row.measured.topic != topic {
                topic = row.measured.topic;
                let _ = writeln!(text, "\n## {topic}\n");
                let _ = writeln!(
                    text,
                    "| operation | size | time | a second | GB/s | Gop/s | of memory roof | of arithmetic roof |"
                );
                let _ = writeln!(text, "|---|---:|---:|---:|---:|---:|---:|---:|");
            }
            row.write(&mut text);
        }
        text + &self.peers.markdown()
    }

    /// Writes the speed-ups over plain scalar code with the standard library.
    fn ratios(&self, text: &mut String) {
        let size = catalogue::PLAIN_SIZE;
        let row = format!("gaussian_d{}", catalogue::PLAIN_DIMENSION);
        let row = self.seconds("kernel_row", &row, size);
        let features = catalogue::PLAIN_FEATURES;
        let fogd = self.seconds("step", "fogd", features);
        let plain_row = |order: &str| {
            let name = format!("plain_{order}_major_d{}", catalogue::PLAIN_DIMENSION);
            self.seconds("kernel_row", &name, size)
        };
        let level = self.machine.level.to_lowercase();
        let function = |name: &str| {
            let time = |kind: &str| self.seconds("exp_sincos", &format!("{name}_{kind}"), 1024);
            (time(&level), time("std"))
        };
        let (exp, sincos) = (function("exp"), function("sincos"));
        let shape = format!("J = {size}, d = {}", catalogue::PLAIN_DIMENSION);
        let _ = writeln!(text, "\n## Against plain loops with the standard library's functions\n");
        let _ = writeln!(text, "| operation | plain loop | times faster |\n|---|---|---:|");
        let cases = [
            (format!("kernel row, {shape}"), "points one after the other", row, plain_row("point")),
            (format!("kernel row, {shape}"), "points by dimension", row, plain_row("dimension")),
            (format!("FOGD step, D = {features}"), "one `sin` and one `cos` a frequency", fogd, {
                self.seconds("step", "plain_fogd", features)
            }),
            ("exp, 1024 values".to_owned(), "`f64::exp`", exp.0, exp.1),
            ("sine and cosine, 1024 values".to_owned(), "`f64::sin_cos`", sincos.0, sincos.1),
        ];
        for (operation, plain, ours, theirs) in cases {
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                let _ = writeln!(text, "| {operation} | {plain} | {:.1} |", theirs / ours);
            }
        }
    }

    /// Writes both files into `directory`.
    pub(crate) fn write(&self, directory: &Path) -> Result<[PathBuf; 2]> {
        let stem = format!("{}-{}", self.date, self.machine.slug());
        let (csv, markdown) = (directory.join(format!("{stem}.csv")), directory.join(format!("{stem}.md")));
        std::fs::write(&markdown, self.markdown()).with_context(|| format!("writing {}", markdown.display()))?;
        self.write_csv(&csv).with_context(|| format!("writing {}", csv.display()))?;
        Ok([csv, markdown])
    }

    fn write_csv(&self, path: &Path) -> Result<()> {
        let mut csv = csv::Writer::from_path(path)?;
        csv.write_record([
            "topic",
            "operation",
            "size",
            "seconds",
            "bytes_read",
            "bytes_updated",
            "arithmetic",
            "read_roof_bytes_per_second",
            "update_roof_bytes_per_second",
            "arithmetic_roof_per_second",
            "memory_roof_share",
            "arithmetic_roof_share",
        ])?;
        for row in &self.rows {
            let Measurement { topic, name, size, work, seconds } = &row.measured;
            csv.write_record([
                (*topic).to_owned(),
                name.clone(),
                size.to_string(),
                format!("{seconds:.4e}"),
                work.read.to_string(),
                work.updated.to_string(),
                work.arithmetic.to_string(),
                format!("{:.3e}", row.bandwidth.read),
                format!("{:.3e}", row.bandwidth.update),
                format!("{:.3e}", self.arithmetic),
                format!("{:.3}", row.memory_seconds / seconds),
                format!("{:.3}", row.arithmetic_seconds / seconds),
            ])?;
        }
        csv.flush()?;
        Ok(())
    }
}

impl RoofRow {
    fn write(&self, text: &mut String) {
        let Measurement { name, size, work, seconds, .. } = &self.measured;
        let (memory, arithmetic) = (self.memory_seconds / seconds, self.arithmetic_seconds / seconds);
        // The higher share is the roof that binds.
        let share = |share: f64, other: f64| {
            let percent = format!("{:.0}%", 100.0 * share);
            if share >= other { format!("**{percent}**") } else { percent }
        };
        let _ = writeln!(
            text,
            "| {name} | {size} | {} | {} | {:.1} | {:.1} | {} | {} |",
            time(*seconds),
            rate(1.0 / seconds),
            work.bytes() as f64 / seconds / 1e9,
            work.arithmetic as f64 / seconds / 1e9,
            share(memory, arithmetic),
            share(arithmetic, memory)
        );
    }
}

/// Three significant digits with a unit.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s => (s * 1e3, "ms"),
    };
    format!("{} {unit}", three_digits(value))
}

fn rate(per_second: f64) -> String {
    let (value, unit) = match per_second {
        r if r >= 1e6 => (r / 1e6, " M"),
        r if r >= 1e3 => (r / 1e3, " k"),
        r => (r, ""),
    };
    format!("{}{unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    let decimals = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
