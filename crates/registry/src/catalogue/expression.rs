//! Values written as arithmetic in the number of rounds `T` and the input dimension `d`, such as
//! `25/T` or `10/sqrt(T)`.
//!
//! ```text
//! sum     = product { (+|-) product }
//! product = power { (*|/) power }
//! power   = - power | atom [ ^ power ]
//! atom    = number | T | d | ( sum ) | function ( sum { , sum } )
//! ```
//!
//! Functions: `sqrt`, `ln` (also written `log`), `exp` of one value; `min`, `max` of two or more.
//! `^` binds tighter than a sign and to the right: `-2^2` is −4, `2^3^2` is 512.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

/// Longest text taken: more than any formula needs, and few enough characters that nesting cannot
/// exhaust the stack.
const LONGEST: usize = 200;

/// A checked expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    text: String,
    root: Node,
    uses_rounds: bool,
    uses_names: bool,
}

/// Where and why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {position}: {reason}")]
pub struct ExpressionError {
    /// The offending character of the text, from 1.
    pub position: usize,
    /// The reason why it is refused.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Rounds,
    Dimension,
    Minus(Box<Node>),
    Binary(char, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Sqrt,
    Ln,
    Exp,
    Min,
    Max,
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        match name {
            "sqrt" => Some(Self::Sqrt),
            "ln" | "log" => Some(Self::Ln),
            "exp" => Some(Self::Exp),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    fn takes_several(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.chars().count() > LONGEST {
            return Err(ExpressionError {
                position: LONGEST + 1,
                reason: format!("a value has at most {LONGEST} characters"),
            });
        }
        let mut parser = Parser { text, rest: text.char_indices().peekable(), uses_rounds: false, uses_names: false };
        let root = parser.sum()?;
        match parser.peek() {
            None => {
                let Parser { uses_rounds, uses_names, .. } = parser;
                Ok(Self { text: text.trim().to_owned(), root, uses_rounds, uses_names })
            }
            Some(')') => Err(parser.error("this parenthesis closes nothing")),
            Some(_) => Err(parser.error("expected an operator (+ - * / ^) or the end")),
        }
    }

    /// True if the value depends on `T`.
    pub(super) fn uses_rounds(&self) -> bool {
        self.uses_rounds
    }

    /// True if it depends on the data: on `T` or `d`.
    pub(super) fn uses_names(&self) -> bool {
        self.uses_names
    }

    /// The value for `rounds` = T (NaN where T is needed and unknown) and `dimension` = d.
    pub(super) fn value(&self, rounds: Option<usize>, dimension: usize) -> f64 {
        self.root.value(rounds.map_or(f64::NAN, |rounds| rounds as f64), dimension as f64)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    fn value(&self, rounds: f64, dimension: f64) -> f64 {
        let value = |node: &Self| node.value(rounds, dimension);
        match self {
            Self::Number(number) => *number,
            Self::Rounds => rounds,
            Self::Dimension => dimension,
            Self::Minus(node) => -value(node),
            Self::Binary(operator, left, right) => {
                let (left, right) = (value(left), value(right));
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    _ => left.powf(right),
                }
            }
            Self::Call(function, arguments) => {
                let mut values = arguments.iter().map(value);
                let first = values.next().unwrap_or(f64::NAN);
                match function {
                    Function::Sqrt => first.sqrt(),
                    Function::Ln => first.ln(),
                    Function::Exp => first.exp(),
                    // f64::min would pass over a NaN; here it must not be lost.
                    Function::Min => {
                        values.fold(first, |least, next| if least.is_nan() || least <= next { least } else { next })
                    }
                    Function::Max => {
                        values.fold(first, |most, next| if most.is_nan() || most >= next { most } else { next })
                    }
                }
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    uses_rounds: bool,
    uses_names: bool,
}

impl Parser<'_> {
    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        self.rest.peek().map(|&(_, c)| c)
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|c| wanted.contains(c))?;
        self.rest.next();
        Some(found)
    }

    /// The byte at which the next character begins.
    fn offset(&mut self) -> usize {
        self.peek();
        self.rest.peek().map_or(self.text.len(), |&(offset, _)| offset)
    }

    fn error(&mut self, reason: impl Into<String>) -> ExpressionError {
        let offset = self.offset();
        self.error_at(offset, reason)
    }

    fn error_at(&self, offset: usize, reason: impl Into<String>) -> ExpressionError {
        ExpressionError { position: self.text[..offset].chars().count() + 1, reason: reason.into() }
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            left = Node::Binary(operator, left.into(), self.product()?.into());
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.power()?;
        while let Some(operator) = self.take(&['*', '/']) {
            left = Node::Binary(operator, left.into(), self.power()?.into());
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<Node, ExpressionError> {
        if self.take(&['-']).is_some() {
            return Ok(Node::Minus(self.power()?.into()));
        }
        let base = self.atom()?;
        match self.take(&['^']) {
            Some(operator) => Ok(Node::Binary(operator, base.into(), self.power()?.into())),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<Node, ExpressionError> {
        match self.peek() {
            Some('(') => {
                self.rest.next();
                let inner = self.sum()?;
                match self.take(&[')']) {
                    Some(_) => Ok(inner),
                    None => Err(self.error("expected a closing parenthesis")),
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.name(),
            Some(_) | None => Err(self.error("expected a number, T, d, a function or a parenthesis")),
        }
    }

    fn number(&mut self) -> Result<Node, ExpressionError> {
        let start = self.offset();
        let mut previous = '0';
        let continues = |c: char, previous: char| {
            c.is_ascii_digit()
                || matches!(c, '.' | 'e' | 'E')
                || (matches!(c, '+' | '-') && matches!(previous, 'e' | 'E'))
        };
        while let Some((_, c)) = self.rest.next_if(|&(_, c)| continues(c, previous)) {
            previous = c;
        }
        let end = self.rest.peek().map_or(self.text.len(), |&(offset, _)| offset);
        let written = &self.text[start..end];
        match written.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Node::Number(number)),
            Ok(_) => Err(self.error_at(start, format!("{written} is too large for a number"))),
            Err(_) => Err(self.error_at(start, format!("{written} is not a number"))),
        }
    }

    fn name(&mut self) -> Result<Node, ExpressionError> {
        let start = self.offset();
        while self.rest.next_if(|(_, c)| c.is_alphanumeric() || *c == '_').is_some() {}
        let end = self.rest.peek().map_or(self.text.len(), |&(offset, _)| offset);
        let name = &self.text[start..end];
        match name {
            "T" => {
                (self.uses_rounds, self.uses_names) = (true, true);
                return Ok(Node::Rounds);
            }
            "d" => {
                self.uses_names = true;
                return Ok(Node::Dimension);
            }
            _ => {}
        }
        let Some(function) = Function::named(name) else {
            let reason =
                format!("{name:?} is unknown; there are T (rows), d (features), sqrt, ln, log, exp, min and max");
            return Err(self.error_at(start, reason));
        };
        if self.take(&['(']).is_none() {
            return Err(self.error(format!("expected ( after {name}")));
        }
        let mut arguments = vec![self.sum()?];
        while self.take(&[',']).is_some() {
            arguments.push(self.sum()?);
        }
        if self.take(&[')']).is_none() {
            return Err(self.error("expected a closing parenthesis"));
        }
        match (function.takes_several(), arguments.len()) {
            (true, 2..) | (false, 1) => Ok(Node::Call(function, arguments)),
            (true, _) => Err(self.error_at(start, format!("{name} takes two or more values"))),
            (false, _) => Err(self.error_at(start, format!("{name} takes one value"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> f64 {
        Expression::parse(text).unwrap().value(Some(100), 4)
    }

    #[test]
    fn arithmetic_by_hand() {
        for (text, expected) in [
            ("25/T", 0.25),
            ("10/sqrt(T)", 1.0),
            ("1 + 2 * 3 - 4 / 8", 6.5),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("--2", 2.0),
            ("8-3-2", 3.0),
            ("8/4/2", 1.0),
            ("(1+2)*d", 12.0),
            ("1e-3", 1e-3),
            ("1E+2*.5", 50.0),
            ("2.", 2.0),
            ("ln(exp(2))+log(exp(1))", 3.0),
            ("min(T, d, 7)", 4.0),
            ("max(1,T/50)", 2.0),
            ("(sqrt(d^2+4*d*T)-d)/2", (1616f64.sqrt() - 4.0) / 2.0),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn a_nan_is_not_lost() {
        for text in ["min(1, ln(-1))", "min(ln(-1), 1)", "max(1, ln(-1), 2)", "sqrt(-1)"] {
            assert!(value(text).is_nan(), "{text}");
        }
        assert!(Expression::parse("T").unwrap().value(None, 4).is_nan());
    }

    #[test]
    fn errors_say_where() {
        let error = |text: &str| Expression::parse(text).unwrap_err().to_string();
        for (text, expected) in [
            ("", "at character 1: expected a number"),
            ("25/", "at character 4: expected a number"),
            ("25/(T", "at character 6: expected a closing"),
            ("25 T", "at character 4: expected an operator"),
            ("(1))", "at character 4: this parenthesis closes nothing"),
            ("1.2.3", "at character 1: 1.2.3 is not a number"),
            ("2*1e999", "at character 3: 1e999 is too large"),
            ("sqrt 2", "at character 6: expected ( after sqrt"),
            ("sqrt(1,2)", "at character 1: sqrt takes one value"),
            ("1+min(1)", "at character 3: min takes two or more"),
            ("25/t", "at character 4: \"t\" is unknown; there are T (rows), d"),
            ("nan", "at character 1: \"nan\" is unknown"),
            ("µ/ßx", "at character 1: \"µ\" is unknown"),
            ("1$2", "at character 2: expected an operator"),
        ] {
            assert!(error(text).starts_with(expected), "{text}: {}", error(text));
        }
        assert!(error(&"(".repeat(10_000)).contains("at most 200"));
        assert!(error(&"-".repeat(200)).contains("at character 201"));
    }

    #[test]
    fn what_it_depends_on() {
        let uses = |text: &str| {
            let expression = Expression::parse(text).unwrap();
            (expression.uses_rounds(), expression.uses_names())
        };
        assert_eq!((uses("2^3"), uses("d+1"), uses("sqrt(T)")), ((false, false), (false, true), (true, true)));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            if let Ok(expression) = Expression::parse(&text) {
                expression.value(Some(7), 3);
            }
        }

        #[test]
        fn never_panics_on_its_own_alphabet(text in "[-0-9.eE+*/^(), Tdsqrtlnogexpmia]{0,220}") {
            match Expression::parse(&text) {
                Ok(expression) => drop(expression.value(Some(7), 3)),
                Err(error) => prop_assert!((1..=221).contains(&error.position)),
            }
        }

        #[test]
        fn numbers_read_back(number in proptest::num::f64::POSITIVE | proptest::num::f64::ZERO) {
            prop_assert_eq!(Expression::parse(&format!("{number:?}")).unwrap().value(None, 1), number);
        }
    }
}
