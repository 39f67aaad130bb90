//! Mercer's models as functions of [DataFusion](https://datafusion.apache.org).
//!
//! | function | what it gives |
//! |---|---|
//! | `mercer_fit(y, x1, …, xd, 'options')` | aggregate: a model file as binary, the same that `mercer fit` writes |
//! | `mercer_predict(model, x1, …, xd)` | scalar: the prediction of a model for a row |
//! | `mercer_evaluate(model, y, x1, …, xd)` | aggregate: rows, mean squared and absolute error, R² of a model |
//!
//! `options` are those of `mercer fit` in one text: `'learner=pkrr-taylor kernel=gaussian:4 degree=2 lambda=0.1'`. A row with a null is left out, as
//! SQL's own regressions do; a group without rows has the model null; a number that is not finite
//! is an error. The state of a fit is its sums, so partitions, spilled groups and executors add up:
//! the result is that of one pass to rounding.
//!
//! ```no_run
//! # async fn example() -> datafusion::error::Result<()> {
//! use datafusion::prelude::*;
//! let context = SessionContext::new();
//! mercer_datafusion::register(&context);
//! context.register_parquet("rows", "rows.parquet", ParquetReadOptions::default()).await?;
//! context.sql("SELECT mercer_fit(y, a, b, 'learner=ridge') FROM rows").await?.show().await?;
//! # Ok(())
//! # }
//! ```

mod evaluate;
mod fit;
mod numbers;
mod predict;
pub mod sql;
mod state;

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::prelude::SessionContext;

pub use evaluate::MercerEvaluate;
pub use fit::MercerFit;
pub use predict::MercerPredict;

/// The aggregate functions.
pub fn aggregates() -> Vec<Arc<AggregateUDF>> {
    vec![Arc::new(AggregateUDF::from(MercerFit::default())), Arc::new(AggregateUDF::from(MercerEvaluate::default()))]
}

/// The scalar functions.
pub fn scalars() -> Vec<Arc<ScalarUDF>> {
    vec![Arc::new(ScalarUDF::from(MercerPredict::default()))]
}

/// Makes the functions known to a session.
pub fn register(context: &SessionContext) {
    aggregates().into_iter().for_each(|function| context.register_udaf((*function).clone()));
    scalars().into_iter().for_each(|function| context.register_udf((*function).clone()));
}
