//! The sums of a state as a plain table, a number a row, which any engine adds up.

use std::collections::HashMap;

use mercer_learners::{FeatureMap, FixedMap, MomentSums, RawSums, RidgeMoments};
use mercer_readers::{LabelKind, Labels};

use super::{MOST_CLASSES, MergeError, Moments};

/// One sum over rows, with the names of what is multiplied. Tables of disjoint rows add up by
/// `SELECT moment, a, b, sum(value) … GROUP BY moment, a, b`.
///
/// | `moment` | `value` | `a` | `b` |
/// |---|---|---|---|
/// | `rows` | `n` | | |
/// | `weight` | `Σ ω` | | |
/// | `z` | `Σ ωz_a`, of `ridge` with an intercept alone | feature | |
/// | `zz` | `Σ ωz_a z_b`, each pair once | feature | feature |
/// | `zy` | `Σ ωz_a y_b` | feature | target |
/// | `y` | `Σ ωy_a` | target | |
/// | `yy` | `Σ ωy_a²` | target | |
///
/// The features of `ridge` on plain numbers have the names of the columns, and `x1`, `x2`, … where
/// these have none; all other features are `z1`, `z2`, …. A class is a target that is 1 for its own
/// rows and 0 for the others.
#[derive(Clone, Debug, PartialEq)]
pub struct SumTerm {
    /// What is summed up.
    pub moment: String,
    /// The first factor; empty where there is none.
    pub a: String,
    /// The second factor; empty where there is none.
    pub b: String,
    /// The sum.
    pub value: f64,
}

/// Why a table is not the sums of a fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SumTableError {
    /// A sum that is needed.
    #[error("has no sum {0}; give each of the fit once")]
    Missing(String),
    /// A sum that is there more than once.
    #[error("has the sum {0} twice; add up the rows of one moment, a and b")]
    Twice(String),
    /// A sum of something else.
    #[error("has a sum {0}, which the fit does not have; give the sums of its own features and targets")]
    Unknown(String),
    /// A number of rows that is none.
    #[error("has {rows} rows and a weight of {weight}; rows are a whole number, and no weight is without a row")]
    Rows {
        /// The sum `rows`.
        rows: f64,
        /// The sum `weight`.
        weight: f64,
    },
    /// Sums that no rows have, or too many classes.
    #[error(transparent)]
    Refused(#[from] MergeError),
}

impl From<mercer_learners::Error> for SumTableError {
    fn from(error: mercer_learners::Error) -> Self {
        Self::Refused(error.into())
    }
}

type Key = (String, String, String);

/// The key of a sum.
fn key(moment: &str, a: &str, b: &str) -> Key {
    (moment.to_owned(), a.to_owned(), b.to_owned())
}

fn shown((moment, a, b): &Key) -> String {
    let factors = [a, b].map(|name| if name.is_empty() { String::new() } else { format!(" {name:?}") });
    format!("{moment}{}", factors.concat())
}

/// The sums of a table until they are taken.
struct Terms(HashMap<Key, f64>);

impl Terms {
    fn take(&mut self, moment: &str, a: &str, b: &str) -> Result<f64, SumTableError> {
        let key = key(moment, a, b);
        self.0.remove(&key).ok_or_else(|| SumTableError::Missing(shown(&key)))
    }

    /// The sum over two features, in whichever order.
    fn pair(&mut self, a: &str, b: &str) -> Result<f64, SumTableError> {
        let (one, other) = (self.0.remove(&key("zz", a, b)), self.0.remove(&key("zz", b, a)));
        match (one, other) {
            (Some(_), Some(_)) => Err(SumTableError::Twice(shown(&key("zz", a, b)))),
            (Some(value), None) | (None, Some(value)) => Ok(value),
            (None, None) => Err(SumTableError::Missing(shown(&key("zz", a, b)))),
        }
    }
}

impl Moments {
    /// The features that have names of their own, and whether a last one is always 1.
    fn coordinates(&self) -> (Vec<String>, bool) {
        let map = self.sums.feature_map();
        let (r, columns) = (map.coordinates(), &self.description.features);
        let FixedMap::Identity(identity) = map else { return ((1..=r).map(|i| format!("z{i}")).collect(), false) };
        let inputs = r - usize::from(identity.has_intercept());
        let name = |i: usize| match columns.get(i) {
            Some(name) if self.encoding.is_none() => name.clone(),
            _ if self.encoding.is_none() => format!("x{}", i + 1),
            _ => format!("z{}", i + 1),
        };
        ((0..inputs).map(name).collect(), identity.has_intercept())
    }

    /// The names of the targets.
    fn targets(&self) -> Vec<String> {
        match (&self.classes, &self.description.target_names[..], &self.description.target_name) {
            (Some(classes), ..) => classes.names().to_vec(),
            (None, [], Some(name)) => vec![name.clone()],
            (None, [], None) if self.sums.outputs() == 1 => vec!["y".to_owned()],
            (None, [], None) => (1..=self.sums.outputs()).map(|output| format!("y{output}")).collect(),
            (None, names, _) => names.to_vec(),
        }
    }

    /// The sums about 0 as a table. `½r²`. It does not tell which files they are of.
    ///
    /// # Errors
    /// When the sums do not know `Σ ωy²`.
    pub fn sum_terms(&self) -> Result<Vec<SumTerm>, mercer_learners::Error> {
        let raw = self.sums.sums().raw()?;
        let (features, constant) = self.coordinates();
        let (p, mut terms) = (features.len(), Vec::new());
        let mut add = |moment: &str, a: &str, b: &str, value: f64| {
            terms.push(SumTerm { moment: moment.to_owned(), a: a.to_owned(), b: b.to_owned(), value });
        };
        add("rows", "", "", raw.count);
        add("weight", "", "", raw.weight);
        let row = |i: usize| &raw.gram[i * (i + 1) / 2..];
        for (i, name) in features.iter().enumerate() {
            if constant {
                add("z", name, "", row(p)[i]);
            }
            features[..=i].iter().zip(row(i)).for_each(|(other, value)| add("zz", other, name, *value));
        }
        // Sums of classes have an output before any class is met.
        for (output, target) in self.targets().iter().enumerate() {
            features.iter().zip(&raw.cross[output]).for_each(|(name, value)| add("zy", name, target, *value));
            add("y", target, "", raw.totals[output]);
            add("yy", target, "", raw.squares[output]);
        }
        Ok(terms)
    }

    /// The state of the same fit with the sums of a table, which may have been added up anywhere;
    /// it is of no shard yet ([`close`](Self::close)). A class that has no sums is none.
    ///
    /// # Errors
    /// What is missing, there twice or of another fit, and sums that no rows have.
    pub fn with_sum_terms(&self, terms: impl IntoIterator<Item = SumTerm>) -> Result<Self, SumTableError> {
        let mut all = Terms(HashMap::new());
        for SumTerm { moment, a, b, value } in terms {
            let key = (moment, a, b);
            let told = shown(&key);
            if all.0.insert(key, value).is_some() {
                return Err(SumTableError::Twice(told));
            }
        }
        let (features, constant) = self.coordinates();
        let classes = self.classes.as_ref().map(|known| classes(known, &all)).transpose()?;
        let targets = classes.as_ref().map_or_else(|| self.targets(), |classes| classes.names().to_vec());
        let mut raw =
            RawSums { count: all.take("rows", "", "")?, weight: all.take("weight", "", "")?, ..RawSums::default() };
        check_rows(raw.count, raw.weight)?;
        for (i, name) in features.iter().enumerate() {
            for other in &features[..=i] {
                let value = if other == name { all.take("zz", name, name)? } else { all.pair(other, name)? };
                raw.gram.push(value);
            }
        }
        for target in &targets {
            let mut cross = Vec::new();
            for name in &features {
                cross.push(all.take("zy", name, target)?);
            }
            raw.cross.push(cross);
            raw.totals.push(all.take("y", target, "")?);
            raw.squares.push(all.take("yy", target, "")?);
        }
        if constant {
            for name in &features {
                raw.gram.push(all.take("z", name, "")?);
            }
            raw.gram.push(raw.weight);
            raw.cross.iter_mut().zip(&raw.totals).for_each(|(cross, total)| cross.push(*total));
        }
        if let Some(other) = all.0.keys().min() {
            return Err(SumTableError::Unknown(shown(other)));
        }
        if targets.is_empty() {
            // Without any class there is one output, of zeros.
            raw.cross.push(vec![0.0; features.len() + usize::from(constant)]);
            raw.totals.push(0.0);
            raw.squares.push(0.0);
        }
        let map = self.sums.feature_map().clone();
        let sums = RidgeMoments::from_sums(map.clone(), MomentSums::from_raw(&map, &raw)?, 0.0)?;
        Ok(Self { sums, classes, parts: Vec::new(), ..self.clone() })
    }
}

/// Refuses numbers of rows that are none. A sum that is not finite is refused with all others.
fn check_rows(rows: f64, weight: f64) -> Result<(), SumTableError> {
    if rows < 0.0 || rows % 1.0 > 0.0 || rows < 1.0 && weight > 0.0 {
        return Err(SumTableError::Rows { rows, weight });
    }
    Ok(())
}

/// The classes that a table has sums of, in order, of the kinds that are known.
fn classes(known: &Labels, terms: &Terms) -> Result<Labels, SumTableError> {
    let mut met: Vec<&String> =
        terms.0.keys().filter(|(moment, ..)| moment == "y").map(|(_, class, _)| class).collect();
    met.sort_unstable();
    if met.len() > MOST_CLASSES {
        return Err(MergeError::TooManyClasses { classes: met.len() }.into());
    }
    let kind = |name: &str| known.find(name).map_or_else(|| LabelKind::infer(name), |class| known.kinds()[class]);
    let labels: Labels = met.into_iter().map(|name| (name.clone(), kind(name))).collect::<Vec<_>>().into();
    Ok(labels.select(&labels.sorted()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::FitSpec;

    fn state(rows: std::ops::Range<u32>) -> Result<Moments, Box<dyn std::error::Error>> {
        let spec: FitSpec = "learner=ridge lambda=0.1".parse()?;
        let mut state = spec.start_classes(2, None)?;
        for t in rows {
            let x = [f64::from(t % 7), f64::from(t % 5) - 1.0];
            state.add_label(&x, if x[0] < 3.0 { "low" } else { "high" }, 1.0 + f64::from(t % 3))?;
        }
        state.close((0, 1), 1, Vec::new())?;
        Ok(state)
    }

    /// Sums that an engine would make of two tables.
    fn added(one: Vec<SumTerm>, other: Vec<SumTerm>) -> Vec<SumTerm> {
        let mut all: Vec<SumTerm> = one;
        for term in other {
            let same = |mine: &&mut SumTerm| (&mine.moment, &mine.a, &mine.b) == (&term.moment, &term.a, &term.b);
            match all.iter_mut().find(same) {
                Some(mine) => mine.value += term.value,
                None => all.push(term),
            }
        }
        all
    }

    #[test]
    fn tables_add_up_whatever_classes_they_met() -> Result<(), Box<dyn std::error::Error>> {
        // The second shard meets one class alone.
        let (one, other, whole) = (state(0..40)?, state(42..45)?, state(0..40)?);
        let mut whole = whole;
        whole.merge(&other)?;
        let terms = added(one.sum_terms()?, other.sum_terms()?);
        let found = state(0..1)?.with_sum_terms(terms)?;
        assert_eq!(found.classes, whole.classes);
        for (i, j) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
            assert!((found.sums.gram(i, j) - whole.sums.gram(i, j)).abs() < 1e-10);
        }
        for output in 0..2 {
            let (cross, expected) = (found.sums.cross(output), whole.sums.cross(output));
            assert!(cross.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10));
        }
        Ok(())
    }

    #[test]
    fn what_is_no_table_of_the_fit_is_said() -> Result<(), Box<dyn std::error::Error>> {
        let state = state(0..40)?;
        let terms = state.sum_terms()?;
        let refused = |change: &dyn Fn(&mut Vec<SumTerm>)| {
            let mut changed = terms.clone();
            change(&mut changed);
            state.with_sum_terms(changed).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(refused(&|_| ()), Ok(()));
        let words = |said: Result<(), String>, words: &str| said.is_err_and(|said| said.contains(words));
        assert!(words(refused(&|terms| terms.retain(|term| term.moment != "z")), "no sum z \"x1\""));
        assert!(words(refused(&|terms| terms.push(terms[3].clone())), "twice"));
        let turned = |terms: &mut Vec<SumTerm>| {
            let pair = terms.iter().find(|term| term.moment == "zz" && term.a != term.b).cloned();
            terms.extend(pair.map(|pair| SumTerm { a: pair.b.clone(), b: pair.a.clone(), ..pair }));
        };
        assert!(words(refused(&turned), "the sum zz \"x1\" \"x2\" twice"));
        let other = |terms: &mut Vec<SumTerm>| terms.push(SumTerm { a: "q".to_owned(), ..terms[3].clone() });
        assert!(words(refused(&other), "\"q\""));
        let wrong = |terms: &mut Vec<SumTerm>| {
            terms.iter_mut().for_each(|term| term.value *= if term.a == term.b { 1.0 } else { 90.0 });
        };
        assert!(refused(&wrong).is_err());
        let set = |moment: &'static str, value: f64| {
            move |terms: &mut Vec<SumTerm>| {
                terms.iter_mut().filter(|term| term.moment == moment).for_each(|term| term.value = value);
            }
        };
        for rows in [-1.0, 1.5, 0.0] {
            assert!(words(refused(&set("rows", rows)), "rows are a whole number"), "{rows}");
        }
        assert_eq!(refused(&set("rows", 39.0)), Ok(()));
        Ok(())
    }
}
