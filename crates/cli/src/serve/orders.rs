//! Signals as orders to the service. The first that asks it to end has requests in progress
//! answered, and a later one cuts that short; what was learnt is saved in any case. A service that
//! only reads its model reads it anew at SIGHUP.

use std::cell::Cell;

use mercer_serve::Order;

use crate::data::stop::Stop;
use crate::report::failure::Failure;

/// Numbers of signals; the system numbers them alike where it has them.
const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

pub(super) struct Orders {
    end: Stop,
    reload: Stop,
    /// Looks that found a signal to end.
    ends: Cell<u32>,
}

impl Orders {
    /// # Errors
    /// If signals cannot be listened for.
    pub(super) fn listen(read_only: bool) -> Result<Self, Failure> {
        let (end, reload): (&[i32], &[i32]) = match read_only {
            true => (&[SIGINT, SIGTERM], &[SIGHUP]),
            false => (&[SIGINT, SIGTERM, SIGHUP], &[]),
        };
        Ok(Self { end: Stop::listen_patiently(end)?, reload: Stop::listen_patiently(reload)?, ends: Cell::new(0) })
    }

    /// What is to be done now.
    pub(super) fn now(&self) -> Order {
        if self.end.has_come() {
            self.ends.set(self.ends.get() + 1);
        }
        match self.ends.get() {
            0 if self.reload.has_come() => Order::Reload,
            0 => Order::GoOn,
            1 => Order::End,
            _ => Order::EndNow,
        }
    }
}
