//! The loss since the service began, in a bounded number of points.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::model::Standing;

/// Most points that are kept.
const MOST: usize = 120;

/// Sums of losses at some of the rounds. When there are too many points, every second one goes.
pub(super) struct Curve {
    points: Mutex<CurvePoints>,
}

struct CurvePoints {
    /// The first is how it stood at the start.
    sums: Vec<Standing>,
    /// Rounds from one to the next.
    every: u64,
}

impl Curve {
    pub(super) fn new(start: Standing) -> Self {
        Self { points: Mutex::new(CurvePoints { sums: vec![start], every: 1 }) }
    }

    /// The model was replaced by another.
    pub(super) fn restart(&self, start: Standing) {
        if let Ok(mut points) = self.points.lock() {
            *points = CurvePoints { sums: vec![start], every: 1 };
        }
    }

    /// A row was learnt.
    pub(super) fn record(&self, standing: Standing) {
        let Ok(mut points) = self.points.lock() else { return };
        let CurvePoints { sums, every } = &mut *points;
        let last = sums.last().map_or(0, |last| last.rounds);
        if standing.rounds < last + *every {
            return;
        }
        sums.push(standing);
        if sums.len() > MOST {
            let mut at = 0;
            sums.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            *every *= 2;
        }
    }

    /// `[{"row": …, "loss": …}, …]`: the mean loss of the rows since the point before.
    pub(super) fn json(&self) -> Value {
        let Ok(points) = self.points.lock() else { return json!([]) };
        let mean = |pair: &[Standing]| {
            let (before, after) = (pair[0], pair[1]);
            json!({ "row": after.rounds, "loss": (after.loss - before.loss) / (after.weight - before.weight) })
        };
        points.sums.windows(2).map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_few_and_means_are_those_of_the_rows_between() {
        let at = |rounds: u64| {
            let weight = rounds as f64;
            Standing { rounds, weight, loss: weight * 3.0, ..Standing::default() }
        };
        let curve = Curve::new(at(7));
        for rounds in 8..=10_000 {
            curve.record(at(rounds));
        }
        let json = curve.json();
        let points = json.as_array().unwrap();
        assert!((50..120).contains(&points.len()), "{}", points.len());
        let rows: Vec<u64> = points.iter().map(|point| point["row"].as_u64().unwrap()).collect();
        assert!(rows.is_sorted() && rows[0] > 7 && *rows.last().unwrap() > 9_800);
        assert!(points.iter().all(|point| point["loss"].as_f64() == Some(3.0)));
    }
}
