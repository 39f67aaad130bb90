//! Records as tokens.

use mercer_core::{KeyHash, Token, TokenRow, TokenUse, Validate, mixed};
use mercer_encoding::{Cell, Encoding, EncodingError, EncodingOptions, Face, Kind, List, Overrides, Use};

type TestResult = Result<(), EncodingError>;

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn look<const N: usize>(
    columns: [&str; N],
    head: &[[Cell<'_>; N]],
    told: &Overrides,
) -> Result<Encoding, EncodingError> {
    Encoding::look(&names(columns), head, told, EncodingOptions::default().tokens(TokenUse::Always))
}

fn tokens<const N: usize>(encoding: &Encoding, record: [Cell<'_>; N]) -> TokenRow {
    let mut row = TokenRow::default();
    assert_eq!(encoding.tokens(&record, &mut row), Ok(true));
    row
}

fn value(tokens: &[Token], key: u64) -> Option<f64> {
    tokens.iter().find(|token| token.key == key).map(|token| token.value)
}

fn all(row: &TokenRow) -> Vec<Token> {
    row.tokens().collect()
}

fn agree(tokens: &[Token], expected: &[(u64, f64)]) {
    assert_eq!(tokens.len(), expected.len(), "{tokens:?} {expected:?}");
    for (key, expected) in expected {
        let found = value(tokens, *key).unwrap_or(f64::NAN);
        assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
    }
}

/// Titles, all different, of several words.
fn titles() -> Vec<String> {
    (0..30).map(|t| format!("tale {t} of {}", ["red", "blue", "green"][t % 3])).collect()
}

#[test]
fn words_of_a_text_by_hand() -> TestResult {
    let titles = titles();
    let head: Vec<[Cell<'_>; 1]> = titles.iter().map(|title| [Cell::Text(title)]).collect();
    let encoding = look(["title"], &head, &Overrides::default())?;
    assert_eq!((encoding.dimension(), encoding.schema().columns()[0].used), (0, Use::Words));
    let column = KeyHash::new("title");
    let word = |word: &str| column.part("w").part(word).key();
    let whole = |text: &str| column.part("=").part(text).key();
    let next = |a: &str, b: &str| {
        mixed(column.part("b").key() ^ word(a).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word(b)))
    };
    let row = tokens(&encoding, [Cell::Text("Red, red Blue")]);
    // Counts 2, 1, 1 and neighbours red ,|, red|red blue.
    let (two, sum) = (1.0 + 2_f64.ln(), (1.0 + 2_f64.ln()).powi(2) + 2.0);
    let (root, three) = (sum.powf(0.25), 0.5 / 3_f64.powf(0.25));
    let words = [("red", two), (",", 1.0), ("blue", 1.0)];
    let mut expected = vec![(whole("Red, red Blue"), 1.0)];
    expected.extend(words.map(|(text, weight)| (word(text), weight / root)));
    expected.extend([("red", ","), (",", "red"), ("red", "blue")].map(|(a, b)| (next(a, b), three)));
    agree(&all(&row), &expected);
    agree(row.factors(), &words.map(|(text, weight)| (word(text), weight / sum.sqrt())));
    // A cell of one word is a category; one without is a gap.
    let row = tokens(&encoding, [Cell::Text("Red")]);
    agree(&all(&row), &[(whole("Red"), 1.0)]);
    agree(row.factors(), &[(whole("Red"), 1.0)]);
    for gap in [Cell::Missing, Cell::Text("  ")] {
        let row = tokens(&encoding, [gap]);
        agree(&all(&row), &[(column.part("gap").key(), 1.0)]);
        assert_eq!(row.texts(), row.factors());
    }
    Ok(())
}

/// The running mean and deviation of the rows before, and bins of the head.
#[test]
fn numbers_and_times_by_hand() -> TestResult {
    let day = |t: u32| f64::from(t) * 86_400.0;
    let head: Vec<[Cell<'_>; 2]> =
        (0..33).map(|t| [Cell::Number(f64::from(t)), Cell::Instant(day(t) + 3600.0 * f64::from(t % 5))]).collect();
    let mut encoding = look(["x", "at"], &head, &Overrides::default())?;
    let (x, at) = (KeyHash::new("x"), KeyHash::new("at"));
    let deviation = |n: f64| ((n * n - 1.0) / 12.0).sqrt();
    let row = tokens(&encoding, [Cell::Number(18.5), Cell::Missing]);
    let expected = [
        (x.part("z").key(), (18.5 - 16.0) / deviation(33.0)),
        (x.part("bin").number(9).key(), 1.0),
        (at.part("gap").key(), 1.0),
    ];
    agree(&all(&row), &expected);
    agree(row.factors(), &[(x.part("coarse bin").number(4).key(), 1.0), (at.part("gap").key(), 1.0)]);
    // 1970-01-08 was a Thursday, as the first day.
    let row = tokens(&encoding, [Cell::Missing, Cell::Instant(day(7) + 7200.0)]);
    assert_eq!(value(row.factors(), at.part("hour").number(2).key()), Some(1.0));
    assert_eq!(value(row.factors(), at.part("month").number(0).key()), Some(1.0));
    assert_eq!(value(row.factors(), x.part("gap").key()), Some(1.0));
    assert!(value(&all(&row), at.part("z").key()).is_some_and(|z| (-1.0..-0.8).contains(&z)), "{row:?}");
    // Learnt, a far number moves the mean; its own token is cut.
    encoding.learn(&[Cell::Number(1e300), Cell::Missing])?;
    let row = tokens(&encoding, [Cell::Number(5e299), Cell::Text("wrong")]);
    assert!(value(&all(&row), x.part("z").key()).is_some_and(|z| z.abs() <= 20.0));
    assert_eq!(value(&all(&row), at.part("other").part("wrong").key()), Some(1.0));
    assert_eq!(encoding.validate(), Ok(()));
    Ok(())
}

/// Texts that are told, left out, or named; and those of a learner without tokens.
#[test]
fn texts_are_words_where_they_are_asked_for() -> TestResult {
    let titles = titles();
    let codes: Vec<String> = (0..30).map(|t| format!("A{}", 1000 + t * 7)).collect();
    let head: Vec<[Cell<'_>; 3]> =
        (0..30).map(|t| [Cell::Text(&titles[t]), Cell::Text(&codes[t]), Cell::Number((t * t % 7) as f64)]).collect();
    let columns = ["title", "code", "x"];
    let used = |told: &Overrides| -> Result<Vec<Use>, EncodingError> {
        Ok(look(columns, &head, told)?.schema().columns().iter().map(|column| column.used).collect())
    };
    assert_eq!(used(&Overrides::default())?, [Use::Words, Use::Identifier, Use::Encoded]);
    let told = Overrides::default().kind("title", Kind::Identifier).kind("code", Kind::Text);
    assert_eq!(used(&told)?, [Use::Unwanted, Use::Words, Use::Encoded]);
    let told = Overrides::default().kind("title", Kind::Category);
    assert_eq!(used(&told)?, [Use::Encoded, Use::Identifier, Use::Encoded]);
    let encoding = look(columns, &head, &Overrides::default().ignore(["title"]))?;
    let row = tokens(&encoding, head[3]);
    assert_eq!((row.texts().len(), row.numbers().len()), (0, 2), "the deviation and the bin of the number");
    let without = Encoding::look(&names(columns), &head, &Overrides::default(), EncodingOptions::default())?;
    assert_eq!(without.tokens(&head[0], &mut TokenRow::default()), Ok(false));
    let title = &without.schema().columns()[0];
    assert_eq!((title.kind, title.used), (Kind::Text, Use::Text));
    let line = look(columns, &head, &Overrides::default())?.schema().columns()[0].line(30, Face::Command);
    let words = "its words and signs are tokens of learners that take them, such as auto and coin; --as 'title=category' takes whole cells, --as 'title=identifier' leaves it out";
    assert_eq!(line.as_deref(), Some(&*format!("column \"title\": {words}")));
    let narrow = encoding.tokens(&[Cell::Missing], &mut TokenRow::default());
    assert_eq!(narrow, Err(EncodingError::Cells { expected: 3, got: 1 }));
    Ok(())
}

/// A list has its members as words without their order, an object its names with their numbers.
/// Written or typed, it is the same.
#[test]
fn lists_by_hand() -> TestResult {
    let text = |t: usize| format!("[\"{}\",\"B {}\"]", ["a", "b"][t % 2], t % 3);
    let pairs = |t: usize| format!("{{\"x\": {t}, \"y\": \"red\"}}");
    let rows: Vec<[String; 2]> = (0..30).map(|t| [text(t), pairs(t)]).collect();
    let typed: Vec<[Cell<'_>; 2]> =
        rows.iter().map(|row| [0, 1].map(|k| Cell::List(List::read(&row[k]).unwrap()))).collect();
    let written: Vec<[Cell<'_>; 2]> = rows.iter().map(|row| [0, 1].map(|k| Cell::Text(&row[k]))).collect();
    let encoding = look(["l", "o"], &typed, &Overrides::default())?;
    let columns = encoding.schema().columns();
    assert_eq!([columns[0].kind, columns[1].kind], [Kind::List; 2]);
    assert_eq!([columns[0].used, columns[1].used], [Use::Words; 2]);
    let of_texts = look(["l", "o"], &written, &Overrides::default())?;
    assert_eq!(of_texts.schema().columns()[0].kind, Kind::List);

    let (l, o) = (KeyHash::new("l"), KeyHash::new("o"));
    let member = |name: &str| l.part("w").part(name).key();
    let name = |name: &str| o.part("k").part(name).key();
    let cells = ["[\"A\", \"b 1\", \"a\", null]", "{\"x\": 2.5, \"y\": \"red\", \"z\": null}"];
    let (two, sum) = (1.0 + 2_f64.ln(), (1.0 + 2_f64.ln()).powi(2) + 1.0);
    let red = o.part("k").part("y").part("red").key();
    let expected =
        [(member("a"), two / sum.powf(0.25)), (member("b 1"), 1.0 / sum.powf(0.25)), (name("x"), 2.5), (red, 1.0)];
    let factors = [(member("a"), two / sum.sqrt()), (member("b 1"), 1.0 / sum.sqrt()), (name("x"), 2.5), (red, 1.0)];
    for encoding in [&encoding, &of_texts] {
        for row in [
            tokens(encoding, cells.map(|cell| Cell::List(List::read(cell).unwrap()))),
            tokens(encoding, cells.map(Cell::Text)),
        ] {
            agree(&all(&row), &expected);
            agree(row.factors(), &factors);
        }
    }
    // A value alone is a list of one; none is a gap; an object without names says nothing.
    let gap = l.part("gap").key();
    agree(&all(&tokens(&encoding, [Cell::Text("A"), Cell::List(List::read("{}").unwrap())])), &[(member("a"), 1.0)]);
    for empty in [Cell::Missing, Cell::List(List::read("[]").unwrap()), Cell::Text("[null]")] {
        agree(&all(&tokens(&encoding, [empty, Cell::Text("{}")])), &[(gap, 1.0)]);
    }
    // Without tokens there is nothing left.
    let refused = Encoding::look(&names(["l", "o"]), &typed, &Overrides::default(), EncodingOptions::default());
    assert!(refused.unwrap_err().to_string().contains("it holds lists"));
    Ok(())
}
