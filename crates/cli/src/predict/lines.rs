//! How the answers of rows are written: as cells of a line, or an object.

use mercer_session::model::Classes;
use mercer_session::{RowPrediction, Session};

use super::effects::{EffectColumns, RowEffects};
use crate::arguments::task::Kind;
use crate::data::input::sorted_names;
use crate::model::cells::{AnswerCell, AnswerCells, AnswerValue, EffectPart, Offer};
use crate::model::classes::quoted;
use crate::report::output::number;
use crate::report::replies::{LineStyle, Replies};

/// How answers are written.
pub(super) struct AnswerLines {
    style: LineStyle,
    pub(super) cells: AnswerCells,
    /// Whether a line says more than one number.
    pub(super) several: bool,
}

impl AnswerLines {
    /// The lines of a model. Classes that it meets later have no column.
    pub(super) fn of(model: &Session, style: LineStyle, intervals: bool, effects: Option<&EffectColumns>) -> Self {
        let task = model.classes();
        let (kind, classes) = match task {
            Some(task) => (Kind::Class(None), sorted_names(&task.labels)),
            None => (Kind::Numbers(model.outputs()), Vec::new()),
        };
        let mut cells = AnswerCells::predicted(&Offer {
            kind,
            targets: &model.description.target_names,
            classes: &classes,
            has_probabilities: task.is_some_and(|task| task.classifier.has_probabilities()),
            has_variance: false,
            has_intervals: intervals,
        });
        effects.iter().for_each(|effects| cells.explain(effects.top(), effects.is_sampled()));
        let several = task.is_some() || model.outputs() > 1 || intervals || effects.is_some();
        Self { style, cells, several }
    }

    /// Answers a row; false when nobody reads the answers, or they cannot be written.
    pub(super) fn answer(
        &self,
        replies: &Replies,
        model: &Session,
        answer: Option<&RowPrediction>,
        effects: Option<&RowEffects<'_>>,
    ) -> bool {
        let answered = answer.map(|answer| Answered { model, answer, effects });
        #[cfg(feature = "arrow")]
        if let LineStyle::Columnar(_) = self.style {
            let value = |(_, cell)| value(cell, answered.as_ref()?);
            return replies.answer_values(&self.cells.named().map(value).collect::<Vec<_>>());
        }
        match answered {
            Some(answered) if self.several => replies.answer_line(&self.line(&answered)),
            Some(answered) => replies.answer(answered.answer.numbers.first().copied()),
            None => replies.answer(None),
        }
    }

    /// The names of the columns, and those that hold names of classes.
    #[cfg(feature = "arrow")]
    pub(super) fn columns(&self, of_classes: bool) -> Vec<(String, bool)> {
        let is_name = |cell: &AnswerCell| match cell {
            AnswerCell::Prediction(_) => of_classes,
            AnswerCell::Effect(_, EffectPart::Column) => true,
            _ => false,
        };
        self.cells.named().map(|(name, cell)| (name.to_owned(), is_name(cell))).collect()
    }

    fn line(&self, answered: &Answered<'_>) -> String {
        let cells = self.cells.named();
        if self.style == LineStyle::Csv {
            let text = |(_, cell)| told(cell, answered, quoted).unwrap_or_default();
            return cells.map(text).collect::<Vec<_>>().join(",");
        }
        let (mut facts, mut probabilities) = (Vec::new(), Vec::new());
        for (name, cell) in cells {
            let fact = || told(cell, answered, text).unwrap_or_else(|| "null".to_owned());
            match cell {
                AnswerCell::Probability(class) => probabilities.push((class.as_str(), fact())),
                AnswerCell::Effect(0, EffectPart::Column) => {
                    facts.push(("effects", answered.effects(EffectPart::Size)));
                }
                AnswerCell::Effect(..) => {}
                AnswerCell::OtherEffects => {
                    facts.push((name, fact()));
                    facts.push(("standard_error", answered.effects(EffectPart::Error)));
                }
                _ => facts.push((name, fact())),
            }
        }
        if !probabilities.is_empty() {
            facts.insert(1, ("probabilities", object(probabilities)));
        }
        object(facts)
    }
}

/// A row that was answered.
struct Answered<'a> {
    model: &'a Session,
    answer: &'a RowPrediction,
    effects: Option<&'a RowEffects<'a>>,
}

impl Answered<'_> {
    /// The strongest effects, or their standard errors, by column; null where there are none.
    fn effects(&self, part: EffectPart) -> String {
        let Some(effects) = self.effects else { return "null".to_owned() };
        let pair = |rank: usize| match (effects.value(rank, EffectPart::Column)?, effects.value(rank, part)?) {
            (AnswerValue::Name(name), AnswerValue::Number(value)) => Some((name, number(value))),
            _ => None,
        };
        let pairs: Vec<_> = (0..effects.top()).map_while(pair).collect();
        if pairs.is_empty() { "null".to_owned() } else { object(pairs) }
    }
}

/// What a cell holds, if it is there.
fn value<'a>(cell: &AnswerCell, answered: &Answered<'a>) -> Option<AnswerValue<'a>> {
    let Answered { model, answer, effects } = answered;
    let finite = |value: &f64| value.is_finite().then_some(*value);
    let judged = &answer.judged;
    let number = match (cell, model.classes()) {
        (AnswerCell::Base, _) => effects.as_ref()?.base(),
        (AnswerCell::OtherEffects, _) => effects.as_ref()?.others(),
        (AnswerCell::Effect(rank, part), _) => return effects.as_ref()?.value(*rank, *part),
        (AnswerCell::Prediction(output), None) => answer.numbers.get(*output).copied(),
        (AnswerCell::Lower(output), None) => answer.lower.get(*output).and_then(finite),
        (AnswerCell::Upper(output), None) => answer.upper.get(*output).and_then(finite),
        (AnswerCell::Prediction(_), Some(Classes { labels, .. })) => {
            return labels.get(judged.class?).map(AnswerValue::Name);
        }
        (AnswerCell::Probability(class), Some(Classes { labels, .. })) => {
            judged.probability(labels.find(class)?, labels.len())
        }
        (AnswerCell::Score, Some(_)) => judged.score,
        _ => None,
    };
    number.map(AnswerValue::Number)
}

/// The text of what a cell holds, if it is there; a class as `name` writes it.
fn told(cell: &AnswerCell, answered: &Answered<'_>, name: impl Fn(&str) -> String) -> Option<String> {
    Some(match value(cell, answered)? {
        AnswerValue::Number(value) => number(value),
        AnswerValue::Name(text) => name(text),
    })
}

/// A text as JSON has it.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A JSON object of values that are JSON already.
fn object<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let facts: Vec<String> = facts.into_iter().map(|(name, fact)| format!("{}:{fact}", text(name))).collect();
    format!("{{{}}}", facts.join(","))
}
