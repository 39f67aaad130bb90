//! The tokens of `--token-file`: a line for each, `read TOKEN`, `learn TOKEN` or `admin TOKEN`. A
//! file that has changed is read anew, so that tokens can be exchanged without an end of the
//! service.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use mercer_serve::{Scope, Tokens};

use crate::report::failure::Failure;
use crate::report::verbosity;

/// Time between two looks at the file.
const LOOK: Duration = Duration::from_secs(1);

pub(super) struct TokenFile {
    file: PathBuf,
    tokens: Tokens,
    written: RefCell<Option<SystemTime>>,
    looked: Cell<Instant>,
}

impl TokenFile {
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub(super) fn open(file: &Path) -> Result<Self, Failure> {
        let written = RefCell::new(written(file));
        let tokens = Tokens::new(read(file)?);
        Ok(Self { file: file.to_owned(), tokens, written, looked: Cell::new(Instant::now()) })
    }

    pub(super) fn tokens(&self) -> Tokens {
        self.tokens.clone()
    }

    /// Takes the tokens of a file that has changed; those from before hold where it cannot be read.
    pub(super) fn look(&self) {
        if self.looked.get().elapsed() < LOOK {
            return;
        }
        self.looked.set(Instant::now());
        let now = written(&self.file);
        if self.written.replace(now) == now {
            return;
        }
        match read(&self.file) {
            Ok(tokens) => {
                verbosity::say(format!("{}: {} tokens were read anew", self.file.display(), tokens.len()));
                self.tokens.set(tokens);
            }
            Err(failure) => verbosity::say(format!("{failure}; the tokens from before hold")),
        }
    }
}

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}

fn read(file: &Path) -> Result<Vec<(Scope, String)>, Failure> {
    let place = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::because(format!("{place}: cannot be read ({error}); give another --token-file")))?;
    let mut tokens = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let scope = |word: &str| match word {
            "read" => Some(Scope::Read),
            "learn" => Some(Scope::Learn),
            "admin" => Some(Scope::Admin),
            _ => None,
        };
        let token = line.split_once(char::is_whitespace).and_then(|(word, token)| Some((scope(word)?, token.trim())));
        match token.filter(|(_, token)| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())) {
            Some((scope, token)) => tokens.push((scope, token.to_owned())),
            // The line may hold a secret, and is not shown.
            None => {
                return Err(Failure::because(format!(
                    "{place}: line {number} is no token; write read, learn or admin, a space, and printable ASCII without spaces"
                )));
            }
        }
    }
    if tokens.is_empty() {
        return Err(Failure::because(format!("{place}: has no tokens; write a line such as `read TOKEN`")));
    }
    Ok(tokens)
}
