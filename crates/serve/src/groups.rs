//! One model for each group: `?group=NAME` behind a path says whose.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use tokio::sync::mpsc;

use super::learner::{LearnerJob, LearnerThread};
use super::model::{Model, Reason};
use super::refusal::Refusal;
use super::{Keeping, Service};

/// Models by the names of groups: 64 ASCII letters, digits, lines and dots at most, the first no
/// dot.
pub trait Groups: Send + Sync {
    /// The model of a group, and where it is kept; none if there is none and none is to begin.
    ///
    /// # Errors
    /// If it cannot be had.
    fn open(&self, name: &str, begin: bool) -> Result<Option<OpenedGroup>, Reason>;
}

/// The model of a group, and where it is kept.
pub type OpenedGroup = (Box<dyn Model>, Keeping);

/// A model that is served, and the way to its learner.
#[derive(Clone)]
pub(super) struct GroupModel {
    pub(super) service: Arc<Service>,
    pub(super) jobs: mpsc::Sender<LearnerJob>,
}

/// A thread that learns.
type Thread = JoinHandle<Result<(), Reason>>;

impl GroupModel {
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn begin(service: Service, keeping: Keeping) -> io::Result<(Self, Thread)> {
        let service = Arc::new(service);
        let (jobs, waiting) = mpsc::channel::<LearnerJob>(service.options.limits.connections as usize);
        let learner = LearnerThread::new(Arc::clone(&service), keeping);
        let thread = thread::Builder::new().name("learner".to_owned()).spawn(move || learner.run(waiting))?;
        Ok((Self { service, jobs }, thread))
    }
}

/// All models that are served.
pub(super) struct Parts {
    pub(super) main: GroupModel,
    groups: Option<Box<dyn Groups>>,
    open: Mutex<BTreeMap<String, GroupModel>>,
    /// Held while a group is opened.
    opening: tokio::sync::Mutex<()>,
    threads: Arc<Mutex<Vec<Thread>>>,
}

impl Parts {
    pub(super) fn new(main: GroupModel, groups: Option<Box<dyn Groups>>, threads: Arc<Mutex<Vec<Thread>>>) -> Self {
        Self { main, groups, open: Mutex::default(), opening: tokio::sync::Mutex::default(), threads }
    }

    fn get(&self, name: &str) -> Option<GroupModel> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All that are open.
    pub(super) fn all(&self) -> Vec<GroupModel> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&self.main).chain(open.values()).cloned().collect()
    }

    /// The model that a request is about. One that learns begins a group that there is not yet.
    ///
    /// # Errors
    /// If there is no such group, or it cannot be opened.
    pub(super) async fn find(&self, request: &Request<Incoming>) -> Result<GroupModel, Refusal> {
        let query = request.uri().query().unwrap_or_default();
        let Some(name) = query.split('&').find_map(|pair| pair.strip_prefix("group=")) else {
            return Ok(self.main.clone());
        };
        let Some(groups) = &self.groups else {
            return Err(Refusal::unprocessable("this service has no groups; leave out ?group=".to_owned()));
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(plain) {
            let why = "the name of a group has 64 letters, digits, lines and dots at most, and begins with no dot";
            return Err(Refusal::unprocessable(why.to_owned()));
        }
        let _opening = self.opening.lock().await;
        if let Some(part) = self.get(name) {
            return Ok(part);
        }
        let options = &self.main.service.options;
        let begin = request.uri().path() == "/learn";
        if begin {
            options.access.check_learning(request.headers())?;
        }
        let most = options.limits.groups;
        if self.all().len() > most {
            let why = format!("{most} groups are open already, which is the most");
            return Err(Refusal::new(StatusCode::INSUFFICIENT_STORAGE, why));
        }
        let cannot =
            |why: String| Refusal::new(StatusCode::CONFLICT, format!("the group {name} cannot be opened: {why}"));
        let found = tokio::task::block_in_place(|| groups.open(name, begin)).map_err(|why| cannot(why.to_string()))?;
        let Some((model, keeping)) = found else {
            let why = format!("there is no group {name}; the first row that it learns begins it");
            return Err(Refusal::new(StatusCode::NOT_FOUND, why));
        };
        let service = Service::new(model, options.clone(), self.main.service.log.clone());
        let (part, thread) = GroupModel::begin(service, keeping).map_err(|why| cannot(why.to_string()))?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), part.clone());
        Ok(part)
    }
}
