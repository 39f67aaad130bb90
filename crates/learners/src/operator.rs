//! Online learning of Koopman and conditional-mean operators.
