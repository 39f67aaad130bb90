//! The statements of the papers, as `docs/papers` lists them: a row a statement, with what shows it
//! and how it stands.
//!
//! `docs/papers/README.md` says how a row is written. The report counts statements from these
//! pages, and a test holds them to the sources and to the kept results.

use std::fmt;

use crate::judgement::Outcome;
use crate::table::Table;

/// The pages by the names of their papers.
pub const PAGES: [(&str, &str); 4] = [
    ("sublinear", include_str!("../../../docs/papers/sublinear.md")),
    ("projected", include_str!("../../../docs/papers/projected.md")),
    ("prediction", include_str!("../../../docs/papers/prediction.md")),
    ("operator", include_str!("../../../docs/papers/operator.md")),
];

/// Status of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Every comparison agrees.
    Holds,
    /// They agree under a setting that the paper leaves open.
    WithOurChoice,
    /// Some comparison does not agree.
    Differs,
    /// An algorithm or a definition, equal to an independent implementation.
    Built,
    /// It could be tested, and is not.
    NotTested,
    /// Nothing that can be computed follows from it.
    NotTestable,
}

impl Status {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 6] =
        [Self::Holds, Self::Built, Self::WithOurChoice, Self::Differs, Self::NotTested, Self::NotTestable];

    /// Its word on the pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::WithOurChoice => "with our choice",
            Self::Differs => "differs",
            Self::Built => "built",
            Self::NotTested => "not tested",
            Self::NotTestable => "not testable",
        }
    }
}

/// A choice of the verdicts of a table: `column=value; column=value; column`.
///
/// A row is chosen if it has each value in its column, as people see it; a value that ends with `…`
/// is the beginning of the cell. A column without a value is the one whose verdicts count, all
/// columns unless given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Columns and their values.
    pub cells: Vec<(String, String)>,
    /// The column of the verdicts.
    pub verdicts: Option<String>,
}

impl Selector {
    fn read(text: &str) -> Self {
        let mut selector = Self::default();
        for part in text.split("; ").filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((column, value)) => selector.cells.push((column.to_owned(), value.to_owned())),
                None => selector.verdicts = Some(part.to_owned()),
            }
        }
        selector
    }

    /// True if a cell has this value.
    fn is_like(cell: &str, value: &str) -> bool {
        match value.strip_suffix('…') {
            Some(beginning) => cell.starts_with(beginning),
            None => cell == value,
        }
    }

    /// The outcomes of the verdicts chosen.
    ///
    /// # Errors
    /// When a column does not exist, a value is in no cell of its column, or a column that is to
    /// hold verdicts holds none.
    pub fn choose(&self, table: &Table) -> Result<Vec<Outcome>, String> {
        let names: Vec<&str> = table.header().map(|(name, _)| name).collect();
        let place = |column: &String| {
            names.iter().position(|name| name == column).ok_or_else(|| format!("there is no column {column:?}"))
        };
        let rows: Vec<_> = table.shown().collect();
        let mut chosen = vec![true; rows.len()];
        for (column, value) in &self.cells {
            let place = place(column)?;
            let mut found = false;
            for (row, chosen) in rows.iter().zip(&mut chosen) {
                let is_like = Self::is_like(&row[place].text, value);
                found |= is_like;
                *chosen &= is_like;
            }
            if !found {
                return Err(format!("no cell of column {column:?} is {value:?}"));
            }
        }
        let only = self.verdicts.as_ref().map(place).transpose()?;
        let cells = rows.iter().zip(chosen).filter(|(_, chosen)| *chosen).flat_map(|(row, _)| row.iter().enumerate());
        let cells = cells.filter(|(at, _)| only.is_none_or(|only| only == *at));
        let outcomes: Vec<Outcome> = cells.filter_map(|(_, cell)| cell.outcome).collect();
        if outcomes.is_empty() && only.is_some() {
            return Err("no verdict is chosen".to_owned());
        }
        Ok(outcomes)
    }
}

/// Evidence that a row points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A file of the repository, or a function in it.
    File {
        /// From the root of the repository.
        path: String,
        /// The function's name.
        function: Option<String>,
    },
    /// Verdicts of a table of the kept results.
    Table {
        /// Its stem.
        table: String,
        /// The verdicts counted.
        selector: Selector,
        /// Number of verdicts that came out, and number of all.
        count: Option<(usize, usize)>,
    },
}

impl fmt::Display for Evidence {
    /// As the pages write it, without the folders of a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, function } => {
                f.write_str(path.rsplit('/').next().unwrap_or(path))?;
                function.as_ref().map_or(Ok(()), |function| write!(f, "#{function}"))
            }
            Self::Table { table, selector, .. } => {
                let cells = selector.cells.iter().map(|(column, value)| format!("{column}={value}"));
                let parts: Vec<String> = cells.chain(selector.verdicts.clone()).collect();
                if parts.is_empty() { f.write_str(table) } else { write!(f, "{table}[{}]", parts.join("; ")) }
            }
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name, with the paper's number.
    pub name: String,
    /// The statement in a line.
    pub words: String,
    /// Where it is in the code.
    pub code: Vec<Evidence>,
    /// Evidence that shows it.
    pub shown: Vec<Evidence>,
    /// Its status.
    pub status: Status,
    /// Why, as far as a word does not say it.
    pub reason: String,
}

/// The statements of the paper of this name; none of a subject of our own, or of a page that is not
/// one, which a test excludes.
pub fn find(paper: &str) -> Vec<Statement> {
    let page = PAGES.iter().find(|(name, _)| *name == paper);
    page.map(|(_, text)| read(text).unwrap_or_default()).unwrap_or_default()
}

/// Reads the rows of a page.
pub fn read(page: &str) -> Result<Vec<Statement>, String> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    rows.filter(|line| !line.starts_with("| statement |") && !line.starts_with("|---")).map(row).collect()
}

fn row(line: &str) -> Result<Statement, String> {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let &[name, words, code, shown, status] = cells.as_slice() else {
        return Err(format!("{line}: {} cells, not five", cells.len()));
    };
    let (word, reason) = status.split_once(": ").unwrap_or((status, ""));
    let status = Status::ALL.into_iter().find(|status| status.name() == word);
    let status = status.ok_or_else(|| format!("{name}: {word:?} is no status"))?;
    let (code, shown) = (pointers(code), pointers(shown));
    if code.is_empty() || shown.is_empty() {
        return Err(format!("{name}: it names no code or nothing that shows it"));
    }
    Ok(Statement { name: name.to_owned(), words: words.to_owned(), code, shown, status, reason: reason.to_owned() })
}

/// Texts between backticks, with the count behind each.
fn pointers(cell: &str) -> Vec<Evidence> {
    let mut parts = cell.split('`');
    parts.next();
    let mut all = Vec::new();
    while let (Some(inside), Some(behind)) = (parts.next(), parts.next()) {
        all.push(match inside.split_once('#') {
            Some((path, function)) => Evidence::File { path: path.to_owned(), function: Some(function.to_owned()) },
            None if [".rs", ".md", ".json"].iter().any(|end| inside.ends_with(end)) => {
                Evidence::File { path: inside.to_owned(), function: None }
            }
            None => {
                let (table, selector) = inside.split_once('[').unwrap_or((inside, "]"));
                let selector = Selector::read(selector.trim_end_matches(']'));
                Evidence::Table { table: table.to_owned(), selector, count: count(behind) }
            }
        });
    }
    all
}

/// `n of m`, which ends with a semicolon or the cell.
fn count(text: &str) -> Option<(usize, usize)> {
    let (came_out, all) = text.split(';').next()?.trim().split_once(" of ")?;
    Some((came_out.parse().ok()?, all.parse().ok()?))
}
