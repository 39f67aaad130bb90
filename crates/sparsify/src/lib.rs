//! Which points of a stream a kernel dictionary keeps
