//! Numbers with something around them, and between their digits.

use mercer_core::{Cell, Punctuation};

use crate::digits::usual;
use crate::face::BEGIN_WITH_ZERO;

/// Signs that stand around the numbers of a column, and marks between their digits.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Numeral {
    pub(crate) before: String,
    pub(crate) behind: String,
    /// [`UNSEEN`] where it is not known.
    pub(crate) decimal: char,
    pub(crate) group: Option<char>,
}

/// The number that a text is, without anything around it and between its digits.
pub(crate) fn plain(text: &str) -> Option<f64> {
    let read = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    read(text).or_else(|| read(&usual(text)))
}

/// One cell in so many of a column may be something else.
pub(crate) const CELLS_A_MISFIT: u64 = 20;

/// The marks of numbers, as far as a user tells them or other columns show them. They settle what a
/// number is that may be two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberMarks {
    /// Before the fraction: `.` or `,`.
    pub decimal: Option<char>,
    /// Between thousands: `.`, `,`, `'` or a blank, or none at all.
    pub group: Option<Option<char>>,
}

impl NumberMarks {
    /// True for a plain number with a point before its fraction where a comma stands there.
    pub(crate) fn contradict(self, text: &str) -> bool {
        self.decimal == Some(',') && text.contains('.') && plain(text).is_some()
    }

    pub(crate) fn allow(self, numeral: &Numeral) -> bool {
        self.decimal.is_none_or(|mark| mark == numeral.decimal) && self.group.is_none_or(|mark| mark == numeral.group)
    }
}

/// True if digits begin with a zero that a number has no need of.
pub(crate) fn is_code(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']).as_bytes();
    matches!(digits, [b'0', b'0'..=b'9', ..])
}

/// The mark of a fraction, and that between groups of three digits.
pub(crate) const MARKS: [(char, Option<char>); 8] = [
    ('.', None),
    (',', None),
    ('.', Some(',')),
    (',', Some('.')),
    ('.', Some('\'')),
    ('.', Some(' ')),
    (',', Some(' ')),
    (',', Some('\'')),
];

/// Stands for the mark of a fraction where no cell of the look has a mark. Model files hold a
/// character there.
pub(crate) const UNSEEN: char = '\0';

/// Meaning of one letter behind digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Letter {
    Code,
    Unit,
    /// It is told that numbers have units behind them, whatever these are.
    Told,
}

impl Numeral {
    /// Nothing around it, and a point before the fraction.
    pub(crate) const BARE: Self = Self { before: String::new(), behind: String::new(), decimal: '.', group: None };

    /// The number of a text of the look, with this around it and these marks.
    pub(crate) fn read(&self, text: &str) -> Option<f64> {
        self.value(text, |written| self.known(written))
    }

    /// The number of any text. Marks that no cell of the look had are taken where that can be read
    /// in one way alone.
    pub(crate) fn read_on(&self, text: &str) -> Option<f64> {
        self.value(text, |written| self.known(written).or_else(|| self.newly(written)))
    }

    fn value(&self, text: &str, marks: impl Fn(Punctuation) -> Option<Punctuation>) -> Option<f64> {
        let (negative, digits) = self.digits(text)?;
        let value = match Punctuation::detect(digits) {
            None => plain(digits)?,
            Some(written) => marks(written)?.value(digits)?,
        };
        Some(if negative { -value } else { value })
    }

    /// The marks between the digits of a text.
    pub(crate) fn punctuation(&self, text: &str) -> Option<Punctuation> {
        Punctuation::detect(self.digits(text)?.1)
    }

    /// The sign of a text, true below zero, and its digits. A sign may stand before all or before
    /// these.
    fn digits<'a>(&self, text: &'a str) -> Option<(bool, &'a str)> {
        let (negative, text) = sign(text.trim());
        let [before, behind] = [&self.before, &self.behind].map(|affix| affix.trim_matches(is_blank));
        let text = text.strip_prefix(before)?.strip_suffix(behind)?.trim_matches(is_blank);
        let (inner, digits) = sign(text);
        let begins = digits.starts_with(|first: char| {
            first.is_ascii_digit() || first == self.decimal || self.is_open() && matches!(first, '.' | ',')
        });
        (begins && !(negative && inner)).then_some((negative || inner, digits))
    }

    /// True if nothing tells the mark of a fraction.
    fn is_open(&self) -> bool {
        self.decimal == UNSEEN
    }

    /// The reading of a number that is written so, in marks that are known.
    fn known(&self, written: Punctuation) -> Option<Punctuation> {
        if self.has(written) {
            return Some(written);
        }
        // A single group may be a fraction as well.
        let other = written.with_fraction();
        (written.doubt().is_some() && self.has(other)).then_some(other)
    }

    /// The reading of a number that is written so, where a mark is new.
    fn newly(&self, written: Punctuation) -> Option<Punctuation> {
        let fraction = self.is_open() || written.decimal.is_none_or(|mark| mark == self.decimal);
        let groups = self.group.is_none() && !(self.is_open() && written.doubt().is_some());
        (fraction && groups).then_some(written)
    }

    /// True if its numbers have these marks.
    fn has(&self, written: Punctuation) -> bool {
        written.decimal.is_none_or(|mark| mark == self.decimal)
            && (written.groups.is_none() || written.groups == self.group)
    }

    /// True if its digits are as every program writes them, with nothing around them.
    pub(crate) fn is_bare(&self) -> bool {
        self.before.is_empty() && self.behind.is_empty() && self.group.is_none() && self.decimal != ','
    }

    /// True if its numbers count hundredths or thousandths.
    pub(crate) fn is_part_of_a_whole(&self) -> bool {
        matches!(self.behind.trim_matches(is_blank), "%" | "‰")
    }

    pub(crate) fn words(&self) -> String {
        let Self { before, behind, decimal, group } = self;
        let affix = format!("{before}{behind}");
        let mut words = Vec::new();
        if !affix.is_empty() {
            words.push(format!("written with {affix:?}"));
        }
        if let Some(group) = group {
            words.push(format!("thousands by \"{group}\""));
        }
        if *decimal == ',' {
            words.push("decimal commas".to_owned());
        }
        if words.is_empty() { "written as text".to_owned() } else { words.join(", ") }
    }
}

/// The sign of a text, true below zero, and the text without it.
fn sign(text: &str) -> (bool, &str) {
    if let Some(rest) = text.strip_prefix(['-', '−']) {
        return (true, rest.trim_start_matches(is_blank));
    }
    match set_off(text) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The text in parentheses, or before a minus at the end, as accounts write what is below zero.
/// `2-` is no number, but a mark of a school; `500/-` and `50,-` are whole amounts.
fn set_off(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).map(|rest| rest.trim_matches(is_blank));
    let ends = |rest: &str| rest.ends_with(|c: char| c.is_ascii_digit() || is_blank(c));
    let minus = || text.strip_suffix(['-', '−']).filter(|rest| rest.contains(['.', ',']) && ends(rest));
    inner.or_else(minus).filter(|rest| rest.contains(|c: char| c.is_ascii_digit()))
}

/// Points and those that can be reached, as forms write them: `9 / 10`.
fn of_points(text: &str) -> Option<(&str, &str)> {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    text.split_once(" / ").filter(|(points, of)| is_number(points) && are_digits(of))
}

/// True if a text is a number below zero, as accounts write it.
pub(crate) fn is_set_off(text: &str) -> bool {
    set_off(text.trim()).is_some()
}

/// A blank, or one of the thin ones that group digits.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Signs and units that may stand before and behind a number.
pub(crate) struct Affix;

impl Affix {
    /// Signs and codes of currencies.
    const CURRENCIES: [&str; 29] = [
        "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kr", "kr.", "Kč", "USD", "EUR", "GBP", "CHF", "JPY", "CNY",
        "INR", "CAD", "AUD", "US$", "R$", "Fr.", "Rs", "Rs.", "₨", "/-", ",-",
    ];

    /// Signs of parts of a whole, and of degrees.
    const SIGNS: [&str; 5] = ["%", "‰", "°", "°C", "°F"];

    /// Units that may stand behind digits without a blank. One letter may be a code.
    const UNITS: [&str; 24] = [
        "ms", "min", "sec", "mg", "kg", "mm", "cm", "km", "ml", "m/s", "km/h", "mph", "m²", "m³", "hPa", "Hz", "kHz",
        "kW", "kWh", "kB", "KB", "MB", "GB", "TB",
    ];

    /// The affixes that all texts but the odd ones have around their digits: a sign, or behind a
    /// blank one word for a unit.
    pub(crate) fn shared<'a>(
        texts: impl Iterator<Item = (&'a str, u64)> + Clone,
        misfit: u64,
        letter: Letter,
    ) -> Option<(String, String)> {
        // A unit is one with a blank before it and without.
        let bare =
            |(before, behind): (&'a str, &'a str)| (before.trim_matches(is_blank), behind.trim_matches(is_blank));
        let mut counts: Vec<((&str, &str), u64)> = Vec::new();
        let mut all = 0;
        for (text, count) in texts {
            all += count;
            let Some(around) = Self::around(text) else { continue };
            match counts.iter().position(|(known, _)| bare(*known) == bare(around)) {
                Some(place) => {
                    counts[place].1 += count;
                    if !Self::is_read(counts[place].0) {
                        counts[place].0 = around;
                    }
                }
                None if counts.len() < 16 => counts.push((around, count)),
                None => {}
            }
        }
        let ((before, behind), count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        let of_letter = || {
            let is_letter = matches!(behind.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z']);
            before.is_empty() && (letter == Letter::Unit && is_letter || letter == Letter::Told && !behind.is_empty())
        };
        let is_clock = ["am", "pm"].iter().any(|half| behind.trim().eq_ignore_ascii_case(half));
        ((all - count) * misfit <= all && !is_clock && (Self::is_read((before, behind)) || of_letter()))
            .then(|| (before.to_owned(), behind.to_owned()))
    }

    /// The affixes before and behind the digits of a text that is a number.
    pub(crate) fn of_number(text: &str) -> Option<(&str, &str)> {
        let around = Self::around(text).filter(|around| Self::is_read(*around))?;
        let [before, behind] = [around.0, around.1].map(str::to_owned);
        let mut numeral = Numeral { before, behind, decimal: '.', group: None };
        let mut reads = |(decimal, group)| {
            (numeral.decimal, numeral.group) = (decimal, group);
            numeral.read(text).is_some()
        };
        MARKS.into_iter().any(&mut reads).then_some(around)
    }

    /// True if this may stand before and behind a number.
    fn is_read((before, behind): (&str, &str)) -> bool {
        Self::is_known(before.trim_matches(is_blank)) && Self::is_unit(behind)
    }

    fn is_known(sign: &str) -> bool {
        sign.is_empty() || Self::SIGNS.contains(&sign) || Self::CURRENCIES.contains(&sign)
    }

    /// True if a currency stands before or behind the digits.
    pub(crate) fn is_money(text: &str) -> bool {
        let is_currency = |sign: &str| Self::CURRENCIES.contains(&sign.trim_matches(is_blank));
        Self::around(text).is_some_and(|(before, behind)| is_currency(before) || is_currency(behind))
    }

    fn is_unit(behind: &str) -> bool {
        let unit = behind.trim_matches(is_blank);
        let word = behind.starts_with(is_blank) && unit.len() <= 12 && unit.chars().all(|c| !is_blank(c));
        Self::is_known(unit) || Self::UNITS.contains(&unit) || word || of_points(&format!("0{behind}")).is_some()
    }

    /// The texts before the first digit, without a sign, and behind the last.
    fn around(text: &str) -> Option<(&str, &str)> {
        let (_, text) = sign(text.trim());
        if let Some((points, _)) = of_points(text) {
            return Some(("", &text[points.len()..]));
        }
        let first = text.find(|c: char| c.is_ascii_digit())?;
        let last = text.rfind(|c: char| c.is_ascii_digit())?;
        let (before, behind) = (text[..first].trim_end_matches(['-', '−', '+', '.', ',']), &text[last + 1..]);
        // A number below zero may be in parentheses behind a sign: `$(5.00)`.
        let within = before.strip_suffix('(').zip(behind.strip_prefix(')'));
        Some(within.unwrap_or((before, behind)))
    }
}

/// The form of a number that may be a code.
pub(crate) fn code(cell: Cell<'_>) -> Option<&'static str> {
    let text = match cell {
        Cell::Integer(_) => return Some("some have more digits than a number holds"),
        Cell::Numeral(_, text) => text,
        _ => return None,
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A code has few digits.
    let exponent = |(digits, exponent): (&str, &str)| are_digits(digits) && are_digits(exponent) && text.len() < 7;
    if is_code(text) {
        Some(BEGIN_WITH_ZERO)
    } else if text.split_once(['e', 'E']).is_some_and(exponent) && cell.number().is_some_and(|value| value < 1e16) {
        Some("some are written with an E")
    } else if text.len() > 15 && text.parse().is_ok_and(|whole| matches!(Cell::integer(whole), Cell::Integer(_))) {
        Some("some have more digits than a number holds")
    } else {
        None
    }
}
