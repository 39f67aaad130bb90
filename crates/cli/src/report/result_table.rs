//! A table that an option asks for beside the report: CSV, JSON lines, Parquet or Arrow, by the
//! name of its file, which appears whole.

use std::path::Path;

use crate::model::cells::AnswerValue;
use crate::model::classes::quoted;
#[cfg(feature = "arrow")]
use crate::report::columnar::ColumnarRows;
use crate::report::failure::Failure;
use crate::report::output::{Aside, number};
use crate::report::replies::LineStyle;

/// The rows, in a file beside its place until all are there.
pub(crate) struct ResultTable {
    file: Aside,
    style: LineStyle,
    /// The names, and whether a column holds names or else numbers.
    columns: Vec<(String, bool)>,
    /// True behind the first row.
    begun: bool,
    #[cfg(feature = "arrow")]
    columnar: Option<ColumnarRows>,
}

impl ResultTable {
    /// A table of no rows for an `option`; `inputs` are read, and must not be written over.
    pub(crate) fn create(
        option: &str,
        path: &Path,
        inputs: &[&Path],
        columns: Vec<(String, bool)>,
    ) -> Result<Self, Failure> {
        let style = LineStyle::told(option, path)?.unwrap_or(LineStyle::Csv);
        let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
        let header = if style == LineStyle::Csv { names.join(",") + "\n" } else { String::new() };
        Ok(Self {
            file: Aside::create_for(option, path, inputs, &header)?,
            #[cfg(feature = "arrow")]
            columnar: match style {
                LineStyle::Columnar(format) => Some(ColumnarRows::new(format, &columns)?),
                _ => None,
            },
            style,
            columns,
            begun: false,
        })
    }

    /// Adds a row: a value for each column, none where there is none or it is no number.
    pub(crate) fn push(&mut self, values: &[Option<AnswerValue<'_>>]) -> Result<(), Failure> {
        #[cfg(feature = "arrow")]
        if let Some(columnar) = &mut self.columnar {
            columnar.push(values)?;
            return self.file.write_bytes(&columnar.take_bytes());
        }
        let line = match self.style {
            LineStyle::Csv => csv(values),
            _ => self.object(values),
        };
        let before = match (self.style, self.begun) {
            (LineStyle::Json, false) => "[\n",
            (LineStyle::Json, true) => ",\n",
            _ => "",
        };
        let behind = if self.style == LineStyle::Json { "" } else { "\n" };
        self.begun = true;
        self.file.write(&format!("{before}{line}{behind}"))
    }

    fn object(&self, values: &[Option<AnswerValue<'_>>]) -> String {
        let value = |value: &Option<AnswerValue<'_>>| match value {
            Some(AnswerValue::Number(value)) if value.is_finite() => number(*value),
            Some(AnswerValue::Name(text)) => serde_json::Value::from(*text).to_string(),
            _ => "null".to_owned(),
        };
        let key = |name: &str| serde_json::Value::from(name).to_string();
        let pairs = self.columns.iter().zip(values).map(|((name, _), own)| format!("{}:{}", key(name), value(own)));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
    }

    /// Puts the file in its place.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        #[cfg(feature = "arrow")]
        if let Some(columnar) = self.columnar.take() {
            self.file.write_bytes(&columnar.finish()?)?;
        }
        if self.style == LineStyle::Json {
            self.file.write(if self.begun { "\n]\n" } else { "[]\n" })?;
        }
        self.file.finish()
    }
}

fn csv(values: &[Option<AnswerValue<'_>>]) -> String {
    let cell = |value: &Option<AnswerValue<'_>>| match value {
        Some(AnswerValue::Number(value)) if value.is_finite() => number(*value),
        Some(AnswerValue::Name(text)) => quoted(text),
        _ => String::new(),
    };
    values.iter().map(cell).collect::<Vec<_>>().join(",")
}
