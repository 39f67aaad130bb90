//! What each column of a table with cells or keys is: a feature, the target, or nothing that is
//! looked at.

use crate::choice::{ColumnChoice, Found, TargetColumn};
use crate::error::{Column, DataError};
use crate::options::{ReadOptions, Targets};

/// A column's part in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// The feature of that number, from 0.
    Feature(usize),
    /// The target of that number, from 0.
    Target(usize),
    /// The target, read as a label.
    Label,
    Weight,
    /// Its cells are not looked at.
    Ignored,
}

/// What a row has beside its features.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The targets that are numbers, in their order; those of a row come behind what is there.
    pub(crate) targets: Vec<f64>,
    /// The canonical label of the last row.
    pub(crate) label: String,
    /// The weight of the last row, where there are weights.
    pub(crate) weight: f64,
}

/// The roles of all columns.
pub(crate) struct Plan {
    roles: Vec<Role>,
    /// The columns of the features, in the features' order.
    features: Vec<usize>,
    /// The columns of the targets, in the targets' order; one if it is a label.
    targets: Vec<usize>,
    weight: Option<usize>,
}

impl Plan {
    /// Finds out what the options say of `columns` columns, or of those of these names. The target
    /// is a label if the options say so; if they leave it open, it is a number until
    /// [`read_labels`](Self::read_labels).
    pub(crate) fn new(
        file: &str,
        columns: usize,
        names: Option<&[String]>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut roles = vec![None; columns];
        for choice in &options.ignore {
            let column = find(file, columns, names, choice)?;
            roles[column] = Some(Role::Ignored);
        }
        let named = options.features.iter().cloned().map(ColumnChoice::Name).filter(|_| names.is_some());
        let mut wanted: Vec<usize> =
            named.map(|name| find(file, columns, names, &name)).collect::<Result<_, DataError>>()?;
        give_features(&wanted, &mut roles);
        let chosen = !wanted.is_empty();
        let mut weight = None;
        if let Some(choice) = &options.weight {
            let column = find(file, columns, names, choice)?;
            if roles[column].is_some() {
                return Err(DataError::WeightTaken { file: file.to_owned(), weight: choice.clone() });
            }
            roles[column] = Some(Role::Weight);
            weight = Some(column);
        }
        // What is left for the targets and, unless features were named, for those.
        let free = |roles: &[Option<Role>]| (0..columns).filter(|&column| roles[column].is_none()).collect::<Vec<_>>();
        let left = free(&roles);
        let by_name = options.target_name.clone().filter(|_| chosen).map(TargetColumn::Name);
        let wanted_target = by_name.as_ref().unwrap_or(&options.target);
        let sought = match wanted_target {
            TargetColumn::Several(choices) => choices.iter().cloned().map(TargetColumn::from).collect(),
            one => vec![one.clone()],
        };
        let (targeted, fewest) = match options.features_alone {
            Some(expected) => (!chosen && left.len() == expected + sought.len(), 1),
            None if options.target == TargetColumn::None => (false, 1),
            None => (true, 1 + sought.len()),
        };
        // The weight counts: whether it is wanted for something else is told below.
        if left.len() + wanted.len() + usize::from(weight.is_some()) < fewest {
            return Err(DataError::NoFeatures { file: file.to_owned() });
        }
        let mut targets = Vec::new();
        for choice in sought.iter().filter(|_| targeted) {
            let column = match (choice, left.last()) {
                (TargetColumn::Last | TargetColumn::None, Some(&last)) => last,
                (choice, _) => resolve(choice, file, columns, names)?,
            };
            if targets.contains(&column) {
                let column = Column { number: column + 1, name: names.map(|names| names[column].clone()) };
                return Err(DataError::TargetRepeated { file: file.to_owned(), column });
            }
            if let (Some(Role::Weight), Some(weight)) = (roles[column], &options.weight) {
                return Err(DataError::WeightTaken { file: file.to_owned(), weight: weight.clone() });
            }
            if roles[column].is_some() {
                return Err(DataError::TargetTaken { file: file.to_owned(), target: choice.clone() });
            }
            roles[column] = Some(match options.features_alone {
                None => Role::Target(targets.len()),
                Some(_) => Role::Ignored,
            });
            targets.push(column);
        }
        if options.features_alone.is_some() {
            targets.clear();
        }
        if !chosen {
            wanted = free(&roles);
            give_features(&wanted, &mut roles);
        }
        if wanted.is_empty() {
            return Err(DataError::NoFeatures { file: file.to_owned() });
        }
        let mut roles: Vec<Role> = roles.into_iter().map(|role| role.unwrap_or(Role::Ignored)).collect();
        for choice in &options.unread {
            roles[find(file, columns, names, choice)?] = Role::Ignored;
        }
        let mut plan = Self { roles, features: wanted, targets, weight };
        if options.targets == Targets::Labels {
            plan.read_labels(file)?;
        }
        Ok(plan)
    }

    /// How many targets are numbers.
    pub(crate) fn numbers(&self) -> usize {
        if self.label().is_some() { 0 } else { self.targets.len() }
    }

    /// Has the target, if there is one, read as a label.
    pub(crate) fn read_labels(&mut self, file: &str) -> Result<(), DataError> {
        match self.targets[..] {
            [] => {}
            [column] => self.roles[column] = Role::Label,
            _ => return Err(DataError::LabelsOfSeveral { file: file.to_owned(), targets: self.targets.len() }),
        }
        Ok(())
    }

    pub(crate) fn columns(&self) -> usize {
        self.roles.len()
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.features.len()
    }

    /// The columns of the targets, in the targets' order; one if it is a label.
    pub(crate) fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// The column of the label.
    pub(crate) fn label(&self) -> Option<usize> {
        self.targets.first().copied().filter(|&column| self.roles[column] == Role::Label)
    }

    pub(crate) fn weight(&self) -> Option<usize> {
        self.weight
    }

    /// Whether there are columns that are not looked at.
    pub(crate) fn ignores(&self) -> bool {
        self.roles.contains(&Role::Ignored)
    }

    #[inline]
    pub(crate) fn role(&self, column: usize) -> Role {
        self.roles[column]
    }

    /// The columns of the features, in the features' order.
    pub(crate) fn features(&self) -> &[usize] {
        &self.features
    }
}

/// Makes the columns features, in this order.
fn give_features(columns: &[usize], roles: &mut [Option<Role>]) {
    columns.iter().enumerate().for_each(|(slot, &column)| roles[column] = Some(Role::Feature(slot)));
}

/// The column that is meant, from 0.
fn find(file: &str, columns: usize, names: Option<&[String]>, choice: &ColumnChoice) -> Result<usize, DataError> {
    match choice.find(columns, names) {
        Found::Once(place) => Ok(place),
        Found::Never => Err(DataError::ColumnNotFound {
            file: file.to_owned(),
            column: choice.clone(),
            columns,
            names: names.map(<[String]>::to_vec),
        }),
        Found::Twice(first, second) => Err(DataError::ColumnAmbiguous {
            file: file.to_owned(),
            name: choice.text(),
            first: first + 1,
            second: second + 1,
        }),
    }
}

/// The position (from 0) among `columns` columns of these names.
fn resolve(target: &TargetColumn, file: &str, columns: usize, names: Option<&[String]>) -> Result<usize, DataError> {
    let missing = || DataError::TargetNotFound {
        file: file.to_owned(),
        target: target.clone(),
        columns,
        names: names.map(<[String]>::to_vec),
    };
    let Some(choice) = target.choice() else { return columns.checked_sub(1).ok_or_else(missing) };
    match choice.find(columns, names) {
        Found::Once(place) => Ok(place),
        Found::Never => Err(missing()),
        Found::Twice(first, second) => {
            let name = choice.text();
            Err(DataError::TargetAmbiguous { file: file.to_owned(), name, first: first + 1, second: second + 1 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_resolve() {
        let names = ["a", "b", "b", "c"].map(str::to_owned);
        let resolve = |text: &str| super::resolve(&text.parse().unwrap(), "f", 4, Some(&names));
        assert_eq!(super::resolve(&TargetColumn::Last, "f", 4, None).unwrap(), 3);
        assert_eq!(resolve("1").unwrap(), 0);
        assert_eq!(resolve("c").unwrap(), 3);
        assert_eq!(
            resolve("b").unwrap_err().to_string(),
            "f: columns 2 and 3 are both named \"b\"; choose the target by number"
        );
        let listed = "it has 4 columns, counted from 1: a, b, b, c";
        assert_eq!(resolve("z").unwrap_err().to_string(), format!("f: no target column \"z\"; {listed}"));
        assert_eq!(resolve("0").unwrap_err().to_string(), format!("f: no target column 0; {listed}"));
        assert_eq!(resolve("5").unwrap_err().to_string(), format!("f: no target column 5; {listed}"));
        // A number is a name first.
        let years = ["1990", "3", "1995"].map(str::to_owned);
        let resolve = |text: &str| super::resolve(&text.parse().unwrap(), "f", 3, Some(&years));
        assert_eq!(["1995", "3", "2"].map(|text| resolve(text).unwrap()), [2, 1, 1]);
        assert!(resolve("2000").unwrap_err().to_string().starts_with("f: no target column 2000; it has 3 columns"));
        let nameless = super::resolve(&TargetColumn::Name("c".into()), "f", 4, None).unwrap_err().to_string();
        assert_eq!(nameless, "f: no target column \"c\"; it has 4 columns without names, counted from 1");
    }
}
