//! A graph that grows node by node. A value is known by its name. The numbers of fields and types
//! are those of `onnx.proto`.

use super::message::Message;

/// The version of the file format that came with opset 13.
const FORMAT: i64 = 7;
const OPSET: i64 = 13;
const ML_OPSET: i64 = 2;
const ML: &str = "ai.onnx.ml";
/// Types of attributes.
const WHOLE: i64 = 2;
const TEXTS: i64 = 8;
/// The type of whole elements.
const INT64: i64 = 7;

/// The type of the elements of an input.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Text = 8,
    Double = 11,
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    /// The names of the inputs, which no other value may have.
    taken: Vec<String>,
    values: usize,
}

impl Graph {
    /// A graph whose inputs will have these names.
    pub(super) fn new<'a>(inputs: impl Iterator<Item = &'a str>) -> Self {
        Self { taken: inputs.map(str::to_owned).collect(), ..Self::default() }
    }

    /// A name that no input has.
    fn fresh(&mut self) -> String {
        loop {
            self.values += 1;
            let name = format!("mercer_{}", self.values);
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    /// An input of shape `[rows, 1]`.
    pub(super) fn input(&mut self, name: &str, of: Type) -> String {
        self.inputs.push(column(name, of));
        name.to_owned()
    }

    /// A constant of this shape.
    pub(super) fn doubles(&mut self, shape: &[usize], numbers: &[f64]) -> String {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(shape, Type::Double as i64, &bytes)
    }

    /// A constant number.
    pub(super) fn number(&mut self, number: f64) -> String {
        self.doubles(&[], &[number])
    }

    /// A constant list of one axis.
    pub(super) fn axis(&mut self, axis: i64) -> String {
        self.constant(&[1], INT64, &axis.to_le_bytes())
    }

    /// A tensor of little-endian elements.
    fn constant(&mut self, shape: &[usize], of: i64, bytes: &[u8]) -> String {
        let name = self.fresh();
        let sizes = shape.iter().fold(Message::default(), |tensor, size| tensor.whole(1, *size as i64));
        self.constants.push(sizes.whole(2, of).text(8, &name).bytes(9, bytes));
        name
    }

    /// The output of an operator.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.add(operator, inputs, &[], "")
    }

    /// Columns beside each other.
    pub(super) fn concat(&mut self, blocks: &[&str]) -> String {
        self.add("Concat", blocks, &[whole("axis", 1)], "")
    }

    /// The sum over an axis, which is gone.
    pub(super) fn sum_out(&mut self, value: &str, axis: &str) -> String {
        self.add("ReduceSum", &[value, axis], &[whole("keepdims", 0)], "")
    }

    /// A column for each text: 1 where it is the text, as doubles.
    pub(super) fn one_hot<'a>(&mut self, value: &str, texts: impl Iterator<Item = &'a str>) -> String {
        let name = Message::default().text(1, "cats_strings").whole(20, TEXTS);
        let texts = texts.fold(name, |texts, text| texts.text(9, text));
        let found = self.add("OneHotEncoder", &[value], &[texts, whole("zeros", 1)], ML);
        let axis = self.axis(1);
        let flat = self.node("Squeeze", &[&found, &axis]);
        self.add("Cast", &[&flat], &[whole("to", Type::Double as i64)], "")
    }

    fn add(&mut self, operator: &str, inputs: &[&str], attributes: &[Message], domain: &str) -> String {
        let output = self.fresh();
        self.push(operator, inputs, &output, attributes, domain);
        output
    }

    fn push(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[Message], domain: &str) {
        let inputs = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = inputs.text(2, output).text(4, operator).messages(5, attributes);
        self.nodes.push(node.text(7, domain));
    }

    /// The file of a graph whose output is a value under this name, behind which `_` stands where
    /// an input has the same.
    pub(super) fn finish(mut self, value: &str, name: &str) -> Vec<u8> {
        let mut name = name.to_owned();
        while self.taken.contains(&name) {
            name.push('_');
        }
        self.push("Identity", &[value], &name, &[], "");
        let graph = Message::default().messages(1, &self.nodes).text(2, "mercer").messages(5, &self.constants);
        let graph = graph.messages(11, &self.inputs).message(12, &column(&name, Type::Double));
        let opset = |domain: &str, version| Message::default().text(1, domain).whole(2, version);
        let model = Message::default().whole(1, FORMAT).text(2, "mercer").text(3, env!("CARGO_PKG_VERSION"));
        model.message(7, &graph).messages(8, &[opset("", OPSET), opset(ML, ML_OPSET)]).into_bytes()
    }
}

/// An attribute that is a whole number.
fn whole(name: &str, number: i64) -> Message {
    Message::default().text(1, name).whole(3, number).whole(20, WHOLE)
}

/// A value of shape `[rows, 1]`.
fn column(name: &str, of: Type) -> Message {
    let (rows, one) = (Message::default().text(2, "rows"), Message::default().whole(1, 1));
    let shape = Message::default().messages(1, &[rows, one]);
    let tensor = Message::default().whole(1, of as i64).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}
