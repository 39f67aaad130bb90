//! An ONNX graph in doubles: one input of shape `[rows, 1]` for each column, a double for a number
//! and a text for a category, and the output `prediction` of shape `[rows, 1]`.

mod graph;
mod message;

use mercer_encoding::{CategoryRecipe, ColumnRecipe, NumberRecipe, ScaleRecipe};
use mercer_session::function::{Affine, Waves};

use crate::formula::{Formula, FormulaColumn};
use crate::parts::{FAR, KernelTerms, Part, Profile};
use graph::{Graph, Type};

/// The file. A gap is NaN or an empty text; the prediction is NaN for a category that the model has
/// not met, and for a gap where it takes none.
pub(crate) fn write(formula: &Formula) -> Vec<u8> {
    let mut graph = Graph::new(formula.columns.iter().map(|column| column.name.as_str()));
    let mut encoded = Encoded::default();
    for FormulaColumn { name, recipe } in &formula.columns {
        match recipe {
            ColumnRecipe::Number(recipe) => encoded.number(&mut graph, name, recipe),
            ColumnRecipe::Category(recipe) => encoded.category(&mut graph, name, recipe),
        }
    }
    let x = encoded.inputs(&mut graph, formula.inputs);
    let mut sum = graph.doubles(&[1, 1], &[0.0]);
    for part in &formula.parts {
        let value = value(&mut graph, &x, part);
        sum = graph.node("Add", &[&sum, &value]);
    }
    if let Some(bound) = formula.bound {
        let (low, high) = (graph.number(-bound), graph.number(bound));
        sum = graph.node("Clip", &[&sum, &low, &high]);
    }
    let (scale, offset) = (graph.number(formula.scale), graph.number(formula.offset));
    let scaled = graph.node("Mul", &[&sum, &scale]);
    let mut prediction = graph.node("Add", &[&scaled, &offset]);
    for known in &encoded.known {
        let none = graph.number(f64::NAN);
        prediction = graph.node("Where", &[known, &prediction, &none]);
    }
    graph.finish(&prediction, "prediction")
}

/// The columns as they become inputs.
#[derive(Default)]
struct Encoded {
    /// Blocks of columns.
    blocks: Vec<String>,
    /// The input of each of their columns; none of an empty text.
    places: Vec<Option<usize>>,
    /// Truth values: whether there is a prediction.
    known: Vec<String>,
}

impl Encoded {
    fn number(&mut self, graph: &mut Graph, name: &str, recipe: &NumberRecipe) {
        let v = graph.input(name, Type::Double);
        let (infinity, size) = (graph.number(f64::INFINITY), graph.node("Abs", &[&v]));
        let is_number = graph.node("Less", &[&size, &infinity]);
        let scaled = match recipe.scale {
            ScaleRecipe::AsItIs => v,
            ScaleRecipe::Zero => graph.number(0.0),
            ScaleRecipe::Bent { centre, scale } => {
                let u = shifted(graph, &v, centre, scale);
                bent(graph, &u)
            }
            ScaleRecipe::Range { low, width } => {
                let share = shifted(graph, &v, low, width);
                let (two, one) = (graph.number(2.0), graph.number(1.0));
                let twice = graph.node("Mul", &[&share, &two]);
                let u = graph.node("Sub", &[&twice, &one]);
                bent(graph, &u)
            }
        };
        let gap = graph.number(recipe.gap.unwrap_or(0.0));
        self.push(graph.node("Where", &[&is_number, &scaled, &gap]), Some(recipe.input));
        if recipe.gap.is_none() {
            self.known.push(is_number.clone());
        }
        if let Some(input) = recipe.gap_input {
            let (no, yes) = (graph.number(0.0), graph.number(1.0));
            self.push(graph.node("Where", &[&is_number, &no, &yes]), Some(input));
        }
    }

    fn category(&mut self, graph: &mut Graph, name: &str, recipe: &CategoryRecipe) {
        let text = graph.input(name, Type::Text);
        let texts = recipe.known.iter().map(|(name, _)| name.as_str()).chain([""]);
        let places = graph.one_hot(&text, texts);
        // None of them is 1 where the text is none of them.
        let axis = graph.axis(1);
        let count = graph.node("ReduceSum", &[&places, &axis]);
        let nothing = graph.number(0.5);
        self.known.push(graph.node("Greater", &[&count, &nothing]));
        self.blocks.push(places);
        self.places.extend(recipe.known.iter().map(|(_, input)| Some(*input)).chain([recipe.gap_input]));
    }

    fn push(&mut self, block: String, place: Option<usize>) {
        self.blocks.push(block);
        self.places.push(place);
    }

    /// All inputs, `[rows, d]`.
    fn inputs(&self, graph: &mut Graph, d: usize) -> String {
        let blocks: Vec<&str> = self.blocks.iter().map(String::as_str).collect();
        let all = graph.concat(&blocks);
        let is_at = |place: &Option<usize>, j: usize| f64::from(u8::from(*place == Some(j)));
        let places: Vec<f64> = self.places.iter().flat_map(|place| (0..d).map(move |j| is_at(place, j))).collect();
        let places = graph.doubles(&[self.places.len(), d], &places);
        graph.node("MatMul", &[&all, &places])
    }
}

/// `(v − centre)/scale`
fn shifted(graph: &mut Graph, v: &str, centre: f64, scale: f64) -> String {
    let (centre, scale) = (graph.number(centre), graph.number(scale));
    let difference = graph.node("Sub", &[v, &centre]);
    graph.node("Div", &[&difference, &scale])
}

/// What lies beyond 4 is bent: `4 + 4/(4/e + 1)` for `4 + e`.
fn bent(graph: &mut Graph, u: &str) -> String {
    let (none, one, four) = (graph.number(0.0), graph.number(1.0), graph.number(4.0));
    let (sign, size) = (graph.node("Sign", &[u]), graph.node("Abs", &[u]));
    let above = graph.node("Sub", &[&size, &four]);
    let beyond = graph.node("Max", &[&above, &none]);
    let inverse = graph.node("Div", &[&four, &beyond]);
    let more = graph.node("Add", &[&inverse, &one]);
    let added = graph.node("Div", &[&four, &more]);
    let near = graph.node("Min", &[&size, &four]);
    let size = graph.node("Add", &[&near, &added]);
    graph.node("Mul", &[&sign, &size])
}

/// The value of a part at inputs `x`.
fn value(graph: &mut Graph, x: &str, part: &Part) -> String {
    match part {
        Part::Kernels(KernelTerms { weights, .. }) if weights.is_empty() => graph.doubles(&[1, 1], &[0.0]),
        Part::Kernels(KernelTerms { profile, weights, centres }) => {
            let k = kernels(graph, x, *profile, centres);
            let weights = graph.doubles(&[weights.len(), 1], weights);
            graph.node("MatMul", &[&k, &weights])
        }
        Part::Waves(Waves { frequencies, cosines, sines }) => {
            let angle = product(graph, x, frequencies);
            let mut half = |wave: &str, weights: &[f64]| {
                let (value, weights) = (graph.node(wave, &[&angle]), graph.doubles(&[weights.len(), 1], weights));
                graph.node("MatMul", &[&value, &weights])
            };
            let (cosines, sines) = (half("Cos", cosines), half("Sin", sines));
            graph.node("Add", &[&cosines, &sines])
        }
        Part::Affine(Affine { offset, slopes, centres }) => {
            let centres = graph.doubles(&[1, centres.len()], centres);
            let (by, slopes) = (graph.node("Sub", &[x, &centres]), graph.doubles(&[slopes.len(), 1], slopes));
            let (value, offset) = (graph.node("MatMul", &[&by, &slopes]), graph.number(*offset));
            graph.node("Add", &[&value, &offset])
        }
    }
}

/// `x` by each of some vectors, `[rows, J]`.
fn product(graph: &mut Graph, x: &str, vectors: &[Vec<f64>]) -> String {
    let d = vectors.first().map_or(0, Vec::len);
    let columns: Vec<f64> = (0..d).flat_map(|j| vectors.iter().map(move |vector| vector[j])).collect();
    let columns = graph.doubles(&[d, vectors.len()], &columns);
    graph.node("MatMul", &[x, &columns])
}

/// `‖c − x‖²` of each point, `[rows, J]`. Differences are squared, for the products of a matrix
/// cancel.
fn squared_distance(graph: &mut Graph, x: &str, centres: &[Vec<f64>]) -> String {
    let d = centres[0].len();
    let centres = graph.doubles(&[1, centres.len(), d], &centres.concat());
    let (one, last) = (graph.axis(1), graph.axis(2));
    let x = graph.node("Unsqueeze", &[x, &one]);
    let by = graph.node("Sub", &[&centres, &x]);
    let squared = graph.node("Mul", &[&by, &by]);
    graph.sum_out(&squared, &last)
}

/// `k(c, x)` of each point, `[rows, J]`.
fn kernels(graph: &mut Graph, x: &str, profile: Profile, centres: &[Vec<f64>]) -> String {
    match profile {
        Profile::Gaussian { rate } => {
            let (s, rate) = (squared_distance(graph, x, centres), graph.number(rate));
            let scaled = graph.node("Mul", &[&s, &rate]);
            exp_of_minus(graph, &scaled)
        }
        Profile::Laplace { rate } => {
            let r = scaled_distance(graph, x, rate, centres);
            exp_of_minus(graph, &r)
        }
        Profile::Matern32 { rate } => {
            let r = scaled_distance(graph, x, rate, centres);
            let (one, exp) = (graph.number(1.0), exp_of_minus(graph, &r));
            let factor = graph.node("Add", &[&r, &one]);
            graph.node("Mul", &[&factor, &exp])
        }
        Profile::Matern52 { rate } => {
            let r = scaled_distance(graph, x, rate, centres);
            let (one, three) = (graph.number(1.0), graph.number(3.0));
            let squared = graph.node("Mul", &[&r, &r]);
            let (third, first) = (graph.node("Div", &[&squared, &three]), graph.node("Add", &[&r, &one]));
            let (factor, exp) = (graph.node("Add", &[&first, &third]), exp_of_minus(graph, &r));
            graph.node("Mul", &[&factor, &exp])
        }
        Profile::Polynomial { degree, offset } => {
            let p = product(graph, x, centres);
            let (offset, degree) = (graph.number(offset), graph.number(f64::from(degree)));
            let base = graph.node("Add", &[&p, &offset]);
            graph.node("Pow", &[&base, &degree])
        }
    }
}

/// `min(rate ‖c − x‖, FAR)`
fn scaled_distance(graph: &mut Graph, x: &str, rate: f64, centres: &[Vec<f64>]) -> String {
    let s = squared_distance(graph, x, centres);
    let (distance, rate, far) = (graph.node("Sqrt", &[&s]), graph.number(rate), graph.number(FAR));
    let scaled = graph.node("Mul", &[&distance, &rate]);
    graph.node("Min", &[&scaled, &far])
}

fn exp_of_minus(graph: &mut Graph, r: &str) -> String {
    let minus = graph.node("Neg", &[r]);
    graph.node("Exp", &[&minus])
}
