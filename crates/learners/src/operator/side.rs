//! One side of an operator. (interface)
