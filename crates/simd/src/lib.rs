//! Eight-lane vector arithmetic with run-time dispatch
