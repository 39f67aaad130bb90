//! A polynomial of degree 2 in features, the closed form of linear members.

/// Features whose products have places of their own in a [`Polynomial`], at most.
const MOST: usize = 512;

/// `offset + aᵀx + bᵀz + Σ_{i ≤ j} C_ij z_i z_j` of straight features `x` and bent ones `z`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polynomial {
    /// The constant.
    pub offset: f64,
    /// `a`
    pub straight: Vec<f64>,
    /// `b`
    pub bent: Vec<f64>,
    /// `C`, row by row of its lower triangle; empty where there are no products.
    pub products: Vec<f64>,
}

impl Polynomial {
    pub(super) fn new(features: usize) -> Self {
        Self { offset: 0.0, straight: vec![0.0; features], bent: vec![0.0; features], products: Vec::new() }
    }

    /// Adds to the coefficients of the products of feature `j` with those up to it; `None` where
    /// there are too many.
    pub(super) fn products_of(&mut self, j: usize) -> Option<&mut [f64]> {
        let features = self.bent.len();
        if features > MOST {
            return None;
        }
        self.products.resize(features * (features + 1) / 2, 0.0);
        Some(&mut self.products[j * (j + 1) / 2..][..=j])
    }
}
