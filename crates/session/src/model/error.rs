//! What is wrong with a model file.

use std::io;

use mercer_core::Inconsistent;

use super::{ModelKind, VERSION};

/// Why a model cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The bytes do not begin as a model file does.
    #[error("is not a model file; give one that mercer has saved")]
    NotAModel,
    /// The format is that of a program before the first release.
    #[error("was made by a development version of mercer; train it again")]
    Development,
    /// The format is of a later program.
    #[error("is a model file of format {version}, and this program reads format {VERSION}; use a newer mercer")]
    UnknownVersion {
        /// The file's version.
        version: u16,
    },
    /// The kind is none of this format.
    #[error("is a model file of the unknown kind {0}; it was altered, or written by something else")]
    UnknownKind(u16),
    /// The file is of another kind than is needed.
    #[error("is a model of the kind {got}, and a {expected} model is needed here")]
    OtherKind {
        /// What is needed.
        expected: ModelKind,
        /// What it is.
        got: ModelKind,
    },
    /// Sums of classes, or of a table that is encoded, where only sums of numbers are of use.
    #[error(
        "holds sums of {what}, which the commands mercer merge and mercer predict use; sums of complete rows of numbers are needed here"
    )]
    OtherSums {
        /// What they are of.
        what: &'static str,
    },
    /// The sums have no fit.
    #[error(transparent)]
    Learner(#[from] mercer_learners::Error),
    /// The encoding and the learner do not go together.
    #[error(transparent)]
    Encoding(#[from] mercer_encoding::EncodingError),
    /// The learner alone would predict wrongly.
    #[error("has learnt encoded columns; read it with Model::from_bytes, which gives what belongs before the learner")]
    Encoded,
    /// The file ends early.
    #[error("is a truncated model file: {got} bytes of {expected}; copy it again, or take the last checkpoint")]
    Truncated {
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        got: u64,
    },
    /// The file does not end where it should.
    #[error("has {extra} bytes behind the end of the model; it was altered, or two files were joined")]
    Trailing {
        /// How many.
        extra: u64,
    },
    /// The checksum is not that of the bytes.
    #[error("was altered: its checksum is {stored:08x}, and its bytes have {computed:08x}; copy it again")]
    Altered {
        /// The checksum in the header.
        stored: u32,
        /// The checksum of what is there.
        computed: u32,
    },
    /// More bytes than are taken.
    #[error("would be larger than {most} bytes, the most that a model file may have")]
    TooLarge {
        /// The limit.
        most: u64,
    },
    /// The body does not spell a model.
    #[error("does not hold a model ({0}); it was altered, or written by something else")]
    Undecodable(#[from] postcard::Error),
    /// The model does not hold together.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
    /// The file cannot be read.
    #[error("cannot be read ({0})")]
    Io(#[source] io::Error),
}
