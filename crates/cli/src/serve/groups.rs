//! The models of groups in a folder, one file each.

use std::path::{Path, PathBuf};

use mercer_serve::{Groups, Model, OpenedGroup, Reason};

use super::LimitArguments;
use super::keeping::{self, Copy, JournalArguments, ModelPlace};
use super::screened_model::{ScreenedModel, Screens};
use super::served;
use crate::model::lock;
use crate::model::store;
use crate::report::failure::Failure;

/// Where groups are kept.
pub(super) struct Folder<L> {
    folder: PathBuf,
    journal: JournalArguments,
    limits: LimitArguments,
    screens: Screens,
    load: L,
}

impl<L: Fn(&Path) -> Result<Box<dyn Model>, Failure> + Clone + Send + 'static> Folder<L> {
    /// # Errors
    /// If there is no such folder.
    pub(super) fn of(
        folder: &Path,
        journal: &JournalArguments,
        (limits, screens): (LimitArguments, Screens),
        load: L,
    ) -> Result<Self, Failure> {
        if !folder.is_dir() {
            return Err(Failure::because(format!("{}: is no folder; give another --groups", folder.display())));
        }
        Ok(Self { folder: folder.to_owned(), journal: journal.clone(), limits, screens, load })
    }

    /// Opens a group, which begins with these bytes if there is none.
    fn open(&self, name: &str, begin: Option<Vec<u8>>) -> Result<Option<OpenedGroup>, Failure> {
        let file = self.folder.join(format!("{name}.mercer"));
        if !file.exists() && begin.is_none() {
            return Ok(None);
        }
        let lock = lock::take("--groups", &file)?;
        if let Some(bytes) = begin.filter(|_| !file.exists()) {
            store::save("--groups", &file, Ok(bytes))?;
        }
        let mut model = (self.load)(&file)?;
        let journal = self.journal.of_group(&self.folder.join(format!("{name}.journal")));
        let mut keeping = keeping::begin(ModelPlace::of(&file, None)?, &journal, &mut *model, None, false)?;
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
    fn open(&self, name: &str) -> Result<Option<OpenedGroup>, Reason> {
        self.open(name, None).map_err(|failure| failure.to_string().into())
    }

    fn begin(&self, name: &str, bytes: Vec<u8>) -> Result<OpenedGroup, Reason> {
        let opened = self.open(name, Some(bytes)).map_err(|failure| failure.to_string())?;
        opened.ok_or_else(|| "its file is gone".into())
    }

    fn model(&self, bytes: &[u8]) -> Result<Box<dyn Model>, Reason> {
        let model = served::of_bytes(&self.folder, bytes, &self.limits, self.screens.watching)
            .map_err(|failure| failure.to_string())?;
        Ok(Box::new(ScreenedModel::new(model, self.screens).map_err(|failure| failure.to_string())?))
    }
}
