//! The sums of one group, and the rows that wait to be added to them together.

use std::sync::Arc;

use datafusion::common::exec_err;
use datafusion::error::{DataFusionError, Result};
use mercer::AnyKernel;
use mercer::fit::FitSpec;
use mercer::learners::{FeatureMap, FixedMap, MomentScratch, MomentSums, RidgeMoments, Rows, Targets};

/// The first byte of a state.
const ROWS: u8 = 0;
const SUMS: u8 = 1;

/// Rows that are added together: as many as one pass over the matrix takes.
const TOGETHER: usize = 64;

pub(crate) fn refused(error: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Execution(format!("mercer_fit: {error}"))
}

/// Settings that all groups of a query share.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) spec: FitSpec,
    pub(crate) map: Arc<FixedMap<AnyKernel>>,
    /// The names of the target and the features, if all are columns.
    pub(crate) names: Vec<String>,
}

impl Plan {
    pub(crate) fn new(options: &str, dimension: usize, names: Vec<String>) -> Result<Self> {
        let spec: FitSpec = options.parse().map_err(refused)?;
        if spec.needs_points() {
            return exec_err!(
                "mercer_fit: {} needs points, which SQL cannot give it; take another learner",
                spec.learner()
            );
        }
        let map = Arc::new(spec.map(dimension, None).map_err(refused)?);
        Ok(Self { spec, map, names })
    }

    fn dimension(&self) -> usize {
        self.map.input_dimension()
    }

    /// The model file of some sums; none where there was no row.
    pub(crate) fn model(&self, group: &mut Group, scratch: &mut MomentScratch) -> Result<Option<Vec<u8>>> {
        group.flush(self, scratch)?;
        let Some(sums) = &group.sums else { return Ok(None) };
        let mut model = self.spec.start(self.dimension(), 1, None).map_err(refused)?;
        model.sums = RidgeMoments::from_sums((*self.map).clone(), (**sums).clone(), 0.0).map_err(refused)?;
        if let [target, features @ ..] = &self.names[..] {
            model.description.target_name = Some(target.clone());
            model.description.features = features.to_vec();
        }
        model.close((0, 1), group.rows, Vec::new()).map_err(refused)?;
        model.to_bytes().map(Some).map_err(refused)
    }

    /// The most bytes that a group of these features takes.
    pub(crate) fn bytes(&self) -> usize {
        let r = self.map.coordinates().next_multiple_of(8);
        8 * (r * (r + 8) / 2 + r + 8 * 8)
    }
}

/// One group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// None before the first row.
    sums: Option<Box<MomentSums>>,
    rows: u64,
    /// Rows that wait: the target and then the features.
    waiting: Vec<f64>,
}

impl Group {
    /// Adds a row, target first.
    pub(crate) fn add(&mut self, plan: &Plan, row: &[f64], scratch: &mut MomentScratch) -> Result<()> {
        if self.waiting.is_empty() {
            self.waiting.reserve_exact(TOGETHER * row.len());
        }
        self.waiting.extend_from_slice(row);
        if self.waiting.len() >= TOGETHER * row.len() { self.flush(plan, scratch) } else { Ok(()) }
    }

    /// Has no row wait.
    pub(crate) fn flush(&mut self, plan: &Plan, scratch: &mut MomentScratch) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let sums = self.sums.get_or_insert_with(|| Box::new(MomentSums::new(&*plan.map, 1)));
        self.rows += summed(plan, &waiting, sums, scratch)?;
        Ok(())
    }

    /// Takes rows back, target first.
    pub(crate) fn retract(&mut self, plan: &Plan, rows: &[f64], scratch: &mut MomentScratch) -> Result<()> {
        self.flush(plan, scratch)?;
        let mut leaving = MomentSums::new(&*plan.map, 1);
        let count = summed(plan, rows, &mut leaving, scratch)?;
        if let Some(sums) = &mut self.sums {
            sums.add(-1.0, &leaving);
        }
        self.rows = self.rows.saturating_sub(count);
        if self.rows == 0 {
            self.sums = None;
        }
        Ok(())
    }

    /// The state that other partitions take: sums, or the rows where these are fewer; none where
    /// there was no row.
    pub(crate) fn state(&mut self, plan: &Plan, scratch: &mut MomentScratch) -> Result<Option<Vec<u8>>> {
        if self.sums.is_none() && self.waiting.is_empty() {
            return Ok(None);
        }
        if self.sums.is_none() && 8 * self.waiting.len() < plan.bytes() {
            let numbers = std::mem::take(&mut self.waiting).into_iter().flat_map(f64::to_le_bytes);
            return Ok(Some(std::iter::once(ROWS).chain(numbers).collect()));
        }
        self.flush(plan, scratch)?;
        postcard::to_extend(&(self.rows, &self.sums), vec![SUMS]).map(Some).map_err(refused)
    }

    /// Adds the state of another partition.
    pub(crate) fn merge(&mut self, plan: &Plan, state: &[u8], scratch: &mut MomentScratch) -> Result<()> {
        let (rows, theirs) = match state.split_first() {
            Some((&ROWS, bytes)) => {
                let numbers: Vec<f64> =
                    bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
                return numbers.chunks_exact(plan.dimension() + 1).try_for_each(|row| self.add(plan, row, scratch));
            }
            Some((&SUMS, bytes)) => postcard::from_bytes::<(u64, Option<Box<MomentSums>>)>(bytes).map_err(refused)?,
            _ => return exec_err!("mercer_fit: a partition sent a state that is none of this version"),
        };
        let Some(theirs) = theirs else { return Ok(()) };
        mercer::core::Validate::validate(&*theirs).map_err(refused)?;
        if (theirs.features(), theirs.outputs()) != (plan.map.coordinates(), 1) {
            return exec_err!(
                "mercer_fit: a partition has sums of {} features, and {} are needed",
                theirs.features(),
                plan.map.coordinates()
            );
        }
        match &mut self.sums {
            Some(sums) => sums.add(1.0, &theirs),
            None => self.sums = Some(theirs),
        }
        self.rows += rows;
        Ok(())
    }

    pub(crate) fn bytes(&self, plan: &Plan) -> usize {
        let sums = if self.sums.is_some() { plan.bytes() } else { 0 };
        size_of::<Self>() + sums + 8 * self.waiting.capacity()
    }
}

/// Adds rows, target first, and says how many there were.
fn summed(plan: &Plan, rows: &[f64], sums: &mut MomentSums, scratch: &mut MomentScratch) -> Result<u64> {
    let d = plan.dimension();
    let count = rows.len() / (d + 1);
    let (mut inputs, mut targets) = (Vec::with_capacity(count * d), Vec::with_capacity(count));
    for row in rows.chunks_exact(d + 1) {
        targets.push(row[0]);
        inputs.extend_from_slice(&row[1..]);
    }
    let rows = Rows::new(&inputs, d, Targets::numbers(&targets)).map_err(refused)?;
    sums.add_rows(&*plan.map, rows, scratch).map_err(refused)?;
    Ok(count as u64)
}
