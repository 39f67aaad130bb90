//! The models of groups in a folder, one file each.

use std::path::{Path, PathBuf};

use mercer_serve::{Groups, Model, OpenedGroup, Reason};

use super::keeping::{self, Copy, JournalArguments, ModelPlace};
use crate::model::lock;
use crate::model::store;
use crate::report::failure::Failure;

/// Where groups are kept, and what they begin with.
pub(super) struct Folder<L> {
    folder: PathBuf,
    beginning: Vec<u8>,
    journal: JournalArguments,
    load: L,
}

impl<L: Fn(&Path) -> Result<Box<dyn Model>, Failure> + Clone + Send + 'static> Folder<L> {
    /// # Errors
    /// If there is no such folder.
    pub(super) fn of(folder: &Path, model: &dyn Model, journal: &JournalArguments, load: L) -> Result<Self, Failure> {
        if !folder.is_dir() {
            return Err(Failure::because(format!("{}: is no folder; give another --groups", folder.display())));
        }
        let beginning = model.to_bytes().map_err(|why| Failure::because(why.to_string()))?;
        Ok(Self { folder: folder.to_owned(), beginning, journal: journal.clone(), load })
    }

    fn open(&self, name: &str, begin: bool) -> Result<Option<OpenedGroup>, Failure> {
        let file = self.folder.join(format!("{name}.mercer"));
        if !file.exists() && !begin {
            return Ok(None);
        }
        let lock = lock::take("--groups", &file)?;
        if !file.exists() {
            store::save("--groups", &file, Ok(self.beginning.clone()))?;
        }
        let mut model = (self.load)(&file)?;
        let journal = self.journal.of_group(&self.folder.join(format!("{name}.journal")));
        let mut keeping = keeping::begin(ModelPlace::of(&file, None)?, &journal, &mut *model, false)?;
        keeping.snapshot = Some(Box::new(Copy::of(&file, self.load.clone())));
        let mut save = keeping.save;
        keeping.save = Box::new(move |bytes| {
            // The lock is held as long as this may save.
            let _held = &lock;
            save(bytes)
        });
        Ok(Some((model, keeping)))
    }
}

impl<L: Fn(&Path) -> Result<Box<dyn Model>, Failure> + Clone + Send + Sync + 'static> Groups for Folder<L> {
    fn open(&self, name: &str, begin: bool) -> Result<Option<OpenedGroup>, Reason> {
        self.open(name, begin).map_err(|failure| failure.to_string().into())
    }
}
