//! Rows a second of readers on one core: CSV and Parquet with snappy, row by row as a learner takes
//! them.
//!
//! `cargo run --release -p mercer-benches --bin reading -- [ROWS] [PASSES]` writes the same table
//! of 18 columns of numbers (200,000 rows unless told otherwise) into files of both formats, reads
//! both in turns (9 passes), and prints the median and the best of each, with bytes a second. The
//! sums of the cells must be equal. As a roof, the batches of the Parquet file are also read
//! without being turned into rows.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use std::{env, hint, process};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use mercer_readers::{ReadOptions, RowReader};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The last one is the target.
const COLUMNS: usize = 18;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (rows, passes) = (number(200_000)?.max(1), number(9)?.max(1));
    let table = table(rows);
    let folder = env::temp_dir().join(format!("mercer-reading-{}", process::id()));
    fs::create_dir(&folder)?;
    let measured = measure(&table, &folder, rows, passes);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(table: &[Vec<f64>], folder: &Path, rows: usize, passes: usize) -> Result<(), Box<dyn Error>> {
    let files = [folder.join("rows.csv"), folder.join("rows.parquet")];
    let texts = [csv(table, rows)?, parquet(table)?];
    for (file, bytes) in files.iter().zip(&texts) {
        fs::write(file, bytes)?;
    }
    let sizes = texts.map(|bytes| bytes.len());
    println!("{rows} rows of {COLUMNS} columns, {passes} passes in turns");
    let mut seconds = [const { Vec::new() }; 3];
    let mut sums = [0.0; 2];
    for _ in 0..passes {
        for (place, file) in files.iter().enumerate() {
            let start = Instant::now();
            sums[place] = read(file)?;
            seconds[place].push(start.elapsed().as_secs_f64());
        }
        let start = Instant::now();
        batches(&files[1])?;
        seconds[2].push(start.elapsed().as_secs_f64());
    }
    if sums[0] != sums[1] {
        return Err(format!("the formats hold different numbers: {sums:?}").into());
    }
    let names = [("CSV", sizes[0]), ("Parquet, snappy", sizes[1]), ("its batches alone", sizes[1])];
    for ((name, bytes), mut seconds) in names.into_iter().zip(seconds) {
        seconds.sort_unstable_by(f64::total_cmp);
        let (median, best) = (seconds[seconds.len() / 2], seconds[0]);
        let rate = |seconds: f64| rows as f64 / seconds / 1e6;
        println!(
            "  {name:<20} median {:.3} and best {:.3} million rows/s; {:.0} MB/s of {:.1} MB",
            rate(median),
            rate(best),
            bytes as f64 / median / 1e6,
            bytes as f64 / 1e6
        );
    }
    Ok(())
}

/// Columns of numbers with six decimals, so that CSV holds them exactly.
fn table(rows: usize) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut column = || (0..rows).map(|_| f64::from(rng.random_range(-4_000_000..4_000_000)) / 1e6).collect();
    (0..COLUMNS).map(|_| column()).collect()
}

fn csv(table: &[Vec<f64>], rows: usize) -> Result<Vec<u8>, std::fmt::Error> {
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..rows {
        for (place, column) in table.iter().enumerate() {
            write!(text, "{}{}", if place == 0 { "" } else { "," }, column[row])?;
        }
        text.push('\n');
    }
    Ok(text.into_bytes())
}

fn parquet(table: &[Vec<f64>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let columns = table.iter().enumerate().map(|(place, column)| {
        let values: ArrayRef = Arc::new(Float64Array::from(column.clone()));
        (format!("x{place}"), values)
    });
    let batch = RecordBatch::try_from_iter(columns)?;
    // Numbers that hardly ever repeat: other writers keep no dictionary of them, either.
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(false).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}

/// The sum of all cells.
fn read(file: &Path) -> Result<f64, Box<dyn Error>> {
    let mut reader = RowReader::open(file, &ReadOptions::default())?;
    let (mut features, mut sum) = (Vec::new(), 0.0);
    while let Some(target) = reader.next_row(&mut features)? {
        sum += features.iter().sum::<f64>() + target;
    }
    Ok(sum)
}

fn batches(file: &Path) -> Result<(), Box<dyn Error>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?;
    for batch in builder.with_batch_size(1024).build()? {
        hint::black_box(batch?);
    }
    Ok(())
}
