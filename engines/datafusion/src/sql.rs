//! A query from the command line: its tables, and where its result goes.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionContext};

/// The query that a command line asks for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    tables: Vec<(String, String)>,
    models: Vec<(String, String)>,
    out: Option<String>,
    numbers: BTreeMap<String, usize>,
    texts: BTreeMap<String, String>,
    sql: String,
}

impl Query {
    /// Reads a command line: `--table NAME=PATH`, `--model NAME=FILE`, `--out FILE`, `--scheduler
    /// URL`, options of these names that are whole numbers, and the query.
    ///
    /// # Errors
    /// What is wrong, or nothing where help is asked for.
    pub fn parse(
        mut words: impl Iterator<Item = String>,
        numbers: &[&str],
    ) -> std::result::Result<Self, Option<String>> {
        let mut query = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Some(format!("{word} needs a value")));
            match word.as_str() {
                "--table" => {
                    let value = value()?;
                    let Some((name, path)) = value.split_once('=') else {
                        return Err(Some(format!("--table takes NAME=PATH, got {value:?}")));
                    };
                    query.tables.push((name.to_owned(), path.to_owned()));
                }
                "--model" => {
                    let value = value()?;
                    let Some((name, path)) = value.split_once('=') else {
                        return Err(Some(format!("--model takes NAME=FILE, got {value:?}")));
                    };
                    query.models.push((name.to_owned(), path.to_owned()));
                }
                "--out" => query.out = Some(value()?),
                "--scheduler" => drop(query.texts.insert(word.clone(), value()?)),
                option if numbers.contains(&option) => {
                    let value = value()?;
                    let Some(number) = value.parse().ok().filter(|number| *number > 0) else {
                        return Err(Some(format!("{word} takes a whole number of at least 1, got {value:?}")));
                    };
                    query.numbers.insert(word, number);
                }
                "--help" | "-h" => return Err(None),
                option if option.starts_with("--") => {
                    return Err(Some(format!("there is no option {option}; see --help")));
                }
                _ if query.sql.is_empty() => query.sql = word,
                _ => return Err(Some(format!("one query is enough; {word:?} is another"))),
            }
        }
        if query.sql.is_empty() { Err(None) } else { Ok(query) }
    }

    /// The value of an option that is a number.
    #[must_use]
    pub fn number(&self, option: &str) -> Option<usize> {
        self.numbers.get(option).copied()
    }

    /// The value of an option that is a text.
    #[must_use]
    pub fn text(&self, option: &str) -> Option<&str> {
        self.texts.get(option).map(String::as_str)
    }
}

/// Runs the query, and prints its result or writes it to the file.
///
/// # Errors
/// Whatever is wrong with the tables or the query, and a result that is not one value where a file
/// is to be written.
pub async fn run(context: &SessionContext, query: &Query) -> Result<()> {
    for (name, path) in &query.tables {
        if path.ends_with(".csv") {
            context.register_csv(name, path, CsvReadOptions::new()).await?;
        } else {
            context.register_parquet(name, path, ParquetReadOptions::default()).await?;
        }
    }
    for (name, path) in &query.models {
        let model = Arc::new(BinaryArray::from_iter_values([std::fs::read(path)?])) as ArrayRef;
        context.register_batch(name, RecordBatch::try_from_iter([("model", model)])?)?;
    }
    let frame = context.sql(&query.sql).await?;
    let batches = frame.collect().await?;
    let Some(out) = &query.out else {
        let table = pretty_format_batches(&batches)?;
        return match writeln!(std::io::stdout(), "{table}") {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => Ok(written?),
        };
    };
    let mut values = Vec::new();
    for batch in &batches {
        if let Some(column) = batch.columns().first().and_then(|column| column.as_binary_opt::<i32>()) {
            values.extend((0..column.len()).map(|row| (!column.is_null(row)).then(|| column.value(row).to_vec())));
        }
    }
    let [Some(bytes)] = &values[..] else {
        return exec_err!("--out needs one binary value that is not null; the query gives {}", values.len());
    };
    let aside = format!("{out}.tmp");
    std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, out))?;
    Ok(())
}
