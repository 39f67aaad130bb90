//! From `KEY=VALUE` pairs to the parameters of one learner, and to the learner.

mod members;

use mercer_core::TokenUse;
use mercer_kernels::{AnyKernel, KernelError};
use mercer_learners::Loss;

use self::members::Member;
pub use self::members::split;
use super::error::CatalogueError;
use super::{BuildError, Built, Context, Entry, Key, Kind, Look, Value, Values, entries, nearest};

/// The settings of one learner, before the data are known.
#[derive(Clone, Debug)]
pub struct Settings {
    entry: &'static Entry,
    /// One for each key of the entry, in its order.
    chosen: Vec<SettingChoice>,
}

#[derive(Clone, Debug)]
enum SettingChoice {
    None,
    Number(f64),
    Numbers(Vec<f64>),
    Name(String),
    Members(String, Vec<Member>),
    Kernels(Vec<AnyKernel>),
    /// The rule of the key finds the value in the data.
    Looked(Look),
    /// The value that takes so many microseconds on this machine.
    Time(f64),
    /// Another value than usual, when classes are learnt.
    Unset(Box<SettingChoice>),
}

impl Settings {
    /// The settings that these `KEY=VALUE` pairs make for the learner of the entry, defaults for
    /// the keys that are not among them.
    ///
    /// # Errors
    /// When a pair is not one, a key is unknown or set twice, or a value is not written as one.
    pub fn new<'p>(entry: &'static Entry, pairs: impl IntoIterator<Item = &'p str>) -> Result<Self, CatalogueError> {
        let learner = entry.name;
        let keys: Vec<&str> = entry.keys.iter().map(|key| key.name).collect();
        let mut given: Vec<Option<SettingChoice>> = vec![None; entry.keys.len()];
        for pair in pairs {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(CatalogueError::NotAPair { learner, pair: pair.to_owned(), keys });
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(position) = keys.iter().position(|key| *key == name) else {
                let (key, nearest) = (name.to_owned(), nearest(name, &keys));
                return Err(CatalogueError::UnknownKey { learner, key, nearest, keys });
            };
            let key = &entry.keys[position];
            if given[position].replace(choice(entry, key, value)?).is_some() {
                return Err(CatalogueError::SetTwice { learner, key: key.name });
            }
        }
        let chosen = given.into_iter().zip(entry.keys).map(|(given, key)| match given {
            Some(choice) => Ok(choice),
            None => choice(entry, key, &key.default_text()).map(|usual| SettingChoice::Unset(Box::new(usual))),
        });
        Ok(Self { entry, chosen: chosen.collect::<Result<_, _>>()? })
    }

    /// The learner that they are for.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// True if a value is found in the data, so that [`Context::rows`] should hold the first of
    /// them.
    #[must_use]
    pub fn needs_rows(&self) -> bool {
        fn needs(choice: &SettingChoice) -> bool {
            match choice {
                SettingChoice::Looked(look) => look.needs_rows,
                SettingChoice::Members(_, members) => members.iter().any(Member::needs_rows),
                SettingChoice::Unset(usual) => needs(usual),
                _ => false,
            }
        }
        self.chosen.iter().any(needs)
    }

    /// The tables of whose rows the learner, or one within it, takes the tokens.
    #[must_use]
    pub fn tokens(&self) -> TokenUse {
        let within = self.chosen.iter().filter_map(|choice| match choice.set() {
            SettingChoice::Members(_, members) => members.iter().map(Member::tokens).max(),
            _ => None,
        });
        within.fold(self.entry.tokens, TokenUse::max)
    }

    /// True if the learner, and each one within it, takes tokens: it needs no numbers beside them.
    #[must_use]
    pub fn takes_tokens_alone(&self) -> bool {
        let mut within = self.chosen.iter().filter_map(|choice| match choice.set() {
            SettingChoice::Members(_, members) => Some(members.iter().all(Member::takes_tokens_alone)),
            _ => None,
        });
        self.entry.tokens == TokenUse::Always || within.next().is_some_and(|first| first && within.all(|all| all))
    }

    /// The first key whose value is measured on this machine, so that another run may find another
    /// one.
    #[must_use]
    pub fn measured(&self) -> Option<&'static str> {
        self.entry.keys.iter().zip(&self.chosen).find_map(|(key, choice)| match choice {
            SettingChoice::Time(_) => Some(key.name),
            SettingChoice::Members(_, members) => members.iter().find_map(Member::measured),
            _ => None,
        })
    }

    /// The learner, untrained.
    ///
    /// # Errors
    /// When a value is out of its range for this data, or the learner cannot use the kernel.
    pub fn build(&self, kernel: AnyKernel, context: &Context<'_>) -> Result<Built, CatalogueError> {
        let spec = kernel.to_string();
        self.entry.check_targets(context).map_err(|error| self.refused(error, &spec, context))?;
        let mut parameters: Vec<(&'static str, Value)> = Vec::new();
        let mut members = Vec::new();
        for (key, choice) in self.entry.keys.iter().zip(&self.chosen) {
            let value = self.value(key, choice, &kernel, context, &Values::new(&parameters))?;
            parameters.push((key.name, value));
            if let SettingChoice::Members(_, listed) = choice.set() {
                // A mixture compares predictions by squares: its members predict the targets,
                // whatever these mean.
                let context = &Context { classes: context.classes && key.kind == Kind::Learner, ..*context };
                let built = listed.iter().map(|member| member.build(&kernel, context)).collect::<Result<_, _>>();
                members = built.map_err(|source| CatalogueError::Member {
                    learner: self.entry.name,
                    key: key.name,
                    source: Box::new(source),
                })?;
            }
        }
        match crate::build(self.entry, kernel, context, &Values::new(&parameters), &members) {
            Ok(learner) => Ok(Built { learner, parameters }),
            Err(error) => Err(self.refused(error, &spec, context)),
        }
    }

    fn refused(&self, error: BuildError, kernel: &str, context: &Context<'_>) -> CatalogueError {
        let learner = self.entry.name;
        match error {
            BuildError::Learner(source) => CatalogueError::Learner { learner, source },
            BuildError::Kernel(needs) => CatalogueError::Kernel { learner, kernel: kernel.to_owned(), needs },
            BuildError::TooLarge(what) => CatalogueError::TooLarge { learner, what, dimension: context.dimension },
            BuildError::Outputs { outputs, what } => {
                let can = |entry: &&Entry| {
                    if context.classes { entry.takes.many_classes } else { entry.takes.vectors }
                };
                let instead = entries().iter().filter(can).map(|entry| entry.name).collect();
                CatalogueError::Outputs { learner, outputs, what, instead }
            }
            source => CatalogueError::Entry { learner, source },
        }
    }

    fn value(
        &self,
        key: &Key,
        choice: &SettingChoice,
        kernel: &AnyKernel,
        context: &Context<'_>,
        before: &Values<'_>,
    ) -> Result<Value, CatalogueError> {
        let learner = self.entry.name;
        match choice {
            SettingChoice::None => Ok(Value::None),
            SettingChoice::Name(words) | SettingChoice::Members(words, _) => Ok(Value::Words(words.clone())),
            SettingChoice::Kernels(kernels) => Ok(Value::Kernels(kernels.clone())),
            SettingChoice::Unset(_) if context.classes && key.default_for(context) != key.default() => {
                Ok(key.default_for(context))
            }
            SettingChoice::Unset(usual) => {
                match (self.value(key, usual, kernel, context, before), key.without_data()) {
                    (Err(CatalogueError::NeedsData { .. }), Some(value)) => Ok(value),
                    (value, _) => value,
                }
            }
            SettingChoice::Looked(look) => look.find(kernel, context, before).map_err(|error| match error {
                BuildError::NeedsData(needs) => {
                    CatalogueError::NeedsData { learner, key: key.name, needs, range: key.range }
                }
                error => self.refused(error, &kernel.to_string(), context),
            }),
            SettingChoice::Time(microseconds) => key
                .in_time(*microseconds, context, before)
                .map_err(|error| self.refused(error, &kernel.to_string(), context)),
            SettingChoice::Number(value) if key.kind == Kind::Count => self.whole(key, *value),
            SettingChoice::Number(value) => Ok(Value::Number(*value)),
            SettingChoice::Numbers(numbers) => match (&numbers[..], context.dimension) {
                ([number], _) => Ok(Value::Number(*number)),
                (several, dimension) if several.len() == dimension => Ok(Value::Numbers(numbers.clone())),
                (several, dimension) => {
                    Err(CatalogueError::HowMany { learner, key: key.name, got: several.len(), dimension })
                }
            },
        }
    }

    fn whole(&self, key: &Key, value: f64) -> Result<Value, CatalogueError> {
        // 2⁵³: above it not every whole number is an f64.
        if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) {
            Ok(Value::Whole(value as usize))
        } else {
            Err(CatalogueError::NotWhole { learner: self.entry.name, key: key.name, value, range: key.range })
        }
    }
}

impl SettingChoice {
    /// The choice itself, written or not.
    fn set(&self) -> &Self {
        match self {
            Self::Unset(usual) => usual,
            set => set,
        }
    }
}

/// The kernels of a list: separated by `;` if there is one, otherwise by commas.
fn kernels(list: &str) -> Result<Vec<AnyKernel>, KernelError> {
    let separator = if list.contains(';') { ';' } else { ',' };
    list.split(separator).map(str::trim).filter(|spec| !spec.is_empty()).map(str::parse).collect()
}

/// The microseconds of a time such as `50us` or `0.2 ms`.
fn microseconds(time: &str) -> Option<f64> {
    let (number, unit) = time.split_at(time.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E')?);
    let unit = match unit {
        "us" | "µs" | "μs" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    number.trim().parse::<f64>().ok().map(|number| unit * number)
}

/// The choice that was written for a key.
fn choice(entry: &'static Entry, key: &'static Key, value: &str) -> Result<SettingChoice, CatalogueError> {
    let (learner, name) = (entry.name, key.name);
    let refused = |word| {
        let default = key.default_text();
        let example = if default == "none" { "100".to_owned() } else { default };
        CatalogueError::NoSuchWord { learner, key: name, word, range: key.range, example }
    };
    match (value, key.auto) {
        ("none", _) if key.none.is_some() => return Ok(SettingChoice::None),
        ("none", _) => return Err(refused("none")),
        ("auto", Some(rule)) => return Ok(SettingChoice::Looked(rule.look)),
        ("auto", None) if matches!(key.kind, Kind::Number | Kind::Count) => return Err(refused("auto")),
        _ => {}
    }
    let other_name = || CatalogueError::NotAName { learner, key: name, value: value.to_owned(), range: key.range };
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    if let (true, Some(microseconds)) = (key.takes_time(), microseconds(value)) {
        return Ok(SettingChoice::Time(microseconds));
    }
    match key.kind {
        Kind::Number | Kind::Count => number(value).map(SettingChoice::Number).ok_or_else(other_name),
        Kind::Numbers => {
            value.split(',').map(number).collect::<Option<_>>().map(SettingChoice::Numbers).ok_or_else(other_name)
        }
        Kind::Name(names) if names.contains(&value) => Ok(SettingChoice::Name(value.to_owned())),
        Kind::Name(_) => Err(other_name()),
        Kind::Loss => match value.parse::<Loss>() {
            Ok(loss) if entry.takes.loss(loss) => Ok(SettingChoice::Name(loss.to_string())),
            Ok(_) => Err(other_name()),
            Err(source) => Err(CatalogueError::Loss { learner, key: name, source }),
        },
        Kind::Kernels => match kernels(value) {
            // `median` is a rule that finds a kernel, and is no kernel itself.
            Ok(kernels) if kernels.is_empty() => Err(other_name()),
            Err(KernelError::Unknown(spec)) if spec == "median" => Err(other_name()),
            Ok(kernels) => Ok(SettingChoice::Kernels(kernels)),
            Err(source) => Err(CatalogueError::Kernels { learner, key: name, source }),
        },
        Kind::Members | Kind::Learner => {
            let listed =
                if key.kind == Kind::Learner { Member::one(value).map(|one| vec![one]) } else { Member::list(value) };
            match listed {
                Ok(members) => Ok(SettingChoice::Members(value.to_owned(), members)),
                Err(source) => Err(CatalogueError::Member { learner, key: name, source: Box::new(source) }),
            }
        }
        _ => Err(CatalogueError::Entry { learner, source: BuildError::OtherKind(name) }),
    }
}
