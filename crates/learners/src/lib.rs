//! Online learners in reproducing kernel Hilbert spaces
