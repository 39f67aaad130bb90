//! What scaled targets can do where their learner can: tokens, variances, rows together.

use mercer_learners::{
    Blocks, Error, Input, Regressor, RegressorExt as _, Rows, Scratch, Target, Tokens, Variance, predict_input,
};

use super::{ScaledTargets, SetAside};
use crate::screening::RowEvent;

impl<R: Regressor + Clone> Tokens for ScaledTargets<R> {
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        predict_input(&self.inner, input, scratch, scores)?;
        if let Some(open) = self.has_no_scale() {
            let outputs = scores.len();
            scores.iter_mut().enumerate().for_each(|(output, score)| *score = open.mean(output, outputs));
        } else {
            self.undo(scores);
        }
        Ok(())
    }

    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let Some(screening) = &self.screening else { return self.step_as_it_is(input, target, false, scores) };
        let event = screening.event(target);
        match event {
            RowEvent::Plain(0.0) | RowEvent::Waits => self.predict_input(input, &mut Scratch::default(), scores)?,
            RowEvent::Plain(weight) => self.step_with(input, target, weight, scores)?,
            RowEvent::Enters(weight) => {
                let aside =
                    SetAside { inner: self.inner.clone(), scales: self.scales.clone(), open: self.open.clone() };
                self.step_with(input, target, weight, scores)?;
                self.aside = Some(Box::new(aside));
            }
            RowEvent::Returns(weight) => {
                // The prediction is of the state that made it before the target was seen.
                self.predict_input(input, &mut Scratch::default(), scores)?;
                if let Some(aside) = self.aside.take() {
                    SetAside { inner: self.inner, scales: self.scales, open: self.open } = *aside;
                }
                self.step_with(input, target, weight, &mut vec![0.0; scores.len()])?;
            }
        }
        self.observe(input, target, event);
        Ok(())
    }

    fn token_weight(&self, key: u64, output: usize) -> Option<f64> {
        let scale = self.scales.get(output).map_or(1.0, |scale| scale.scale());
        self.inner.tokens()?.token_weight(key, output).map(|weight| scale * weight)
    }
}

impl<R: Regressor + Clone> Variance for ScaledTargets<R> {
    /// In squared units of the target.
    fn noise_variance(&self, output: usize) -> Option<f64> {
        let unit = if self.has_no_scale().is_some() { return None } else { self.unit(output) };
        self.inner.noise(output).map(|noise| (unit * unit * noise).min(f64::MAX))
    }

    /// As the learner tells it, in squared units of the target; none before the 16th row.
    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        if self.has_no_scale().is_some() {
            variances.fill(f64::NAN);
            return self.predict_into(x, scratch, scores).map(|()| false);
        }
        let told = self.inner.predict_variance_into(x, scratch, scores, variances)?;
        self.undo(scores);
        for (output, variance) in variances.iter_mut().enumerate() {
            let unit = self.unit(output);
            *variance *= unit * unit;
        }
        Ok(told)
    }
}

impl<R: Regressor + Clone> Blocks for ScaledTargets<R> {
    /// One by one until the scales are fixed, then as the learner does.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let outputs = self.outputs();
        let mut row = 0;
        while row < rows.len() {
            let rest = rows.range(row, rows.len());
            let (plain, ahead) = match &self.screening {
                _ if self.open.is_some() => (0, None),
                None => (rest.len(), None),
                Some(screening) => {
                    let (plain, ahead) = screening.plain(rest);
                    (plain, Some(ahead))
                }
            };
            let start = scores.len();
            if plain > 0 {
                let learnt = self.learn_scaled(rest.range(0, plain), scores);
                let rows = (scores.len() - start) / outputs;
                match (&mut self.screening, ahead) {
                    (Some(screening), Some(ahead)) if rows == plain => *screening = ahead,
                    (Some(screening), _) => {
                        rest.range(0, rows).targets().iter().for_each(|target| screening.observe(target));
                    }
                    _ => {}
                }
                learnt?;
                row += plain;
            } else {
                scores.resize(start + outputs, 0.0);
                if let Err(error) = self.learn_input(rows.whole_input(row), rows.target(row), &mut scores[start..]) {
                    scores.truncate(start);
                    return Err(error);
                }
                row += 1;
            }
        }
        Ok(())
    }

    fn limit_threads(&mut self, threads: usize) {
        self.inner.set_threads(threads);
        if let Some(aside) = &mut self.aside {
            aside.inner.set_threads(threads);
        }
        if let Some(open) = &mut self.open {
            open.fresh.set_threads(threads);
        }
    }
}
