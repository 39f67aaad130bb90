//! Model files on disk: read with their name in every message, written so that a crash leaves the
//! old file or the new one.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use mercer_session::Session;
use mercer_session::model::{MAGIC, Model, ModelError, ModelKind, Operator};

use crate::report::failure::Failure;
use crate::report::output::{Aside, refuse_format};

/// How the names of model files end.
pub(crate) const ENDING: &str = "mercer";

fn refused(path: &Path, error: &ModelError) -> Failure {
    Failure::because(format!("{}: {error}", path.display()))
}

/// A model, and what its file tells of itself.
pub(crate) struct LoadedModel {
    pub(crate) model: Model,
    /// The size of the file.
    pub(crate) bytes: u64,
}

/// The model in a file, of whatever kind.
pub(crate) fn load(path: &Path) -> Result<LoadedModel, Failure> {
    let unreadable = |error| refused(path, &ModelError::Io(error));
    if path.is_dir() {
        return Err(Failure::because(format!("{}: is a folder; give a model file", path.display())));
    }
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let model = Model::read(file).map_err(|error| refused(path, &error))?;
    Ok(LoadedModel { model, bytes })
}

/// The model of bytes, as a file would have it.
#[cfg(feature = "serve")]
pub(crate) fn of_bytes(path: &Path, bytes: &[u8]) -> Result<Model, Failure> {
    Model::read(bytes).map_err(|error| refused(path, &error))
}

/// The learner from examples in a file, of numbers or of classes.
pub(crate) fn load_trained(path: &Path) -> Result<Session, Failure> {
    trained(path, load(path)?.model)
}

/// The same of a model that was in the file; sums are fitted.
pub(crate) fn trained(path: &Path, model: Model) -> Result<Session, Failure> {
    let model = match model {
        Model::Moments(sums) => sums.fit_model().map_err(|error| refused(path, &error))?,
        model => model,
    };
    Session::of(model).map_err(|other| other_kind(path, ModelKind::Regression, &other))
}

/// The learner of an operator in a file.
pub(crate) fn load_operator(path: &Path) -> Result<Operator, Failure> {
    match load(path)?.model {
        Model::Operator(model) => Ok(*model),
        other => Err(other_kind(path, ModelKind::Operator, &other)),
    }
}

pub(crate) fn other_kind(path: &Path, expected: ModelKind, model: &Model) -> Failure {
    let got = model.kind();
    let command = match got {
        ModelKind::Regression | ModelKind::Classification | ModelKind::Moments => "; mercer predict uses it",
        ModelKind::Prediction | ModelKind::GroupPredictions => "; mercer forecast uses it",
        ModelKind::Operator => "; mercer koopman uses it",
        // Kinds to come have commands of their own.
        _ => "",
    };
    let error = ModelError::OtherKind { expected, got };
    Failure::because(format!("{}: {error}{command}", path.display()))
}

/// The first bytes of a file, as many as all model files have in common; none of what is no file or
/// cannot be read.
fn beginning(path: &Path) -> Vec<u8> {
    let (mut head, length) = (Vec::new(), MAGIC.len() as u64);
    if path.is_file() && File::open(path).and_then(|file| file.take(length).read_to_end(&mut head)).is_err() {
        head.clear();
    }
    head
}

/// Whether a file begins as model files do.
pub(crate) fn is_model(path: &Path) -> bool {
    beginning(path) == MAGIC
}

/// Refuses a place where a model cannot be written, before the work for it is done, or where
/// something else would be lost, and clears away what killed runs left there; `option` names it. A
/// new file is not called what something else is.
pub(crate) fn check_place(option: &str, path: &Path) -> Result<(), Failure> {
    let head = beginning(path);
    // What cannot be read is refused below if it cannot be replaced either.
    if !head.is_empty() && head != MAGIC {
        return Err(Failure::because(format!(
            "{}: is there already and is not a model file; give another {option}, or remove it first",
            path.display()
        )));
    }
    if head.is_empty() {
        refuse_format(option, path, &[ENDING])?;
    }
    Aside::create_for(option, path, &[], "").map(drop)
}

/// A model file that was written: it is locked as long as this is kept, where a lock does not keep
/// readers out.
pub(crate) struct SavedModel {
    #[cfg(unix)]
    _locked: File,
}

/// Writes the model beside its place, brings it to the disk, and puts it there in one step.
pub(crate) fn save(option: &str, path: &Path, model: Result<Vec<u8>, ModelError>) -> Result<SavedModel, Failure> {
    let bytes = model.map_err(|error| refused(path, &error))?;
    let mut file = Aside::create_again(option, path)?;
    file.write_bytes(&bytes)?;
    let _locked = file.finish_durably()?;
    Ok(SavedModel {
        #[cfg(unix)]
        _locked,
    })
}
