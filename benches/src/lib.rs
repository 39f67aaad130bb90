//! Criterion benches with the machine's roofs beside them
