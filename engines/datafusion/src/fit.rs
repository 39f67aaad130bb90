//! `mercer_fit(y, x1, …, xd, 'options')`: an aggregate function that gives a model file.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryArray, BooleanArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility};
use datafusion::physical_expr::expressions::{Column, Literal};
use mercer::learners::MomentScratch;

use crate::numbers::{Columns, models, number};
use crate::state::{Group, Plan};

const NAME: &str = "mercer_fit";

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct MercerFit {
    signature: Signature,
}

impl Default for MercerFit {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// The options and the names of columns, which are in the plan.
fn plan(args: &AccumulatorArgs<'_>) -> Result<Plan> {
    let Some((options, columns)) = args.exprs.split_last() else { return plan_err!("{NAME} needs arguments") };
    let Some(literal) = options.downcast_ref::<Literal>() else {
        return plan_err!("{NAME}: the options must be a text that is the same for all rows, and not {options}");
    };
    let options = match literal.value() {
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => text,
        other => return plan_err!("{NAME}: the options must be a text such as 'learner=ridge', and not {other}"),
    };
    // A cast stands around a column that was not of the type Float64, and then has no name.
    let names: Option<Vec<String>> =
        columns.iter().map(|one| one.downcast_ref::<Column>().map(|column| column.name().to_owned())).collect();
    Plan::new(options, columns.len() - 1, names.unwrap_or_default())
}

impl AggregateUDFImpl for MercerFit {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn coerce_types(&self, kinds: &[DataType]) -> Result<Vec<DataType>> {
        let Some((options, columns)) = kinds.split_last().filter(|(_, columns)| columns.len() >= 2) else {
            return plan_err!(
                "{NAME} takes the target, at least one feature and the options: {NAME}(y, x, 'learner=ridge')"
            );
        };
        let (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) = options else {
            return plan_err!(
                "{NAME}: the last argument is {options}, and the options are needed there, such as 'learner=ridge'"
            );
        };
        let numbers = columns.iter().enumerate().map(|(place, kind)| number(NAME, place + 1, kind));
        numbers.chain([Ok(DataType::Utf8)]).collect()
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[sums]", args.name), DataType::Binary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One { plan: plan(&args)?, group: Group::default(), scratch: MomentScratch::default() }))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.accumulator(args)
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Many { plan: plan(&args)?, groups: Vec::new(), held: 0, scratch: MomentScratch::default() }))
    }
}

/// The sums of one group, or of a window.
#[derive(Debug)]
struct One {
    plan: Plan,
    group: Group,
    scratch: MomentScratch,
}

/// Columns without the options behind them.
fn columns(values: &[ArrayRef]) -> Result<Columns<'_>> {
    Columns::new(NAME, &values[..values.len().saturating_sub(1)])
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (columns, mut row) = (columns(values)?, Vec::new());
        for index in 0..values.first().map_or(0, |values| values.len()) {
            row.clear();
            if columns.row(index, &mut row) {
                self.group.add(&self.plan, &row, &mut self.scratch)?;
            }
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (columns, mut rows) = (columns(values)?, Vec::new());
        for index in 0..values.first().map_or(0, |values| values.len()) {
            columns.row(index, &mut rows);
        }
        self.group.retract(&self.plan, &rows, &mut self.scratch)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Binary(self.plan.model(&mut self.group, &mut self.scratch)?))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.group.bytes(&self.plan)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(self.group.state(&self.plan, &mut self.scratch)?)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = models(&states[0])?;
        states.iter().flatten().try_for_each(|state| self.group.merge(&self.plan, state, &mut self.scratch))
    }
}

/// What is handed on of a group, if it has rows.
type Told = fn(&Plan, &mut Group, &mut MomentScratch) -> Result<Option<Vec<u8>>>;

/// The sums of all groups of a query.
#[derive(Debug)]
struct Many {
    plan: Plan,
    groups: Vec<Group>,
    /// Bytes that the groups hold.
    held: usize,
    scratch: MomentScratch,
}

impl Many {
    /// Changes a group and keeps account of its memory.
    fn change(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut Group, &Plan, &mut MomentScratch) -> Result<()>,
    ) -> Result<()> {
        let Self { plan, groups, held, scratch } = self;
        let before = groups[index].bytes(plan);
        let changed = change(&mut groups[index], plan, scratch);
        *held = *held + groups[index].bytes(plan) - before;
        changed
    }

    fn grow(&mut self, total: usize) {
        if total > self.groups.len() {
            self.held += (total - self.groups.len()) * size_of::<Group>();
            self.groups.resize(total, Group::default());
        }
    }

    /// Hands the groups that are to be emitted to `told`.
    fn emit(&mut self, emit_to: EmitTo, told: Told) -> Result<ArrayRef> {
        let groups = emit_to.take_needed(&mut self.groups);
        let mut all = Vec::with_capacity(groups.len());
        for mut group in groups {
            self.held -= group.bytes(&self.plan).min(self.held);
            all.push(told(&self.plan, &mut group, &mut self.scratch)?);
        }
        Ok(Arc::new(BinaryArray::from_iter(all)))
    }
}

impl GroupsAccumulator for Many {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        indices: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.grow(total);
        let (columns, mut row) = (columns(values)?, Vec::new());
        for (index, group) in indices.iter().enumerate() {
            row.clear();
            if filter.is_none_or(|filter| filter.is_valid(index) && filter.value(index)) && columns.row(index, &mut row)
            {
                self.change(*group, |group, plan, scratch| group.add(plan, &row, scratch))?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.emit(emit_to, |plan, group, scratch| plan.model(group, scratch))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.emit(emit_to, |plan, group, scratch| group.state(plan, scratch))?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], indices: &[usize], total: usize) -> Result<()> {
        self.grow(total);
        let states = models(&states[0])?;
        for (state, group) in states.iter().zip(indices) {
            if let Some(state) = state {
                self.change(*group, |group, plan, scratch| group.merge(plan, state, scratch))?;
            }
        }
        Ok(())
    }

    /// Each row as a state of its own, by which the engine skips the partial sums of nearly as many
    /// groups as rows.
    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let (columns, mut scratch, mut row) = (columns(values)?, MomentScratch::default(), Vec::new());
        let mut states = Vec::new();
        for index in 0..values.first().map_or(0, |values| values.len()) {
            row.clear();
            let mut group = Group::default();
            if filter.is_none_or(|filter| filter.is_valid(index) && filter.value(index)) && columns.row(index, &mut row)
            {
                group.add(&self.plan, &row, &mut scratch)?;
            }
            states.push(group.state(&self.plan, &mut scratch)?);
        }
        Ok(vec![Arc::new(BinaryArray::from_iter(states))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.held
    }
}
