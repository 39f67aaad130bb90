//! Lemma 3.1, Lemma 4.5 and Theorem 4.6 of the sublinear-regression paper: what is measured,
//! against what is proved.
//!
//! Each on the streams of [`decay`](crate::decay), whose eigenvalues fall in a known way. Bounds
//! are drawn dashed.

pub(crate) mod regret;
pub(crate) mod size;
pub(crate) mod spectral;

use crate::prelude::*;
use mercer_kernels::Kernel;
use mercer_learners::Error;
use mercer_readers::Dataset;
use mercer_sparsify::{Admission, Ald, NewtonBasis, Probe};

/// Walk of the ALD rule along a stream.
struct Walk<K> {
    /// The kept points.
    basis: NewtonBasis<K>,
    /// The rounds (from 0) at which points were kept, `s_1, s_2, …`.
    kept: Vec<usize>,
    /// The coordinates of every round in the dictionary that held it, its own point included.
    coordinates: Vec<Vec<f64>>,
}

impl<K: Kernel> Walk<K> {
    fn new(kernel: K, stream: &Dataset, alpha: f64) -> Result<Self> {
        let mut walk = Self {
            basis: NewtonBasis::new(kernel, stream.dimension()),
            kept: Vec::new(),
            coordinates: Vec::with_capacity(stream.len()),
        };
        let mut rule = Ald::new(alpha).map_err(Error::from)?;
        let mut probe = Probe::default();
        for (t, (x, _)) in stream.iter().enumerate() {
            walk.basis.probe(x, &mut probe);
            let mut coordinates = probe.coordinates().to_vec();
            if let Some(new_coordinate) = rule.admits(&walk.basis, x, &probe) {
                walk.basis.append(x, probe.coordinates(), new_coordinate);
                walk.kept.push(t);
                coordinates.push(new_coordinate);
            }
            walk.coordinates.push(coordinates);
        }
        Ok(walk)
    }
}
