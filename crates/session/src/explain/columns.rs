//! The columns that inputs come from, each of which has one effect.

use crate::Session;

/// Name of what columns share.
pub const SHARED: &str = "(other categories)";

/// Columns by name, and the column of each input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExplainedColumns {
    names: Vec<String>,
    of_inputs: Vec<usize>,
}

impl ExplainedColumns {
    /// The columns of a model: those of its table, or one for each input, by the name that the
    /// model knows, else by that among `others`, else by its number from 1.
    pub(super) fn new(model: &Session, others: &[String]) -> Self {
        let Some(encoding) = &model.encoding else {
            let d = model.dimension();
            let known = &model.description.features;
            let known = if known.len() == d { known } else { others };
            let name = |j: usize| known.get(j).cloned().unwrap_or_else(|| (j + 1).to_string());
            return Self { names: (0..d).map(name).collect(), of_inputs: (0..d).collect() };
        };
        let columns = encoding.schema().columns();
        let (mut names, mut of_inputs, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for source in encoding.transform().sources() {
            let column = places.iter().position(|place| *place == source).unwrap_or_else(|| {
                names.push(source.map_or(SHARED.to_owned(), |place| columns[place].name.clone()));
                places.push(source);
                places.len() - 1
            });
            of_inputs.push(column);
        }
        Self { names, of_inputs }
    }

    /// Their names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The column of each input of the learner.
    pub(super) fn of_inputs(&self) -> &[usize] {
        &self.of_inputs
    }
}
