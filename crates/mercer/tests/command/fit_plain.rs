//! Sums as plain tables: any engine adds them up, and `mercer merge` reads them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::{Folder, parquet};

const ROWS: usize = 600;

fn number(t: usize) -> f64 {
    (t * 7_919 % 10_007) as f64 / 10_007.0 - 0.5
}

/// Features and a target of row `t`, and its weight.
fn row(t: usize) -> ([f64; 2], f64, f64) {
    let x = [number(t), number(3 * t + 1)];
    (x, x[0] - 2.0 * x[1] + 0.1 * number(5 * t + 2), 0.5 + number(11 * t).abs())
}

fn csv(rows: std::ops::Range<usize>, class: bool) -> String {
    let line = |t: usize| {
        let (x, y, w) = row(t);
        let y = if !class {
            y.to_string()
        } else if y < -0.4 {
            "low".to_owned()
        } else if y < 0.4 {
            "mid".to_owned()
        } else {
            "high".to_owned()
        };
        format!("{},{},{w},{y}\n", x[0], x[1])
    };
    std::iter::once("a,b,w,y\n".to_owned()).chain(rows.map(line)).collect()
}

type Table = BTreeMap<[String; 3], f64>;

/// What `SELECT moment, a, b, sum(value) … GROUP BY moment, a, b` gives.
fn added(folder: &Folder, names: &[String]) -> Table {
    let mut all = Table::new();
    for name in names {
        let file = File::open(folder.path(name)).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            assert!(
                batch.schema().fields().iter().map(|field| field.name().as_str()).eq(["moment", "a", "b", "value"])
            );
            let values = batch.column(3).as_primitive::<Float64Type>();
            for at in 0..batch.num_rows() {
                let key = [0, 1, 2].map(|column| batch.column(column).as_string::<i32>().value(at).to_owned());
                *all.entry(key).or_default() += values.value(at);
            }
        }
    }
    all
}

fn bytes(table: &Table) -> Vec<u8> {
    let text = |place: usize| Arc::new(StringArray::from_iter_values(table.keys().map(|key| &key[place]))) as ArrayRef;
    let values = Arc::new(Float64Array::from_iter_values(table.values().copied())) as ArrayRef;
    let columns = [("moment", text(0)), ("a", text(1)), ("b", text(2)), ("value", values)];
    parquet(&RecordBatch::try_from_iter(columns).unwrap())
}

fn predictions(folder: &Folder, model: &str) -> Vec<String> {
    folder.done(&format!("predict all.csv --model {model}")).lines().skip(1).map(str::to_owned).collect()
}

/// The largest difference of two lists of predictions; infinite where names differ.
fn furthest(one: &[String], other: &[String]) -> f64 {
    assert_eq!(one.len(), other.len());
    let apart = |(a, b): (&str, &str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs(),
        _ if a == b => 0.0,
        _ => f64::INFINITY,
    };
    one.iter().zip(other).flat_map(|(a, b)| a.split(',').zip(b.split(','))).map(apart).fold(0.0, f64::max)
}

#[test]
fn sums_that_an_engine_added_up_are_those_of_one_fit() {
    for (fit, class) in [
        ("--learner ridge --set lambda=0.1 --ignore w", false),
        ("--learner ridge --set lambda=0.1 --set intercept=0 --weight w", false),
        ("--learner ridge --set lambda=0.1 --target y,w", false),
        ("--learner pkrr-taylor --kernel gaussian:1 --set lambda=0.01 --weight w", false),
        ("--learner pkrr-fourier --kernel gaussian:1 --set features=20 --set lambda=0.01 --ignore w", false),
        ("--learner ridge --set lambda=0.1 --scale standard --scale-from all.csv --ignore w", false),
        ("--learner ridge --set lambda=0.1 --ignore w", true),
        ("--learner pkrr-taylor --kernel gaussian:1 --set lambda=0.01 --weight w", true),
    ] {
        let folder = Folder::new().with("all.csv", csv(0..ROWS, class));
        let target = if fit.contains("--target") { "" } else { "--target y" };
        folder.done(&format!("fit all.csv {fit} {target} --out whole.mercer"));
        let mut names = Vec::new();
        for (part, rows) in [(0, 0..7), (1, 7..250), (2, 250..ROWS)] {
            fs::write(folder.path(&format!("p{part}.csv")), csv(rows, class)).unwrap();
            folder.done(&format!("fit p{part}.csv {fit} {target} --out p{part}.mercer"));
            folder.done(&format!("merge p{part}.mercer --out p{part}.parquet"));
            names.push(format!("p{part}.parquet"));
        }
        fs::write(folder.path("sum.parquet"), bytes(&added(&folder, &names))).unwrap();
        let told = folder.json("merge sum.parquet --like p0.mercer --out all.mercer");
        assert_eq!(told["rows"].as_u64(), Some(ROWS as u64));
        let expected = predictions(&folder, "whole.mercer");
        assert!(furthest(&predictions(&folder, "all.mercer"), &expected) < 1e-9, "{fit}");
        // Tables merge with each other and with states, and each counts once.
        folder.done("merge p0.parquet p1.mercer p2.parquet --like p1.mercer --out mixed.mercer");
        assert!(furthest(&predictions(&folder, "mixed.mercer"), &expected) < 1e-9, "{fit}");
        // The negative control: without a part the predictions are others.
        folder.done("merge p0.parquet p1.parquet --like p0.mercer --out less.mercer");
        assert!(furthest(&predictions(&folder, "less.mercer"), &expected) > 1e-6, "{fit}");
    }
}

/// As a database has it that has never met this program: ridge on the columns' own names.
#[test]
fn sums_of_sql_are_read() {
    let folder = Folder::new().with("all.csv", csv(0..ROWS, false)).with("first.csv", csv(0..5, false));
    let mut table = Table::new();
    let mut add = |moment: &str, a: &str, b: &str, value: f64| {
        *table.entry([moment, a, b].map(str::to_owned)).or_default() += value;
    };
    for t in 0..ROWS {
        let (x, y, w) = row(t);
        add("rows", "", "", 1.0);
        add("weight", "", "", w);
        for (i, a) in ["a", "b"].into_iter().enumerate() {
            add("z", a, "", w * x[i]);
            add("zz", a, a, w * x[i] * x[i]);
            add("zy", a, "y", w * x[i] * y);
        }
        // In whichever order.
        add("zz", "b", "a", w * x[0] * x[1]);
        add("y", "y", "", w * y);
        add("yy", "y", "", w * y * y);
    }
    let lines = table.iter().map(|([moment, a, b], value)| format!("{moment},{a},{b},{value}\n"));
    let text = std::iter::once("moment,a,b,value\n".to_owned()).chain(lines).collect::<String>();
    let folder = folder.with("sums.csv", &text).with("sums.parquet", bytes(&table));
    let fit = "--learner ridge --set lambda=0.1 --target y --weight w";
    folder.done(&format!("fit all.csv {fit} --out whole.mercer"));
    // Any rows tell the options: five of them.
    folder.done(&format!("fit first.csv {fit} --out like.mercer"));
    let expected = predictions(&folder, "whole.mercer");
    for sums in ["sums.csv", "sums.parquet"] {
        folder.done(&format!("merge {sums} --like like.mercer --out all.mercer"));
        assert!(furthest(&predictions(&folder, "all.mercer"), &expected) < 1e-9, "{sums}");
    }
    let folder =
        folder.with("less.csv", text.replace("zz,b,a,", "zz,b,q,")).with("other.csv", text.replace("value", "v"));
    let merge = |data: &str| format!("merge {data} --like like.mercer --out m.mercer");
    folder.refused(1, &merge("less.csv"), &["less.csv: has no sum zz \"a\" \"b\""]);
    folder.refused(1, &merge("other.csv"), &["other.csv: has no column \"value\""]);
    let rows = |value: &str| text.replace(&format!("rows,,,{ROWS}\n"), &format!("rows,,,{value}\n"));
    for value in ["-1", "2.5", "0"] {
        fs::write(folder.path("rows.csv"), rows(value)).unwrap();
        folder.refused(1, &merge("rows.csv"), &["rows.csv: has", "rows are a whole number"]);
    }
    folder.done("fit first.csv --learner ridge --ignore w --target y --out plain.mercer");
    let said = ["sums.csv: has", "the file of --like has no weights"];
    folder.refused(1, "merge sums.csv --like plain.mercer --out m.mercer", &said);
    folder.refused(2, "merge sums.csv --out m.mercer", &["sums.csv: is a table and no model file", "--like"]);
    fs::copy(folder.path("sums.csv"), folder.path("copy.csv")).unwrap();
    folder.refused(2, &merge("sums.csv sums.csv"), &["given twice"]);
    folder.refused(2, "merge like.mercer --out m.parquet --like all.csv", &["all.csv: is a table and no model file"]);
    // A table of other things is not written over.
    let folder = folder.with(
        "data.parquet",
        parquet(&RecordBatch::try_from_iter([("a", Arc::new(Float64Array::from(vec![1.0])) as ArrayRef)]).unwrap()),
    );
    let before = fs::read(folder.path("data.parquet")).unwrap();
    folder.refused(
        1,
        "merge like.mercer --out data.parquet",
        &["data.parquet: is there already and is no table of sums"],
    );
    assert_eq!(fs::read(folder.path("data.parquet")).unwrap(), before);
}

#[test]
fn a_column_far_from_0_is_told() {
    let rows = (0..50).map(|t| format!("{},{}\n", 1e6 + f64::from(t % 7), t % 5)).collect::<String>();
    let folder = Folder::new().with("p.csv", format!("year,y\n{rows}"));
    folder.done("fit p.csv --learner ridge --target y --out p.mercer");
    let said = folder.run("merge p.mercer --out p.parquet");
    assert!(said.code == Some(0) && said.err.contains("column \"year\" lies so far from 0"), "{}", said.err);
}
