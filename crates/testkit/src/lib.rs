//! Brute-force oracles and conformance checks for the learners
