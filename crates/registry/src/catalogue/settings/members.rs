//! Learners inside learners: members of a mixture, written `NAME KEY=VALUE …; NAME KEY=VALUE …`,
//! and the one of a wrapper.
//!
//! What stands in parentheses belongs together:
//! `restart learner=(krls lambda=0.1) delta=0.01; fogd`.

use crate::AnyRegressor;
use mercer_core::{DEEPEST, TokenUse};
use mercer_kernels::AnyKernel;

use super::super::error::CatalogueError;
use super::super::{Context, find};
use super::Settings;

/// A learner of a mixture.
#[derive(Clone, Debug)]
pub(in crate::catalogue) struct Member {
    name: String,
    kernel: Option<AnyKernel>,
    settings: Settings,
}

impl Member {
    /// The members that `text` lists, at least one. Each is a learner with its settings, among
    /// which `kernel=SPEC` may be one.
    pub(super) fn list(text: &str) -> Result<Vec<Self>, CatalogueError> {
        let members = split(inner(text)?, |c| c == ';').map(str::trim).filter(|member| !member.is_empty());
        let members: Vec<Self> = members.map(Self::parse).collect::<Result<_, _>>()?;
        if let Some(member) = members.iter().map(|member| member.settings.entry()).find(|entry| !entry.takes.numbers())
        {
            return Err(CatalogueError::OnlyClassifies { member: member.name });
        }
        if members.is_empty() { Err(CatalogueError::NoMembers) } else { Ok(members) }
    }

    /// The one learner that `text` names, perhaps in parentheses.
    pub(super) fn one(text: &str) -> Result<Self, CatalogueError> {
        let mut learners = split(inner(text)?, |c| c == ';').filter(|learner| !learner.trim().is_empty());
        match (learners.next(), learners.next()) {
            (Some(learner), None) => Self::parse(learner),
            _ => Err(CatalogueError::NotOneLearner(text.to_owned())),
        }
    }

    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let words = || split(text, char::is_whitespace).filter(|word| !word.is_empty());
        let entry = find(words().next().unwrap_or_default())?;
        let (kernels, pairs): (Vec<&str>, Vec<&str>) = words().skip(1).partition(|word| word.starts_with("kernel="));
        let kernel = match kernels[..] {
            [] => None,
            [spec] => Some(spec["kernel=".len()..].parse().map_err(CatalogueError::MemberKernel)?),
            _ => return Err(CatalogueError::SetTwice { learner: entry.name, key: "kernel" }),
        };
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { name, kernel, settings: Settings::new(entry, pairs)? })
    }

    /// True if a value is found in the data.
    pub(super) fn needs_rows(&self) -> bool {
        self.settings.needs_rows()
    }

    /// The tables of whose rows it takes the tokens.
    pub(super) fn tokens(&self) -> TokenUse {
        self.settings.tokens()
    }

    /// True if it needs no numbers beside tokens.
    pub(super) fn takes_tokens_alone(&self) -> bool {
        self.settings.takes_tokens_alone()
    }

    /// The first key whose value is measured on this machine.
    pub(super) fn measured(&self) -> Option<&'static str> {
        self.settings.measured()
    }

    /// The learner, untrained, with the name it was given; `kernel` is for members that name none.
    pub(super) fn build(
        &self,
        kernel: &AnyKernel,
        context: &Context<'_>,
    ) -> Result<(String, AnyRegressor<AnyKernel>), CatalogueError> {
        let kernel = self.kernel.as_ref().unwrap_or(kernel).clone();
        Ok((self.name.clone(), self.settings.build(kernel, context)?.learner))
    }
}

/// The text in the parentheses that `text` is in, or the text if it is in none.
fn inner(text: &str) -> Result<&str, CatalogueError> {
    let depth = |(depth, deepest): (usize, usize), c| match c {
        '(' => (depth + 1, deepest.max(depth + 1)),
        ')' => (depth.saturating_sub(1), deepest),
        _ => (depth, deepest),
    };
    // A model file may not be nested more deeply either.
    if text.chars().fold((0, 0), depth).1 > DEEPEST {
        return Err(CatalogueError::TooDeep);
    }
    Ok(text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text))
}

/// The parts of `text` between separators that stand in no parentheses: how lists of learners, and
/// the words of one, are written.
pub fn split(text: &str, separates: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && separates(c)
    })
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn parentheses_hold_together() {
        let parts = |text: &'static str| split(text, |c| c == ';').collect::<Vec<_>>();
        assert_eq!(parts("a; b (c; (d;e)); f"), ["a", " b (c; (d;e))", " f"]);
        assert_eq!(parts("a);b"), ["a)", "b"]);
        assert_eq!(parts("(a;b"), ["(a;b"]);
    }
}
