//! The classes that two shards met, in one list.

use mercer_readers::Labels;

use super::MergeError;

/// Most classes of sums: each has an output of its own.
pub const MOST_CLASSES: usize = 1000;

/// The classes of two states in sorted order ([`Labels::order`]), and where each state has them:
/// the list does not depend on which state comes first. Without any class there is one place,
/// because sums have an output.
///
/// ```
/// use mercer_readers::Labels;
/// use mercer_session::model::ClassUnion;
///
/// let [ours, theirs] = [["red", "9"], ["blue", "red"]].map(|names| Labels::from(names.map(str::to_owned).to_vec()));
/// let union = ClassUnion::of(&ours, &theirs)?;
/// assert_eq!(union.labels.names(), ["9", "blue", "red"]);
/// assert_eq!(union.ours, [Some(1), None, Some(0)]);
/// assert_eq!(union.theirs, [None, Some(0), Some(1)]);
/// # Ok::<(), mercer_session::model::MergeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassUnion {
    /// All classes.
    pub labels: Labels,
    /// Where the first state has each of them.
    pub ours: Vec<Option<usize>>,
    /// Where the second state has each of them.
    pub theirs: Vec<Option<usize>>,
}

impl ClassUnion {
    /// The classes of two states. `O(c log c)` for `c` classes.
    ///
    /// # Errors
    /// [`MergeError::TooManyClasses`] above [`MOST_CLASSES`].
    pub fn of(ours: &Labels, theirs: &Labels) -> Result<Self, MergeError> {
        let mut labels = ours.clone();
        theirs.names().iter().zip(theirs.kinds()).for_each(|(name, kind)| _ = labels.insert_as(name, *kind));
        if labels.len() > MOST_CLASSES {
            return Err(MergeError::TooManyClasses { classes: labels.len() });
        }
        let labels = labels.select(&labels.sorted());
        let places = |known: &Labels| match labels.names() {
            [] => vec![None],
            names => names.iter().map(|name| known.find(name)).collect(),
        };
        Ok(Self { ours: places(ours), theirs: places(theirs), labels })
    }
}
