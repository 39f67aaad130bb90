//! Rows that look like something else than they are taken for.

/// What the rows of a file are looked at for.
pub(super) enum RowDoubts {
    None,
    /// Rows that are pairs, because nobody told their halves.
    Pairs(RowChanges),
    /// Rows that are states of one trajectory, column by column.
    States(Vec<RunNumbers>),
}

impl RowDoubts {
    pub(super) fn of_pairs() -> Self {
        Self::Pairs(RowChanges::default())
    }

    pub(super) fn of_states(columns: usize) -> Self {
        Self::States(vec![RunNumbers::default(); columns])
    }

    pub(super) fn push_row(&mut self, row: &[f64]) {
        if let Self::States(columns) = self {
            columns.iter_mut().zip(row).for_each(|(column, number)| column.push(*number));
        }
    }

    pub(super) fn push_pair(&mut self, x: &[f64], x_plus: &[f64]) {
        if let Self::Pairs(changes) = self {
            changes.push(x, x_plus);
        }
    }

    /// What they look like, with what takes them so; columns without names have their numbers.
    pub(super) fn told(&self, names: &[String]) -> Option<String> {
        match self {
            Self::None => None,
            Self::Pairs(changes) => changes.are_of_states().then(|| {
                "each row is nearer to the next one than its x to its x⁺: if rows are states, one behind the other, --trajectory \
                 takes them so"
                    .to_owned()
            }),
            Self::States(columns) => {
                let place = columns.iter().position(RunNumbers::are_numbers_of_runs)?;
                let name = names.get(place).cloned().unwrap_or_else(|| (place + 1).to_string());
                Some(format!(
                    "column {name:?} stays as it is for {:.0} rows in the mean and then rises by one, as numbers of trajectories do: \
                     --group {name:?} keeps them apart, and --ignore {name:?} leaves it out",
                    columns[place].mean_stay()
                ))
            }
        }
    }
}

/// How a number of a state changes.
#[derive(Clone, Default)]
pub(super) struct RunNumbers {
    last: Option<f64>,
    rows: u64,
    rises: u64,
    /// True after a number that is not whole or a change by another number.
    is_other: bool,
}

impl RunNumbers {
    /// Rows in the mean from which on a number stays long, and rises from which on this tells.
    const LONG: f64 = 5.0;
    const ENOUGH: u64 = 2;

    fn push(&mut self, number: f64) {
        let change = self.last.map_or(0.0, |last| number - last);
        self.is_other |= number.fract() != 0.0 || !(change == 0.0 || change == 1.0);
        self.rises += u64::from(change == 1.0);
        (self.last, self.rows) = (Some(number), self.rows + 1);
    }

    fn mean_stay(&self) -> f64 {
        self.rows as f64 / (self.rises + 1) as f64
    }

    fn are_numbers_of_runs(&self) -> bool {
        !self.is_other && self.rises >= Self::ENOUGH && self.mean_stay() >= Self::LONG
    }
}

/// Squared changes of each number of a state: from x to x⁺, and from x to that of the next row.
#[derive(Default)]
pub(super) struct RowChanges {
    last: Vec<f64>,
    within: Vec<f64>,
    between: Vec<f64>,
    rows: u64,
}

impl RowChanges {
    /// Rows from which on they are believed, and how much smaller those between rows are then.
    const ENOUGH: u64 = 50;
    const SMALLER: f64 = 0.25;

    fn push(&mut self, x: &[f64], x_plus: &[f64]) {
        let state = x_plus.len();
        self.within.resize(state, 0.0);
        self.between.resize(state, 0.0);
        for (j, (now, next)) in x.iter().zip(x_plus).enumerate() {
            self.within[j] += (next - now).powi(2);
            self.between[j] += self.last.get(j).map_or(0.0, |last| (now - last).powi(2));
        }
        self.last.clear();
        self.last.extend_from_slice(&x[..state]);
        self.rows += 1;
    }

    /// True if each row is nearer to the next one than its x to its x⁺: no pairs of a state with
    /// its successor are so, in order of time or in any other.
    fn are_of_states(&self) -> bool {
        let near = |(between, within): (&f64, &f64)| *between < Self::SMALLER * within;
        self.rows >= Self::ENOUGH && self.between.iter().zip(&self.within).all(near)
    }
}
