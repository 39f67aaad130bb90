//! Roles of the columns of a table with cells or keys: a feature, the target, or nothing that is
//! looked at.

use crate::choice::{ColumnChoice, ColumnMatch, TargetColumn};
use crate::error::{Column, DataError};
use crate::options::{ReadOptions, Targets};

/// A column's part in a row. The cells of a row are those of the features, then those of the
/// targets, or of the label, and then that of the weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// The cell of that place, from 0.
    Value(usize),
    /// The cell of that place, a label: a text, whatever it looks like.
    Label(usize),
    /// Its cells are not looked at.
    Ignored,
}

/// The roles of all columns.
pub(crate) struct ColumnPlan {
    roles: Vec<Role>,
    /// The columns of the cells of a row, in their order.
    cells: Vec<usize>,
    /// Number of features among them.
    dimension: usize,
    /// Number of targets among them, behind the features.
    targets: usize,
}

/// Facts of the plan about each row, at hand for every row.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Features.
    pub(crate) dimension: usize,
    /// Cells.
    pub(crate) width: usize,
    /// Targets that are numbers.
    pub(crate) numbers: usize,
    pub(crate) targeted: bool,
    pub(crate) weighted: bool,
}

impl Shape {
    pub(crate) fn new(plan: &ColumnPlan) -> Self {
        let (targeted, weighted) = (!plan.targets().is_empty(), plan.weight().is_some());
        Self { dimension: plan.dimension(), width: plan.width(), numbers: plan.numbers(), targeted, weighted }
    }
}

/// The targets that the options look for, where they name the features or not.
fn sought(options: &ReadOptions, named: bool) -> Vec<TargetColumn> {
    let by_name = options.target_name.clone().filter(|_| named).map(TargetColumn::Name);
    match by_name.as_ref().unwrap_or(&options.target) {
        TargetColumn::Several(choices) => choices.iter().cloned().map(TargetColumn::from).collect(),
        one => vec![one.clone()],
    }
}

impl ColumnPlan {
    /// Finds out what the options say of `columns` columns, or of those of these names. The target
    /// is a label if the options say so; if they leave it open, it is a number until
    /// [`read_labels`](Self::read_labels).
    pub(crate) fn new(
        file: &str,
        columns: usize,
        names: Option<&[String]>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let find = |choice: &ColumnChoice| find(file, (columns, names), choice, false);
        let mut taken = vec![false; columns];
        for choice in &options.ignore {
            taken[find(choice)?] = true;
        }
        let named = options.features.iter().cloned().map(ColumnChoice::Name).filter(|_| names.is_some());
        let mut cells: Vec<usize> = named.map(|name| find(&name)).collect::<Result<_, DataError>>()?;
        cells.iter().for_each(|&column| taken[column] = true);
        let chosen = !cells.is_empty();
        let weight = options.weight.as_ref().map(|choice| take_weight(file, find(choice)?, choice, &mut taken));
        let weight = weight.transpose()?;
        // What is left for the targets and, unless features were named, for those.
        let free = |taken: &[bool]| (0..columns).filter(|&column| !taken[column]).collect::<Vec<_>>();
        let left = free(&taken);
        let sought = sought(options, chosen);
        let (targeted, fewest) = match options.features_alone {
            Some(expected) => (!chosen && left.len() == expected + sought.len(), 1),
            None if options.target == TargetColumn::None => (false, 1),
            None => (true, 1 + sought.len()),
        };
        // The weight counts: whether it is wanted for something else is told below.
        if left.len() + cells.len() + usize::from(weight.is_some()) < fewest {
            return Err(DataError::NoFeatures { file: file.to_owned() });
        }
        // The last of those that are left, or of all.
        let last = left.last().copied().unwrap_or(columns.saturating_sub(1));
        let sought = if targeted { &*sought } else { &[] };
        let mut targets = take_targets(file, (columns, names), (sought, last), weight, &mut taken)?;
        if !chosen {
            cells = free(&taken);
        }
        if cells.is_empty() {
            return Err(DataError::NoFeatures { file: file.to_owned() });
        }
        if options.features_alone.is_some() {
            targets.clear();
        }
        let (dimension, targeted) = (cells.len(), targets.len());
        cells.extend(targets.into_iter().chain(weight.map(|(column, _)| column)));
        let mut roles = vec![Role::Ignored; columns];
        cells.iter().enumerate().for_each(|(place, &column)| roles[column] = Role::Value(place));
        for choice in &options.unread {
            roles[find(choice)?] = Role::Ignored;
        }
        let mut plan = Self { roles, cells, dimension, targets: targeted };
        if options.targets == Targets::Labels {
            plan.read_labels(file)?;
        }
        Ok(plan)
    }

    /// The plan of rows whose features are tokens: a target alone.
    pub(crate) fn of_tokens(file: &str, targets: Targets) -> Result<Self, DataError> {
        let mut plan = Self { roles: vec![Role::Value(0)], cells: vec![0], dimension: 0, targets: 1 };
        if targets == Targets::Labels {
            plan.read_labels(file)?;
        }
        Ok(plan)
    }

    /// Has the target, if there is one, read as a label.
    pub(crate) fn read_labels(&mut self, file: &str) -> Result<(), DataError> {
        match *self.targets() {
            [] => {}
            [column] => self.roles[column] = Role::Label(self.dimension),
            _ => return Err(DataError::LabelsOfSeveral { file: file.to_owned(), targets: self.targets }),
        }
        Ok(())
    }

    /// Number of targets that are numbers.
    pub(crate) fn numbers(&self) -> usize {
        if self.label().is_some() { 0 } else { self.targets }
    }

    pub(crate) fn columns(&self) -> usize {
        self.roles.len()
    }

    /// Number of cells in a row.
    pub(crate) fn width(&self) -> usize {
        self.cells.len()
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The columns of the features, in the features' order.
    pub(crate) fn features(&self) -> &[usize] {
        &self.cells[..self.dimension]
    }

    /// The columns of the targets, in the targets' order; one if it is a label.
    pub(crate) fn targets(&self) -> &[usize] {
        &self.cells[self.dimension..self.dimension + self.targets]
    }

    /// The column of the label.
    pub(crate) fn label(&self) -> Option<usize> {
        self.targets().first().copied().filter(|&column| matches!(self.roles[column], Role::Label(_)))
    }

    pub(crate) fn weight(&self) -> Option<usize> {
        self.cells.get(self.dimension + self.targets).copied()
    }

    /// The column of a cell.
    pub(crate) fn column(&self, cell: usize) -> usize {
        self.cells[cell]
    }

    /// True if there are columns that are not looked at.
    pub(crate) fn ignores(&self) -> bool {
        self.roles.contains(&Role::Ignored)
    }

    #[inline]
    pub(crate) fn role(&self, column: usize) -> Role {
        self.roles[column]
    }
}

/// The column of the weights.
fn take_weight<'a>(
    file: &str,
    column: usize,
    choice: &'a ColumnChoice,
    taken: &mut [bool],
) -> Result<(usize, &'a ColumnChoice), DataError> {
    if std::mem::replace(&mut taken[column], true) {
        return Err(DataError::WeightTaken { file: file.to_owned(), weight: choice.clone() });
    }
    Ok((column, choice))
}

/// The columns of the targets, which nothing else has taken; `last` is that of a target without a
/// name.
fn take_targets(
    file: &str,
    (columns, names): (usize, Option<&[String]>),
    (sought, last): (&[TargetColumn], usize),
    weight: Option<(usize, &ColumnChoice)>,
    taken: &mut [bool],
) -> Result<Vec<usize>, DataError> {
    let mut targets = Vec::new();
    for choice in sought {
        let column = match choice.choice() {
            Some(choice) => find(file, (columns, names), &choice, true)?,
            None => last,
        };
        if targets.contains(&column) {
            let column = Column { number: column + 1, name: names.map(|names| names[column].clone()) };
            return Err(DataError::TargetRepeated { file: file.to_owned(), column });
        }
        if let Some((_, weight)) = weight.filter(|(weight, _)| *weight == column) {
            return Err(DataError::WeightTaken { file: file.to_owned(), weight: weight.clone() });
        }
        if std::mem::replace(&mut taken[column], true) {
            return Err(DataError::TargetTaken { file: file.to_owned(), target: choice.clone() });
        }
        targets.push(column);
    }
    Ok(targets)
}

/// The column that is meant, from 0; `target` says that it is to be the target.
fn find(
    file: &str,
    (columns, names): (usize, Option<&[String]>),
    choice: &ColumnChoice,
    target: bool,
) -> Result<usize, DataError> {
    let file = file.to_owned();
    match choice.find(columns, names) {
        ColumnMatch::Once(place) => Ok(place),
        ColumnMatch::Never => {
            let (column, names) = (choice.clone(), names.map(<[String]>::to_vec));
            Err(DataError::ColumnNotFound { file, column, target, columns, names })
        }
        ColumnMatch::Twice(first, second) => {
            let (name, first, second) = (choice.text(), first + 1, second + 1);
            Err(DataError::ColumnAmbiguous { file, name, target, first, second })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_resolve() {
        let names = ["a", "b", "b", "c"].map(str::to_owned);
        let resolve = |text: &str| find("f", (4, Some(&names)), &text.parse().unwrap(), true);
        assert_eq!(resolve("1").unwrap(), 0);
        assert_eq!(resolve("c").unwrap(), 3);
        assert_eq!(
            resolve("b").unwrap_err().to_string(),
            "f: columns 2 and 3 are both named \"b\"; choose the target by number"
        );
        let listed = "it has 4 columns, counted from 1: \"a\", \"b\", \"b\", \"c\"";
        assert_eq!(resolve("z").unwrap_err().to_string(), format!("f: no target column \"z\"; {listed}"));
        assert_eq!(resolve("0").unwrap_err().to_string(), format!("f: no target column 0; {listed}"));
        assert_eq!(resolve("5").unwrap_err().to_string(), format!("f: no target column 5; {listed}"));
        // A number is a name first.
        let years = ["1990", "3", "1995"].map(str::to_owned);
        let resolve = |text: &str| find("f", (3, Some(&years)), &text.parse().unwrap(), true);
        assert_eq!(["1995", "3", "2"].map(|text| resolve(text).unwrap()), [2, 1, 1]);
        assert!(resolve("2000").unwrap_err().to_string().starts_with("f: no target column 2000; it has 3 columns"));
        let nameless = find("f", (4, None), &ColumnChoice::Name("c".into()), true).unwrap_err().to_string();
        assert_eq!(nameless, "f: no target column \"c\"; it has 4 columns without names, counted from 1");
    }
}
