//! *Efficient online learning with kernels for adversarial large scale problems* (Jézéquel, Gaillard and Rudi 2019), measured.
//!
//! | module | what it shows |
//! |---|---|
//! | [`theory`] | the paper's bounds and rules as functions of a stream |
//! | [`bounds`] | Propositions 1, 2 and 5, Theorems 3, 4 and 6, Corollaries 7 and 8: measured against proved |

pub mod bounds;
pub mod theory;
