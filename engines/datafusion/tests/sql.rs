//! The functions in SQL: the same model as one pass in the library, for one partition and several,
//! groups, windows, and what is refused.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StructArray};
use datafusion::arrow::datatypes::{Field, Float64Type, Schema};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use mercer::RegressorExt;
use mercer::fit::FitSpec;
use mercer::learners::{Rows, Targets};
use mercer::model::Moments;

const TAYLOR: &str = "learner=pkrr-taylor kernel=gaussian:1.5 degree=3 lambda=0.1";

/// Columns a, b, y, a group and a gap in every 50th row of a.
fn columns(rows: std::ops::Range<usize>) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<i64>) {
    let a: Vec<f64> = rows.clone().map(|t| (t as f64 * 0.37).sin()).collect();
    let b: Vec<f64> = rows.clone().map(|t| (t as f64 * 0.71).cos()).collect();
    let y =
        rows.clone().map(|t| (2.0 * a[t - rows.start] - b[t - rows.start]).sin() + 0.1 * (t as f64).cos()).collect();
    (a, b, y, rows.map(|t| (t % 7) as i64).collect())
}

fn batch(rows: std::ops::Range<usize>) -> RecordBatch {
    let (a, b, y, group) = columns(rows.clone());
    let gaps: Float64Array = a.iter().zip(rows).map(|(a, t)| if t % 50 == 49 { None } else { Some(*a) }).collect();
    let whole = |values: Vec<f64>| Arc::new(Float64Array::from(values)) as ArrayRef;
    let columns: [(&str, ArrayRef); 4] =
        [("a", Arc::new(gaps)), ("b", whole(b)), ("y", whole(y)), ("g", Arc::new(Int64Array::from(group)))];
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.map(|(_, column)| column).to_vec()).unwrap()
}

/// 3000 rows in so many partitions, batches of 128 rows, an empty partition among them.
fn context(partitions: usize, memory: Option<usize>) -> Result<SessionContext> {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(128);
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(memory) = memory {
        runtime = runtime.with_memory_limit(memory, 1.0);
    }
    let context = SessionContext::new_with_config_rt(config, runtime.build_arc()?);
    mercer_datafusion::register(&context);
    let cut = |part: usize| 3000 * part / partitions;
    let chunks = |part: usize| {
        let (from, to) = (cut(part), cut(part + 1));
        (from..to).step_by(128).map(|first| batch(first..to.min(first + 128))).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<RecordBatch>> = (0..partitions).map(chunks).collect();
    all.push(Vec::new());
    let table = MemTable::try_new(all[0][0].schema(), all)?;
    context.register_table("rows", Arc::new(table))?;
    Ok(context)
}

async fn collect(context: &SessionContext, sql: &str) -> Result<RecordBatch> {
    let batches = context.sql(sql).await?.collect().await?;
    let schema = batches[0].schema();
    Ok(datafusion::arrow::compute::concat_batches(&schema, &batches)?)
}

/// The sums of the rows that `keep` keeps and that have no gap.
fn one_pass(options: &str, keep: impl Fn(usize) -> bool) -> Moments {
    let (a, b, y, _) = columns(0..3000);
    let (mut x, mut targets) = (Vec::new(), Vec::new());
    for t in (0..3000).filter(|t| t % 50 != 49 && keep(*t)) {
        x.extend([a[t], b[t]]);
        targets.push(y[t]);
    }
    let mut moments = options.parse::<FitSpec>().unwrap().start(2, 1, None).unwrap();
    moments.sums.add_rows(Rows::new(&x, 2, Targets::numbers(&targets)).unwrap()).unwrap();
    moments
}

fn check(model: &[u8], expected: &Moments) {
    let (ours, theirs) = (Moments::from_bytes(model).unwrap(), expected);
    assert_eq!(ours.rows() as f64, theirs.sums.count());
    let (ours, theirs) = (ours.fit().unwrap().task.learner, theirs.fit().unwrap().task.learner);
    for t in 0..50 {
        let x = [(t as f64 * 0.3).sin(), (t as f64 * 0.9).sin()];
        let (a, b) = (ours.predict(&x).unwrap(), theirs.predict(&x).unwrap());
        assert!((a - b).abs() < 1e-8, "{a} for {b}");
    }
}

fn binary(batch: &RecordBatch, row: usize) -> Vec<u8> {
    batch.column_by_name("model").unwrap().as_binary::<i32>().value(row).to_vec()
}

#[tokio::test]
async fn a_fit_is_one_pass_whatever_the_partitions() -> Result<()> {
    let fourier = "learner=pkrr-fourier kernel=gaussian:1.5 features=20 seed=3 lambda=0.2";
    for options in [TAYLOR, fourier, "learner=ridge", "learner=pkawv-taylor kernel=gaussian:2"] {
        for partitions in [1, 2, 5] {
            let context = context(partitions, None)?;
            let made =
                collect(&context, &format!("SELECT mercer_fit(y, a, b, '{options}') AS model FROM rows")).await?;
            check(&binary(&made, 0), &one_pass(options, |_| true));
            let described = Moments::from_bytes(&binary(&made, 0)).unwrap().description;
            assert_eq!((described.features, described.target_name), (vec!["a".into(), "b".into()], Some("y".into())));
        }
    }
    Ok(())
}

#[tokio::test]
async fn groups_filters_and_windows_have_models_of_their_own() -> Result<()> {
    for (partitions, memory) in [(1, None), (2, None), (2, Some(40 << 20))] {
        let context = context(partitions, memory)?;
        let sql = format!(
            "SELECT g, mercer_fit(y, a, b, '{TAYLOR}') FILTER (WHERE b > -0.5) AS model FROM rows GROUP BY g ORDER BY g"
        );
        let made = collect(&context, &sql).await?;
        assert_eq!(made.num_rows(), 7);
        let (_, b, _, group) = columns(0..3000);
        for row in 0..7 {
            check(&binary(&made, row), &one_pass(TAYLOR, |t| group[t] == row as i64 && b[t] > -0.5));
        }
        // A group without a complete row has no model; a row without a model, or with a gap, no
        // prediction.
        let sql = format!("SELECT mercer_fit(y, a, b, '{TAYLOR}') AS model FROM rows WHERE a IS NULL GROUP BY g");
        let made = collect(&context, &sql).await?;
        assert!(made.num_rows() > 0 && made.column(0).null_count() == made.num_rows());
        let sql = format!(
            "WITH fits AS (SELECT g, mercer_fit(y, a, b, '{TAYLOR}') AS model FROM rows GROUP BY g)
             SELECT mercer_evaluate(model, y, a, b) AS e, count(mercer_predict(model, a, b)) AS n, sum(mercer_predict(model, a, b)) AS s
             FROM rows JOIN fits USING (g)"
        );
        let made = collect(&context, &sql).await?;
        assert_eq!(
            made.column_by_name("n").unwrap().as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0),
            2940
        );
        let errors: &StructArray = made.column_by_name("e").unwrap().as_struct();
        let told = |name: &str| errors.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(0);
        assert!(told("rows") == 2940.0 && told("r2") > 0.9 && (told("rmse").powi(2) - told("mse")).abs() < 1e-12);
    }
    let context = context(1, None)?;
    let sql = format!(
        "SELECT t, mercer_fit(y, a, b, '{TAYLOR}') OVER (ORDER BY t ROWS BETWEEN 199 PRECEDING AND CURRENT ROW) AS model
         FROM (SELECT row_number() OVER () AS t, * FROM rows) ORDER BY t"
    );
    let made = collect(&context, &sql).await?;
    check(&binary(&made, 2999), &one_pass(TAYLOR, |t| t >= 2800));
    check(&binary(&made, 99), &one_pass(TAYLOR, |t| t < 100));
    Ok(())
}

/// As many groups as rows: the engine hands rows on without summing them up.
#[tokio::test]
async fn nearly_as_many_groups_as_rows_are_handed_on() -> Result<()> {
    let context = context(2, None)?;
    context
        .sql("SET datafusion.execution.skip_partial_aggregation_probe_rows_threshold = 100")
        .await?
        .collect()
        .await?;
    let sql = format!("SELECT b, mercer_fit(y, a, b, '{TAYLOR}') AS model FROM rows GROUP BY b");
    let made = collect(&context, &sql).await?;
    assert_eq!(made.num_rows(), 3000);
    assert_eq!(made.column_by_name("model").unwrap().null_count(), 60);
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_is_said() -> Result<()> {
    let context = context(2, None)?;
    for (sql, words) in [
        ("SELECT mercer_fit(y, a, 'learner=krls') FROM rows", "there is no learner \"krls\" that adds up"),
        ("SELECT mercer_fit(y, a, 'lambda=1') FROM rows", "name no learner"),
        ("SELECT mercer_fit(y, 'learner=ridge') FROM rows", "at least one feature"),
        ("SELECT mercer_fit(y, a, b) FROM rows", "the options are needed there"),
        ("SELECT mercer_fit(y, a, 'learner=ridge' || g) FROM rows", "the same for all rows"),
        ("SELECT mercer_fit(y, arrow_cast('x', 'Utf8'), 'learner=ridge') FROM rows", "argument 2 is Utf8"),
        ("SELECT mercer_fit(y, a / (b - b), 'learner=ridge') FROM rows", "coordinate 0 of the input is"),
        ("SELECT mercer_fit(y, a, 'learner=pkrr-frozen kernel=laplace:1') FROM rows", "needs points"),
        ("SELECT mercer_predict(a, b) FROM rows", "a model is needed"),
        ("SELECT mercer_predict(arrow_cast('x', 'Binary'), b) FROM rows", "not a model file"),
        (
            "SELECT mercer_predict((SELECT mercer_fit(y, a, 'learner=ridge') FROM rows), a, b) FROM rows",
            "takes 1 features, and 2 are given",
        ),
    ] {
        let refused = collect(&context, sql).await.map(drop).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|error| error.contains(words)), "{sql}: {refused:?}");
    }
    Ok(())
}
