//! The lines of `docs/scale.md` in SQL, as they are written.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;

const PAGE: &str = include_str!("../../../docs/scale.md");
const ROWS: usize = 600;
const CUSTOMERS: i64 = 5;

/// The table `rows` of the page.
fn rows() -> RecordBatch {
    let number = |times: f64| -> ArrayRef {
        Arc::new((0..ROWS).map(|t| Some((times * t as f64).sin())).collect::<Float64Array>())
    };
    let customer: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS as i64).map(|t| t % CUSTOMERS)));
    let columns = [("customer", customer), ("x1", number(0.37)), ("x2", number(0.71)), ("y", number(0.4))];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test]
async fn the_lines_of_the_page_run() -> Result<()> {
    let block = PAGE.split("```sql\n").skip(1).find(|block| block.contains("mercer_fit")).unwrap();
    let block = block.split("```").next().unwrap();
    let lines: Vec<&str> = block.split(';').map(str::trim).filter(|line| !line.is_empty()).collect();
    let context = SessionContext::new();
    mercer_datafusion::register(&context);
    let table = rows();
    context.register_table("rows", Arc::new(MemTable::try_new(table.schema(), vec![vec![table]])?))?;
    let mut counts = Vec::new();
    for line in &lines {
        let made = context.sql(line).await?.collect().await?;
        assert!(made.iter().all(|batch| batch.columns().iter().all(|column| column.null_count() == 0)), "{line}");
        counts.push(made.iter().map(RecordBatch::num_rows).sum::<usize>());
        // The lines below join the models of the line that makes one for each customer.
        if line.contains("GROUP BY") {
            context.register_table("models", Arc::new(MemTable::try_new(made[0].schema(), vec![made])?))?;
        }
    }
    assert_eq!(counts, [1, CUSTOMERS as usize, ROWS, 1]);
    Ok(())
}
