//! One model for each group: `?group=NAME` behind a path says whose.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use hyper::StatusCode;
use tokio::sync::{mpsc, oneshot};

use super::learner::{LearnerJob, LearnerThread};
use super::model::{Model, Reason, Row};
use super::refusal::Refusal;
use super::{Keeping, Service};

/// Models by the names of groups: 64 ASCII letters, digits, lines and dots at most, the first no
/// dot.
pub trait Groups: Send + Sync {
    /// The model of a group that is kept already, and where; none if there is no such group.
    ///
    /// # Errors
    /// If it cannot be had.
    fn open(&self, name: &str) -> Result<Option<OpenedGroup>, Reason>;

    /// Keeps a new group, with these bytes of a model.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn begin(&self, name: &str, bytes: Vec<u8>) -> Result<OpenedGroup, Reason>;

    /// A model of these bytes, to try a row on. It is kept nowhere.
    ///
    /// # Errors
    /// If the bytes are none of a model.
    fn model(&self, bytes: &[u8]) -> Result<Box<dyn Model>, Reason>;
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

/// Why a group does not begin.
pub(super) enum Begun {
    /// Its first row is refused.
    Refused(Reason),
    Cannot(Refusal),
}

/// The threads by the names of groups; that of the main model has none.
pub(super) type Threads = Arc<Mutex<BTreeMap<String, Thread>>>;

/// A group, and when it was last asked for.
struct OpenGroup {
    part: GroupModel,
    used: Instant,
}

/// All models that are served.
pub(super) struct Parts {
    pub(super) main: GroupModel,
    groups: Option<Box<dyn Groups>>,
    open: Mutex<BTreeMap<String, OpenGroup>>,
    /// Held while a group is opened or closed.
    opening: tokio::sync::Mutex<()>,
    threads: Threads,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Parts {
    pub(super) fn new(main: GroupModel, groups: Option<Box<dyn Groups>>, threads: Threads) -> Self {
        Self { main, groups, open: Mutex::default(), opening: tokio::sync::Mutex::default(), threads }
    }

    pub(super) fn has_groups(&self) -> bool {
        self.groups.is_some()
    }

    /// All that are open.
    pub(super) fn all(&self) -> Vec<GroupModel> {
        std::iter::once(&self.main).chain(locked(&self.open).values().map(|open| &open.part)).cloned().collect()
    }

    /// The groups that a model is to tell of: of the main one all that are open.
    pub(super) fn of(&self, service: &Service) -> Vec<(String, Arc<Service>)> {
        if service.group.is_some() {
            return Vec::new();
        }
        locked(&self.open).iter().map(|(name, open)| (name.clone(), Arc::clone(&open.part.service))).collect()
    }

    /// A group that is there; it is opened if it is not yet.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(super) async fn find(&self, name: &str) -> Result<Option<GroupModel>, Refusal> {
        let Some(groups) = &self.groups else { return Ok(None) };
        if let Some(part) = self.get(name) {
            return Ok(Some(part));
        }
        let _opening = self.opening.lock().await;
        if let Some(part) = self.get(name) {
            return Ok(Some(part));
        }
        let opened = tokio::task::block_in_place(|| groups.open(name)).map_err(|why| cannot(name, &why))?;
        match opened {
            Some(opened) => self.add(name, opened).await.map(Some),
            None => Ok(None),
        }
    }

    /// Begins a group with the main model as it is, if a copy of that learns this row. One that has
    /// begun meanwhile is taken as it is.
    pub(super) async fn begin(&self, name: &str, first: Option<&Row>) -> Result<GroupModel, Begun> {
        let _opening = self.opening.lock().await;
        if let Some(part) = self.get(name) {
            return Ok(part);
        }
        let (Some(groups), Some(first)) = (&self.groups, first) else {
            return Err(Begun::Refused("there is no row; a group begins with its first".into()));
        };
        let bytes = self.main.service.model.read().await.to_bytes();
        let bytes = bytes.map_err(|why| Begun::Cannot(cannot(name, &why)))?;
        tokio::task::block_in_place(|| {
            let mut copy = groups.model(&bytes)?;
            copy.screen(std::slice::from_ref(first)).map_err(|(_, why)| why)?;
            copy.learn(first)
        })
        .map_err(Begun::Refused)?;
        let opened = tokio::task::block_in_place(|| groups.begin(name, bytes));
        let opened = opened.map_err(|why| Begun::Cannot(cannot(name, &why)))?;
        self.add(name, opened).await.map_err(Begun::Cannot)
    }

    fn get(&self, name: &str) -> Option<GroupModel> {
        let mut open = locked(&self.open);
        let open = open.get_mut(name)?;
        open.used = Instant::now();
        Some(open.part.clone())
    }

    async fn add(&self, name: &str, (model, keeping): OpenedGroup) -> Result<GroupModel, Refusal> {
        self.make_room().await?;
        let Service { options, shared, .. } = &*self.main.service;
        let service = Service::new(model, options.clone(), shared.clone(), Some(name.to_owned()));
        let (part, thread) = GroupModel::begin(service, keeping).map_err(|why| cannot(name, &why.into()))?;
        locked(&self.threads).insert(name.to_owned(), thread);
        let open = OpenGroup { part: part.clone(), used: Instant::now() };
        locked(&self.open).insert(name.to_owned(), open);
        Ok(part)
    }

    /// Saves and closes the group that was asked for longest ago, if there are as many as may be.
    async fn make_room(&self) -> Result<(), Refusal> {
        let most = self.main.service.options.limits.groups;
        while let Some((name, open)) = self.take_idle(most) {
            let (reply, closed) = oneshot::channel();
            let asked = open.part.jobs.send(LearnerJob::Close { reply }).await.is_ok();
            if let Ok(Err(why)) = closed.await
                && asked
            {
                let why = format!("{most} groups are open, and {name} cannot be saved to make room ({why})");
                locked(&self.open).insert(name, open);
                return Err(Refusal::new(StatusCode::INSUFFICIENT_STORAGE, why));
            }
            self.main.service.metrics.group_closed();
            drop(open);
            // Its lock is free when its thread has ended.
            let thread = locked(&self.threads).remove(&name);
            drop(thread.map(|thread| tokio::task::block_in_place(|| thread.join())));
        }
        if locked(&self.open).len() >= most {
            let why = format!("{most} groups are open, which is the most, and all are asked at this moment");
            return Err(Refusal::busy(why, self.main.service.options.limits.wait));
        }
        Ok(())
    }

    /// Takes out the group that nobody asks now, and was asked for longest ago, if there are as
    /// many as may be: of those without rows that wait for labels, if there are some.
    fn take_idle(&self, most: usize) -> Option<(String, OpenGroup)> {
        let mut open = locked(&self.open);
        if open.len() < most {
            return None;
        }
        // One is here, and one has the thread.
        let idle = open.iter().filter(|(_, open)| Arc::strong_count(&open.part.service) == 2);
        let by_use = |(_, open): &(&String, &OpenGroup)| (open.part.service.kept.count().0 > 0, open.used);
        let name = idle.min_by_key(by_use).map(|(name, _)| name.clone())?;
        open.remove_entry(&name)
    }
}

fn cannot(name: &str, why: &Reason) -> Refusal {
    Refusal::new(StatusCode::CONFLICT, format!("the group {name} cannot be opened: {why}"))
}
