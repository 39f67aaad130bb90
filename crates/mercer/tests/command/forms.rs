//! One table in many files: as CSV, TSV, NDJSON, Parquet or Arrow, whole or cut, from a file or
//! through a pipe.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use mercer::readers::instant_text;
use serde_json::Value;

use crate::support::{Folder, Said, arrow_stream, parquet};

/// Bits that look random, and are the same in every run.
struct Chance(u64);

impl Chance {
    /// Below `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    fn one<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u64) as usize]
    }
}

/// The values of a column, each of which may be missing.
enum Values {
    Whole(Vec<Option<i64>>),
    Fractions(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Truths(Vec<Option<bool>>),
    /// Days since 1970.
    Days(Vec<Option<i32>>),
    /// Seconds since 1970.
    Times(Vec<Option<i64>>),
}

struct Table {
    rows: usize,
    columns: Vec<(String, Values)>,
}

const WORDS: [&str; 12] =
    ["Ulm", "Bonn", "São Paulo", "a,b", "a;b", "say \"hi\"", "x\ty", "NA", "none", "O'Neil", "true", "—"];

impl Table {
    /// A table of some columns of any kinds, and behind them a target without gaps: of classes if
    /// the seed is odd.
    fn random(seed: u64, rows: usize) -> Self {
        let mut chance = Chance(seed);
        let mut columns: Vec<(String, Values)> = Vec::new();
        for place in 0..1 + chance.below(5) {
            let values = Values::random(&mut chance, rows);
            columns.push((format!("c{place}"), values));
        }
        columns.push(("size".to_owned(), Values::Fractions((0..rows).map(|_| Some(number(&mut chance))).collect())));
        let target = match seed % 2 {
            0 => Values::Fractions((0..rows).map(|_| Some(chance.below(4000) as f64 / 16.0 - 100.0)).collect()),
            _ => Values::Texts((0..rows).map(|_| Some(chance.one(&["red", "blue green"]).to_owned())).collect()),
        };
        columns.push(("y".to_owned(), target));
        Self { rows, columns }
    }

    fn delimited(&self, separator: char) -> String {
        let mut text = self.names().join(&separator.to_string()) + "\n";
        for row in 0..self.rows {
            for (place, (_, values)) in self.columns.iter().enumerate() {
                let cell = values.text(row).unwrap_or_default();
                let quotes = cell.contains([separator, '"', '\n']);
                let cell = if quotes { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell };
                let _ = write!(text, "{}{cell}", if place > 0 { separator.to_string() } else { String::new() });
            }
            text.push('\n');
        }
        text
    }

    fn ndjson(&self) -> String {
        let pair = |(name, values): &(String, Values), row: usize| {
            let value = values.text(row).map_or(Value::Null, |text| match values {
                Values::Whole(_) | Values::Fractions(_) | Values::Truths(_) => serde_json::from_str(&text).unwrap(),
                Values::Texts(_) | Values::Days(_) | Values::Times(_) => Value::from(text),
            });
            format!("{name:?}: {value}")
        };
        let object = |row: usize| self.columns.iter().map(|column| pair(column, row)).collect::<Vec<_>>().join(", ");
        (0..self.rows).map(|row| format!("{{{}}}\n", object(row))).collect()
    }

    fn batch(&self) -> RecordBatch {
        let columns = self.columns.iter().map(|(name, values)| (name, values.array(), true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn arrow(&self) -> Vec<u8> {
        let (batch, mut bytes) = (self.batch(), Vec::new());
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// A folder with the table in all formats, `t.csv` first.
    fn files(&self) -> (Folder, [&'static str; 5]) {
        let folder = Folder::new()
            .with("t.csv", self.delimited(','))
            .with("t.tsv", self.delimited('\t'))
            .with("t.ndjson", self.ndjson())
            .with("t.parquet", parquet(&self.batch()))
            .with("t.arrow", self.arrow());
        (folder, ["t.csv", "t.tsv", "t.ndjson", "t.parquet", "t.arrow"])
    }
}

fn number(chance: &mut Chance) -> f64 {
    (chance.below(1 << 20) as f64 - 5e5) / 1024.0
}

impl Values {
    fn random(chance: &mut Chance, rows: usize) -> Self {
        let gaps = chance.one(&[0, 0, 3, 30, 70]);
        // The first value of a column may come late.
        let late = chance.one(&[0, 0, 0, 5, rows as u64]) as usize;
        let there: Vec<bool> = (0..rows).map(|row| row >= late && chance.below(100) >= gaps).collect();
        let (kind, levels) = (chance.below(12), 1 + rows as u64 / 3);
        let mut draw = |most: u64| -> Vec<Option<i64>> {
            there.iter().map(|there| there.then(|| chance.below(most) as i64)).collect()
        };
        fn each<T>(cells: Vec<Option<i64>>, value: impl Fn(i64) -> T) -> Vec<Option<T>> {
            cells.into_iter().map(|cell| cell.map(&value)).collect()
        }
        match kind {
            0 => Self::Whole(each(draw(levels), |cell| cell - 5)),
            1 => Self::Whole(each(draw(3), |cell| (1 << 53) + cell)),
            2 => Self::Fractions(each(draw(1 << 20), |cell| match cell % 4 {
                0 => (cell / 4 % 50) as f64,
                _ => cell as f64 / 1024.0 - 300.0,
            })),
            3 => Self::Truths(each(draw(2), |cell| cell > 0)),
            4 => Self::Days(each(draw(900), |cell| 19_000 + cell as i32)),
            5 => Self::Times(each(draw(9_000_000), |cell| 1_700_000_000 + cell)),
            6 => Self::Texts(each(draw(levels), |cell| format!("shop {cell}"))),
            7 => Self::Texts(each(draw(50), |cell| cell.to_string())),
            8 => Self::Texts(each(draw(9000), |cell| format!("${},{:03}.50", 1 + cell / 1000, cell % 1000))),
            9 => Self::Texts(each(draw(3), |cell| [" a", "a ", "b"][cell as usize].to_owned())),
            10 => Self::Texts(each(draw(336), |cell| format!("{}/{}/2021", 1 + cell % 28, 1 + cell / 28))),
            _ => Self::Texts(each(draw(12), |cell| WORDS[cell as usize].to_owned())),
        }
    }

    /// The text of a cell, as an ordinary writer has it.
    fn text(&self, row: usize) -> Option<String> {
        match self {
            Self::Whole(cells) => cells[row].map(|cell| cell.to_string()),
            Self::Fractions(cells) => cells[row].map(|cell| format!("{cell:?}")),
            Self::Texts(cells) => cells[row].clone(),
            Self::Truths(cells) => cells[row].map(|cell| cell.to_string()),
            Self::Days(cells) => cells[row].map(|day| instant_text(86_400.0 * f64::from(day))[..10].to_owned()),
            Self::Times(cells) => cells[row].map(|seconds| instant_text(seconds as f64)[..19].replace('T', " ")),
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Whole(cells) => Arc::new(Int64Array::from(cells.clone())),
            Self::Fractions(cells) => Arc::new(Float64Array::from(cells.clone())),
            Self::Texts(cells) => Arc::new(StringArray::from(cells.clone())),
            Self::Truths(cells) => Arc::new(BooleanArray::from(cells.clone())),
            Self::Days(cells) => Arc::new(Date32Array::from(cells.clone())),
            Self::Times(cells) => Arc::new(TimestampMicrosecondArray::from_iter(
                cells.iter().map(|seconds| seconds.map(|seconds| seconds * 1_000_000)),
            )),
        }
    }
}

/// The messages without the name of the file, and with rows for lines: `first` is the line of the
/// first row.
fn plain(said: &Said, file: &str, first: usize) -> (Option<i32>, String, String) {
    let plain = |text: &str| {
        let text = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(mut object)) => {
                object.retain(|key, _| !key.starts_with("seconds"));
                Value::from(object).to_string()
            }
            // A file of JSON lines is answered in JSON lines.
            _ => text
                .replace(file, "FILE")
                .replace("prediction\n", "")
                .replace("{\"prediction\":", "")
                .replace("}\n", "\n"),
        };
        let (mut plain, mut rest) = (String::new(), text.as_str());
        while let Some(at) = rest.find(", line ") {
            let digits = &rest[at + 7..];
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let row = digits[..end].parse::<usize>().map_or(0, |line| line + 1 - first);
            let _ = write!(plain, "{}, row {row}", &rest[..at]);
            rest = &digits[end..];
            if let Some(again) = rest.strip_prefix(" (row ").and_then(|rest| rest.split_once(')')) {
                rest = again.1;
            }
        }
        plain + rest
    };
    (said.code, plain(&said.out), plain(&said.err))
}

/// Every format says the same of a table, and predicts the same of it to the bit.
#[test]
fn a_table_is_the_same_in_every_format() {
    let mut seeds: Vec<u64> = (0..12).collect();
    if let Some(more) = std::env::var("MERCER_SEEDS").ok().and_then(|text| text.parse().ok()) {
        seeds = (0..more).collect();
    }
    for seed in seeds {
        let (folder, files) = Table::random(seed, [3, 40, 300][seed as usize % 3]).files();
        let mut each = vec![
            "inspect FILE --json",
            "eval FILE --learner krls --json --predictions p.csv",
            "train FILE --learner fogd --scale standard --out m.mercer --quiet",
        ];
        // Classes are told in another form to who sends JSON lines.
        each.extend((seed % 2 == 0).then_some("predict FILE --model m.mercer"));
        let all = files.map(|file| {
            let first = if file.ends_with("sv") { 2 } else { 1 };
            let said = |command: &&str| {
                let _ = std::fs::remove_file(folder.path("p.csv"));
                let said = plain(&folder.run(&command.replace("FILE", file)), file, first);
                (said, std::fs::read(folder.path("p.csv")).ok())
            };
            each.iter().map(said).collect::<Vec<_>>()
        });
        for (file, said) in files.iter().zip(&all) {
            for (command, (said, expected)) in each.iter().zip(said.iter().zip(&all[0])) {
                assert_eq!(said, expected, "seed {seed}, {file}: {command}");
            }
        }
    }
}

/// The beginning of a file, however it is cut, says the same through a pipe.
#[test]
fn a_pipe_says_what_its_file_says() {
    for seed in 100..106 {
        let table = Table::random(seed, 300);
        let texts = [("csv", table.delimited(',')), ("ndjson", table.ndjson())];
        let texts = texts.map(|(ending, text)| (ending, text.into_bytes()));
        let columnar =
            [("arrow", table.arrow()), ("arrow", arrow_stream(&table.batch())), ("parquet", parquet(&table.batch()))];
        for (ending, bytes) in texts.into_iter().chain(columnar) {
            let mut chance = Chance(seed);
            let mut cuts = vec![bytes.len(), chance.below(bytes.len() as u64) as usize];
            if let Ok(text) = std::str::from_utf8(&bytes) {
                let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
                cuts.extend([lines[1], lines[20], lines[256]]);
                while !text.is_char_boundary(cuts[1]) {
                    cuts[1] += 1;
                }
            }
            for cut in cuts {
                let name = format!("t.{ending}");
                let folder = Folder::new().with(&name, &bytes[..cut]);
                let command = "eval FILE --learner fogd --json --predictions p.csv --format";
                let of_file = folder.run(&format!("{} {ending}", command.replace("FILE", &name)));
                let written = std::fs::read(folder.path("p.csv")).ok();
                let of_pipe = folder.piped(&bytes[..cut], &format!("{} {ending}", command.replace("FILE", "-")));
                let (file, pipe) = (plain(&of_file, &name, 1), plain(&of_pipe, "standard input", 1));
                assert_eq!(pipe, file, "seed {seed}, {cut} bytes of {name}");
                assert_eq!(std::fs::read(folder.path("p.csv")).ok(), written, "seed {seed}, {cut} bytes of {name}");
            }
        }
    }
}
