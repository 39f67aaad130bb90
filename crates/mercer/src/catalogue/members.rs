//! Members of a mixture, written `NAME KEY=VALUE …; NAME KEY=VALUE …`.

use mercer_kernels::AnyKernel;
use mercer_learners::AnyRegressor;

use super::Context;
use super::error::CatalogueError;
use super::find;
use super::settings::Settings;

/// A learner of a mixture.
#[derive(Clone, Debug)]
pub(super) struct Member {
    name: String,
    kernel: Option<AnyKernel>,
    settings: Settings,
}

impl Member {
    /// The members that `text` lists, at least one. Each is a learner with its settings, among which `kernel=SPEC` may be one.
    pub(super) fn list(text: &str) -> Result<Vec<Self>, CatalogueError> {
        let members = text.split(';').map(str::trim).filter(|member| !member.is_empty());
        let members: Vec<Self> = members.map(Self::parse).collect::<Result<_, _>>()?;
        if members.is_empty() { Err(CatalogueError::NoMembers) } else { Ok(members) }
    }

    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let mut words = text.split_whitespace();
        let entry = find(words.next().unwrap_or_default())?;
        let (kernels, pairs): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with("kernel="));
        let kernel = match kernels[..] {
            [] => None,
            [spec] => Some(spec["kernel=".len()..].parse().map_err(CatalogueError::MemberKernel)?),
            _ => return Err(CatalogueError::SetTwice { learner: entry.name, key: "kernel" }),
        };
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { name, kernel, settings: Settings::new(entry, pairs)? })
    }

    /// The first key whose value depends on `T`.
    pub(super) fn needs_rounds(&self) -> Option<&'static str> {
        self.settings.needs_rounds()
    }

    /// Whether a value is found in the data.
    pub(super) fn needs_rows(&self) -> bool {
        self.settings.needs_rows()
    }

    /// The learner, untrained, with the name it was given; `kernel` is for members that name none.
    pub(super) fn build(
        &self,
        kernel: &AnyKernel,
        context: &Context<'_>,
    ) -> Result<(String, AnyRegressor<AnyKernel>), CatalogueError> {
        // A mixture compares predictions by squares, so that its members are to predict the targets whatever these mean.
        let context = &Context { classes: false, ..*context };
        let kernel = self.kernel.as_ref().unwrap_or(kernel).clone();
        Ok((self.name.clone(), self.settings.build(kernel, context)?.learner))
    }
}
