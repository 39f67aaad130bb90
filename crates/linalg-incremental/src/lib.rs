//! Growing Cholesky factors and symmetric inverses for one-by-one learning
