//! What was learnt, for people, as JSON and as files.

use std::fmt::Write as _;

use mercer::AnyKernel;
use mercer::kernels::Points;
use mercer::learners::operator::{self, KernelOperator, OperatorLearner, Sogd};

use super::pairs::Pairs;
use crate::cli::failure::Failure;
use crate::cli::output::{Predictions, number};

/// The fields are the JSON object's keys, in its order.
#[derive(serde::Serialize)]
pub(super) struct Report {
    pub(super) n: u64,
    pub(super) dictionary_size: usize,
    pub(super) dictionary_indices: Vec<u64>,
    pub(super) hs_norm: f64,
    pub(super) forced_rejections: u64,
    pub(super) eigenvalues: Vec<Eigenvalue>,
    pub(super) seconds: f64,
    /// Only when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) predictions: Option<Vec<Vec<f64>>>,
}

#[derive(serde::Serialize)]
pub(super) struct Eigenvalue {
    re: f64,
    im: f64,
}

impl From<operator::Eigenvalue> for Eigenvalue {
    fn from(value: operator::Eigenvalue) -> Self {
        Self { re: value.re, im: value.im }
    }
}

/// The rounds of which either side is kept, oldest first.
pub(super) fn kept(inputs: &[u64], outputs: &[u64]) -> Vec<u64> {
    let mut kept: Vec<u64> = inputs.iter().chain(outputs).copied().collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

impl Report {
    /// `full` counts the pairs that only a full dictionary kept out; forecasts are shown if `forecasts`.
    pub(super) fn text(
        &self,
        data: &str,
        pairs: &Pairs,
        (input_kernel, output_kernel): &(String, String),
        full: u64,
        forecasts: bool,
    ) -> String {
        let (d, d_plus) = (pairs.input_dimension(), pairs.state_dimension());
        let mut text = format!("Koopman operator of {data}: {} pairs, x of {d} and x⁺ of {d_plus} numbers\n\n", self.n);
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<24}{value}");
        };
        line("kernel", input_kernel);
        if input_kernel != output_kernel {
            line("kernel on x⁺", output_kernel);
        }
        line("dictionary size", &self.dictionary_size.to_string());
        line("forced rejections", &self.forced_rejections.to_string());
        line("Hilbert–Schmidt norm", &number(self.hs_norm));
        line("seconds", &format!("{}, {} a pair", number(self.seconds), number(self.seconds / self.n.max(1) as f64)));
        if !self.eigenvalues.is_empty() {
            let _ = writeln!(text, "\n  {:>4}  {:<24}{:<24}modulus", "", "eigenvalue", "imaginary part");
            for (i, Eigenvalue { re, im }) in self.eigenvalues.iter().enumerate() {
                let _ =
                    writeln!(text, "  {:>4}  {:<24}{:<24}{}", i + 1, number(*re), number(*im), number(re.hypot(*im)));
            }
        }
        if forecasts && self.predictions.is_some() {
            let _ = write!(text, "\n{}", self.forecast_lines(pairs));
        }
        if full > 0 {
            let _ = writeln!(
                text,
                "\nNote: the dictionary was full when {full} more pairs should have been kept; raise --max-dictionary or --budget"
            );
        }
        text
    }

    /// The forecasts as CSV, under the names of x⁺.
    pub(super) fn forecast_lines(&self, pairs: &Pairs) -> String {
        let mut text = names(&pairs.names()[pairs.input_dimension()..]) + "\n";
        for row in self.predictions.iter().flatten() {
            text += &(numbers(row) + "\n");
        }
        text
    }
}

/// `W`, numbers alone: a row for each output point, a column for each input point.
pub(super) fn write_weights(file: &mut Predictions, operator: &KernelOperator<AnyKernel>) -> Result<(), Failure> {
    let weights = operator.weights();
    for row in weights.chunks(operator.inputs().len().max(1)) {
        file.write(&(numbers(row) + "\n"))?;
    }
    Ok(())
}

/// The pairs kept: index, x, x⁺.
pub(super) fn write_dictionary(
    file: &mut Predictions,
    learner: &Sogd<AnyKernel>,
    pairs: &Pairs,
) -> Result<(), Failure> {
    file.write(&format!("index,{}\n", names(&pairs.names())))?;
    let operator = learner.operator();
    let cells = |points: &Points, rounds: &[u64], round: u64| match rounds.binary_search(&round) {
        Ok(i) => numbers(&points.point(i)),
        Err(_) => ",".repeat(points.dimension() - 1),
    };
    for round in kept(learner.input_rounds(), learner.output_rounds()) {
        let x = cells(operator.inputs(), learner.input_rounds(), round);
        let x_plus = cells(operator.outputs(), learner.output_rounds(), round);
        file.write(&format!("{round},{x},{x_plus}\n"))?;
    }
    Ok(())
}

fn numbers(row: &[f64]) -> String {
    row.iter().map(|value| number(*value)).collect::<Vec<_>>().join(",")
}

/// Names as cells; those that hold a separator or a quote are quoted.
fn names(names: &[String]) -> String {
    let cell = |name: &String| {
        if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    };
    names.iter().map(cell).collect::<Vec<_>>().join(",")
}
