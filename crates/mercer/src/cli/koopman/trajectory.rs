//! Pairs from a trajectory: each row is a state, or an observation of it, and the row behind it is the successor.

/// The last rows. With a delay of `k` rows, a state is `k` observations, the oldest first (delay coordinates: Takens 1981).
pub(super) struct Trajectory {
    width: usize,
    delay: usize,
    /// `k + 1` rows at most.
    rows: Vec<f64>,
}

impl Trajectory {
    /// For rows of `width` numbers.
    pub(super) fn new(width: usize, delay: usize) -> Self {
        Self { width, delay, rows: Vec::new() }
    }

    /// Takes the next row; gives the pair that it completes: `x` holds the rows before it, and `x⁺` is one row further.
    pub(super) fn push(&mut self, row: &[f64]) -> Option<(&[f64], &[f64])> {
        let (width, state) = (self.width, self.delay * self.width);
        if self.rows.len() > state {
            self.rows.drain(..width);
        }
        self.rows.extend_from_slice(row);
        (self.rows.len() > state).then(|| (&self.rows[..state], &self.rows[width..]))
    }

    /// Whether no row is at hand.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Begins a new trajectory: the next row follows none.
    pub(super) fn cut(&mut self) {
        self.rows.clear();
    }

    /// The names of x, then of x⁺, from those of the columns.
    pub(super) fn names(&self, columns: &[String]) -> Vec<String> {
        let of = |first: usize| {
            (first..first + self.delay).flat_map(move |at| {
                let behind = at + 1 - self.delay.min(at + 1);
                let before = self.delay.saturating_sub(at + 1);
                columns.iter().map(move |name| match (before, behind) {
                    (0, 0) => name.clone(),
                    (0, behind) => format!("{name}[+{behind}]"),
                    (before, _) => format!("{name}[-{before}]"),
                })
            })
        };
        of(0).chain(of(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Trajectory;

    #[test]
    fn pairs_are_successive_windows() {
        let mut plain = Trajectory::new(2, 1);
        assert_eq!(plain.push(&[1.0, 2.0]), None);
        assert_eq!(plain.push(&[3.0, 4.0]), Some((&[1.0, 2.0][..], &[3.0, 4.0][..])));
        assert_eq!(plain.push(&[5.0, 6.0]), Some((&[3.0, 4.0][..], &[5.0, 6.0][..])));
        assert_eq!(plain.names(&["a".into(), "b".into()]), ["a", "b", "a[+1]", "b[+1]"]);
        let mut delayed = Trajectory::new(1, 3);
        assert!((0..3).all(|t| delayed.push(&[f64::from(t)]).is_none()));
        assert_eq!(delayed.push(&[3.0]), Some((&[0.0, 1.0, 2.0][..], &[1.0, 2.0, 3.0][..])));
        assert_eq!(delayed.push(&[4.0]), Some((&[1.0, 2.0, 3.0][..], &[2.0, 3.0, 4.0][..])));
        assert_eq!(delayed.names(&["y".into()]), ["y[-2]", "y[-1]", "y", "y[-1]", "y", "y[+1]"]);
    }
}
