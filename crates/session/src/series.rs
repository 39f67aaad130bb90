//! Series as every door has them: how a season mixture is made, what is told of a row beside its
//! prediction, and rolling origins.

mod looks;
mod making;
mod origins;

pub use looks::{Foresight, RowLook, UsualShare};
pub use making::{SEASON_HORIZONS, season_mixture};
pub use origins::{MOST_STEPS, ORIGINS, RollingOrigins};
