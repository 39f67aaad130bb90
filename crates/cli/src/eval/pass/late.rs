//! Rows whose labels come late: predicted when they come, learnt and scored with their labels.

use std::time::Instant;

use mercer_encoding::Encoding;
use mercer_readers::Example;
use mercer_session::{EarlyPrediction, LateRows, Row, RowPrediction};

use super::EvalPass;
use crate::eval::scoring::Scoring;
use crate::model::labels::has_features;
use crate::report::failure::Failure;

/// A row that waits for its label.
pub(in crate::eval) struct LateRow {
    pub(super) row: Row,
    pub(super) early: EarlyPrediction,
    pub(super) class: usize,
    pub(super) place: String,
}

impl EvalPass {
    /// Has a row without its target wait, and learns and scores the row of a label; false is a row
    /// that has both.
    pub(super) fn takes_label(
        &mut self,
        sample: &mut Row,
        targets: &[f64],
        place: &dyn Fn() -> String,
        answer: &mut RowPrediction,
    ) -> Result<bool, Failure> {
        let Some(labels) = &mut self.labels else { return Ok(false) };
        if !self.session.has_target(&sample.example) {
            let predicted = self.session.predict(sample, answer);
            predicted.map_err(|refusal| self.stopped(&place(), &refusal))?;
            let id = sample.id.clone();
            let early = EarlyPrediction::new(answer);
            let row = LateRow { row: std::mem::take(sample), early, class: 0, place: place() };
            let made = std::mem::take(answer);
            answer.variances = made.variances.as_ref().map(|_| Vec::new());
            self.common.take(&made.group, place);
            if let Some(labels) = &mut self.labels {
                labels.wait(&id, (row, made, self.scoring.guess()), place);
            }
            return Ok(true);
        }
        let Some((mut late, made, guess)) = labels.take(&sample.id) else {
            let schema = self.session.encoding.as_ref().map(Encoding::schema);
            let is_label = schema.is_some_and(|schema| !has_features(schema, &sample.record));
            if is_label {
                labels.orphan(place);
            }
            return Ok(is_label);
        };
        let Example { targets: shown, label, .. } = &sample.example;
        late.row.example.targets.clone_from(shown);
        late.row.example.label.clone_from(label);
        if let Scoring::Classes(classes) = &mut self.scoring {
            late.class = classes.class(label, late.row.example.weight);
        }
        let place = late.place.clone();
        let round = self.add_round(&made, targets, (late.class, late.row.example.weight));
        self.score(&|| place.clone(), round, Some(&guess))?;
        self.learn_late(late)?;
        Ok(true)
    }

    /// Learns a row whose label has come.
    pub(super) fn learn_late(&mut self, late: LateRow) -> Result<(), Failure> {
        let LateRow { mut row, early, class, place } = late;
        let learnt = self.session.learn_late(&mut row, &early, &mut self.watch, &mut self.relearnt);
        learnt.map_err(|refusal| self.stopped(&place, &refusal))?;
        self.count_learnt(row.example.weight);
        self.scoring.show(&row.example.targets, class, row.example.weight);
        Ok(())
    }

    /// Learns the rows that still wait: those at the end have their labels, too.
    pub(super) fn learn_rest(&mut self) -> Result<(), Failure> {
        let start = Instant::now();
        while let Some(late) = self.late.as_mut().and_then(LateRows::take_oldest) {
            self.learn_late(late)?;
        }
        self.seconds += start.elapsed();
        Ok(())
    }
}
