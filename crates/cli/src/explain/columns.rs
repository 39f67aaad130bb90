//! The columns that inputs come from.

use mercer_session::Session;

use crate::data::rows::TimedSource;

/// Name of what columns share.
pub(super) const SHARED: &str = "(other categories)";

/// The columns, each of which has one effect, and the column of each input.
pub(super) struct Players {
    pub(super) names: Vec<String>,
    pub(super) of_inputs: Vec<usize>,
}

impl Players {
    pub(super) fn of(model: &Session, rows: &TimedSource) -> Self {
        let Some(encoding) = &model.encoding else {
            let d = model.dimension();
            let known = &model.description.features;
            let known = if known.len() == d { known } else { rows.input().columns().features() };
            let name = |j: usize| known.get(j).cloned().unwrap_or_else(|| (j + 1).to_string());
            return Self { names: (0..d).map(name).collect(), of_inputs: (0..d).collect() };
        };
        let columns = encoding.schema().columns();
        let mut players = Self { names: Vec::new(), of_inputs: Vec::new() };
        let mut places: Vec<Option<usize>> = Vec::new();
        for source in encoding.transform().sources() {
            let player = places.iter().position(|place| *place == source).unwrap_or_else(|| {
                players.names.push(source.map_or(SHARED.to_owned(), |place| columns[place].name.clone()));
                places.push(source);
                places.len() - 1
            });
            players.of_inputs.push(player);
        }
        players
    }
}
