//! A learner that is given with its settings in one word.

use std::ffi::OsString;

use mercer_registry::catalogue::split;

/// The words of a command line in which a learner that is given with settings,
/// `--learner 'NAME KEY=VALUE …'`, has them in options of their own: `--kernel SPEC` for
/// kernel=SPEC, and `--set KEY=VALUE`.
pub(crate) fn spelled_out(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut all, mut follows, mut ended) = (Vec::new(), false, false);
    for word in words {
        ended |= word == "--";
        let spec = word.to_str().filter(|_| !ended);
        let spec = if follows { spec } else { spec.and_then(|word| word.strip_prefix("--learner=")) };
        follows = !ended && word == "--learner";
        let Some(spec) = spec else {
            all.push(word);
            continue;
        };
        let mut parts = split(spec, char::is_whitespace).filter(|part| !part.is_empty());
        let name = parts.next().unwrap_or_default();
        all.push(if word == spec { name.into() } else { format!("--learner={name}").into() });
        all.extend(parts.map(|part| match part.strip_prefix("kernel=") {
            Some(kernel) => format!("--kernel={kernel}").into(),
            None => format!("--set={part}").into(),
        }));
    }
    all
}
