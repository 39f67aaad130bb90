//! What each column of a table with cells or keys is: a feature, the target, or nothing that is looked at.

use crate::error::DataError;
use crate::options::{ColumnChoice, ReadOptions, TargetColumn};

/// A column's part in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// The feature of that number, from 0.
    Feature(usize),
    Target,
    /// Its cells are not looked at.
    Ignored,
}

/// The roles of all columns.
pub(crate) struct Plan {
    roles: Vec<Role>,
    /// The columns of the features, in the features' order.
    features: Vec<usize>,
    target: Option<usize>,
}

impl Plan {
    /// Finds out what the options say of `columns` columns, or of those of these names.
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
        let mut wanted = Vec::new();
        if let Some(names) = names {
            for feature in &options.features {
                let column = find(file, columns, Some(names), &ColumnChoice::Name(feature.clone()))?;
                roles[column] = Some(Role::Feature(wanted.len()));
                wanted.push(column);
            }
        }
        let chosen = !wanted.is_empty();
        // What is left for the target and, unless features were named, for those.
        let free = |roles: &[Option<Role>]| (0..columns).filter(|&column| roles[column].is_none()).collect::<Vec<_>>();
        let left = free(&roles);
        let (sought, fewest) = match options.features_alone {
            Some(expected) => (!chosen && left.len() == expected + 1, 1),
            None => (options.target != TargetColumn::None, 2 - usize::from(options.target == TargetColumn::None)),
        };
        if left.len() + wanted.len() < fewest {
            return Err(DataError::NoFeatures { file: file.to_owned() });
        }
        let by_name = options.target_name.clone().filter(|_| chosen).map(TargetColumn::Name);
        let wanted_target = by_name.as_ref().unwrap_or(&options.target);
        let mut target = None;
        if sought {
            let column = match (wanted_target, left.last()) {
                (TargetColumn::Last | TargetColumn::None, Some(&last)) => last,
                (choice, _) => choice.resolve(file, columns, names)?,
            };
            if roles[column].is_some() {
                return Err(DataError::TargetTaken { file: file.to_owned(), target: wanted_target.clone() });
            }
            target = options.features_alone.is_none().then_some(column);
            roles[column] = Some(if target.is_some() { Role::Target } else { Role::Ignored });
        }
        if !chosen {
            wanted = free(&roles);
            for (slot, &column) in wanted.iter().enumerate() {
                roles[column] = Some(Role::Feature(slot));
            }
        }
        if wanted.is_empty() {
            return Err(DataError::NoFeatures { file: file.to_owned() });
        }
        let roles = roles.into_iter().map(|role| role.unwrap_or(Role::Ignored)).collect();
        Ok(Self { roles, features: wanted, target })
    }

    pub(crate) fn columns(&self) -> usize {
        self.roles.len()
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.features.len()
    }

    pub(crate) fn target(&self) -> Option<usize> {
        self.target
    }

    /// Whether there are columns that are not looked at.
    pub(crate) fn ignores(&self) -> bool {
        self.features.len() + usize::from(self.target.is_some()) < self.roles.len()
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

/// The column that is meant, from 0.
fn find(file: &str, columns: usize, names: Option<&[String]>, choice: &ColumnChoice) -> Result<usize, DataError> {
    let missing = || DataError::ColumnNotFound {
        file: file.to_owned(),
        column: choice.clone(),
        columns,
        names: names.map(<[String]>::to_vec),
    };
    match choice {
        ColumnChoice::Index(number) => number.checked_sub(1).filter(|&column| column < columns).ok_or_else(missing),
        ColumnChoice::Name(name) => {
            let mut found = names.unwrap_or_default().iter().enumerate().filter(|(_, other)| *other == name);
            let (first, _) = found.next().ok_or_else(missing)?;
            match found.next() {
                None => Ok(first),
                Some((second, _)) => Err(DataError::ColumnAmbiguous {
                    file: file.to_owned(),
                    name: name.clone(),
                    first: first + 1,
                    second: second + 1,
                }),
            }
        }
    }
}
