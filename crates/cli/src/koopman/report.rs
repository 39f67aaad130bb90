//! The report on an operator, for people, as JSON and as files.

use std::fmt::Write as _;

use mercer_kernels::AnyKernel;
use mercer_kernels::Points;
use mercer_koopman::KernelOperator;

use super::pairs::PairLayout;
use crate::report::failure::Failure;
use crate::report::output::{Predictions, digits, number};

/// The fields are the JSON object's keys, in its order.
#[derive(serde::Serialize)]
pub(super) struct KoopmanReport {
    pub(super) pairs: u64,
    pub(super) dictionary_size: usize,
    pub(super) dictionary_indices: Vec<u64>,
    pub(super) hs_norm: f64,
    pub(super) forced_rejections: u64,
    /// Pairs of this run that only a full dictionary kept out.
    pub(super) full_rejections: u64,
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

impl From<mercer_koopman::Eigenvalue> for Eigenvalue {
    fn from(value: mercer_koopman::Eigenvalue) -> Self {
        Self { re: value.re, im: value.im }
    }
}

/// The rounds of which either side is kept, oldest first.
pub(super) fn kept(rounds: &[Vec<u64>; 2]) -> Vec<u64> {
    let mut kept: Vec<u64> = rounds.concat();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Facts about the run that a person is told.
pub(super) struct KoopmanRun<'a> {
    /// The name of the pairs, as the user gave it.
    pub(super) data: &'a str,
    /// Pairs learnt in it.
    pub(super) learnt: u64,
    /// Pairs of it that were kept out although one side of them was new.
    pub(super) one_sided: u64,
    /// True if a signal has ended it.
    pub(super) stopped: bool,
}

impl KoopmanReport {
    /// Forecasts are shown if `forecasts`.
    pub(super) fn text(
        &self,
        run: &KoopmanRun<'_>,
        operator: &KernelOperator<AnyKernel>,
        layout: &PairLayout,
        forecasts: bool,
    ) -> String {
        let KoopmanRun { data, learnt, one_sided, stopped } = *run;
        let (input_kernel, output_kernel) = (operator.input_kernel().to_string(), operator.output_kernel().to_string());
        let (d, d_plus) = (layout.input_dimension, layout.state_dimension);
        let mut text =
            format!("Koopman operator of {data}: {} pairs, x of {d} and x⁺ of {d_plus} numbers\n\n", self.pairs);
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<24}{value}");
        };
        line("kernel", &input_kernel);
        if input_kernel != output_kernel {
            line("kernel on x⁺", &output_kernel);
        }
        if learnt < self.pairs {
            line("pairs of this run", &format!("{learnt}, behind {} that the model had learnt", self.pairs - learnt));
        }
        line("dictionary size", &self.dictionary_size.to_string());
        line("forced rejections", &self.forced_rejections.to_string());
        line("Hilbert–Schmidt norm", &digits(self.hs_norm));
        line("seconds", &format!("{}, {} a pair", digits(self.seconds), digits(self.seconds / learnt.max(1) as f64)));
        if !self.eigenvalues.is_empty() {
            let _ = writeln!(text, "\n  {:>4}  {:<24}{:<24}modulus", "", "eigenvalue", "imaginary part");
            for (i, Eigenvalue { re, im }) in self.eigenvalues.iter().enumerate() {
                let _ =
                    writeln!(text, "  {:>4}  {:<24}{:<24}{}", i + 1, digits(*re), digits(*im), digits(re.hypot(*im)));
            }
        }
        if forecasts && self.predictions.is_some() {
            let _ = write!(text, "\n{}", self.forecast_lines(layout));
        }
        if self.full_rejections > 0 {
            let _ = writeln!(
                text,
                "\nNote: the dictionary was full when {} more pairs should have been kept; raise max_dictionary or budget (--set)",
                self.full_rejections
            );
        }
        // Some are nothing unusual.
        if one_sided > learnt / 50 {
            let _ = writeln!(
                text,
                "\nNote: {one_sided} pairs were left out although one of their points was new, because the other point depends on the kept ones (--rank-guard); \
                 --set dictionary_shape=rectangular keeps the new side"
            );
        }
        if stopped {
            text += "\nNote: ended by a signal; the same command with --resume goes on from here\n";
        }
        text
    }

    /// The forecasts as CSV, under the names of x⁺.
    pub(super) fn forecast_lines(&self, layout: &PairLayout) -> String {
        let mut text = names(&layout.names()[layout.input_dimension..]) + "\n";
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
    operator: &KernelOperator<AnyKernel>,
    rounds: &[Vec<u64>; 2],
    layout: &PairLayout,
) -> Result<(), Failure> {
    file.write(&format!("index,{}\n", names(&layout.names())))?;
    let cells = |points: &Points, rounds: &[u64], round: u64| match rounds.binary_search(&round) {
        Ok(i) => numbers(&points.point(i)),
        Err(_) => ",".repeat(points.dimension() - 1),
    };
    for round in kept(rounds) {
        let x = cells(operator.inputs(), &rounds[0], round);
        let x_plus = cells(operator.outputs(), &rounds[1], round);
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
