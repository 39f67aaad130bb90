//! Columns to numbers: by hand, against plain formulas, and for anything that may come.

use mercer_core::Validate;
use mercer_encoding::{
    Cell, Encoding, EncodingError, EncodingOptions, Kind, Oddity, Overrides, Scale, Schema, Transform, Use,
};
use proptest::prelude::*;

const SCALES: [Scale; 4] = [Scale::None, Scale::Standard, Scale::Robust, Scale::Range];

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn encoded(transform: &Transform, record: &[Cell<'_>]) -> Vec<f64> {
    let mut numbers = Vec::new();
    transform.encode(record, &mut numbers).unwrap();
    assert_eq!(numbers.len(), transform.dimension());
    numbers
}

/// The cell of a text file.
fn of_text(text: &str) -> Cell<'_> {
    text.parse().map_or(Cell::Text(text), |number| Cell::Numeral(number, text))
}

/// A cell that owns its text.
#[derive(Clone, Debug)]
enum Owned {
    Missing,
    Number(f64),
    Instant(f64),
    Text(String),
}

impl Owned {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(value) => Cell::Number(*value),
            Self::Instant(value) => Cell::Instant(*value),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

fn any_cell() -> impl Strategy<Value = Owned> {
    prop_oneof![
        1 => Just(Owned::Missing),
        4 => (-10.0..10.0).prop_map(Owned::Number),
        1 => prop::num::f64::ANY.prop_map(Owned::Number),
        1 => prop::num::f64::ANY.prop_map(Owned::Instant),
        1 => (0.0..1e9).prop_map(Owned::Instant),
        2 => "[a-d]".prop_map(Owned::Text),
        1 => "20[0-2][0-9]-0[1-9]-[12][0-9]".prop_map(Owned::Text),
        1 => ".{0,5}".prop_map(Owned::Text),
        2 => "[-0-9:'′\"hmKMQ$€.,/ ]{1,9}".prop_map(Owned::Text),
    ]
}

/// Columns of one sort, so that every kind comes, and a few strange cells among them.
fn any_table() -> impl Strategy<Value = Vec<[Owned; 4]>> {
    let number = prop_oneof![9 => (-1e3..1e3).prop_map(Owned::Number), 1 => any_cell()];
    let category = prop_oneof![9 => "[a-k]".prop_map(Owned::Text), 1 => any_cell()];
    let time = prop_oneof![
        6 => (1.6e9..1.7e9).prop_map(Owned::Instant),
        3 => "202[0-4]-0[1-9]-[12][0-9]".prop_map(Owned::Text),
        1 => Just(Owned::Missing),
    ];
    let row = (number, category, time, any_cell()).prop_map(|(a, b, c, d)| [a, b, c, d]);
    prop::collection::vec(row, 1..80)
}

fn cells(row: &[Owned; 4]) -> [Cell<'_>; 4] {
    std::array::from_fn(|column| row[column].cell())
}

#[test]
fn a_plain_table_passes_as_it_is() {
    let rows = [[1.0, 0.1, 5.0], [2.0, 0.2, 5.0], [3.0, 1e300, 5.0]].map(|row| row.map(Cell::Number));
    let header = names(&["id", "x", "y"]);
    let schema = Schema::infer(&header, rows, &Overrides::default().aside(["y"])).unwrap();
    let mut transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    assert!(transform.is_identity() && !schema.needs_encoding());
    for row in &rows {
        let Cell::Number(x) = row[1] else { panic!("a number") };
        assert_eq!(encoded(&transform, row)[1].to_bits(), x.to_bits());
        transform.learn(row).unwrap();
    }
    assert!(transform.is_identity());
    // A gap later than the head becomes the mean.
    transform.learn(&[Cell::Number(4.0), Cell::Missing, Cell::Missing]).unwrap();
    assert_eq!(encoded(&transform, &[Cell::Missing, Cell::Number(7.0), Cell::Missing]), [2.5, 7.0]);

    // Whatever turns encoding on leaves the identifier out.
    for options in [EncodingOptions::default().always(true), EncodingOptions::default().scale(Scale::Standard)] {
        let transform = Transform::new(&schema, options).unwrap();
        assert!(!transform.is_identity());
        assert_eq!(transform.names(&schema), ["x"]);
    }
    let only = Schema::infer(&header, rows, &Overrides::default().only(["x", "y"])).unwrap();
    let transform = Transform::new(&only, EncodingOptions::default()).unwrap();
    assert!(!transform.is_identity());
    assert_eq!(encoded(&transform, &rows[0]), [0.1, 5.0]);
}

#[test]
fn a_gap_turns_encoding_on_and_leaves_numbers_as_they_are() {
    let mut rows = vec![[Cell::Number(1.5), Cell::Number(1.0)]; 300];
    rows[7][0] = Cell::Missing;
    rows[9][0] = Cell::Missing;
    rows[10][0] = Cell::Number(4.5);
    let schema = Schema::infer(&names(&["x", "z"]), &rows, &Overrides::default()).unwrap();
    let mut transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    assert!(schema.needs_encoding());
    // Two of 300 are not more than a few.
    assert_eq!(transform.names(&schema), ["x", "z"]);
    assert_eq!(encoded(&transform, &rows[10]), [4.5, 1.0]);
    assert_eq!(encoded(&transform, &rows[7]), [0.0, 1.0]);
    for row in &rows[..3] {
        transform.learn(row).unwrap();
    }
    assert_eq!(encoded(&transform, &rows[7]), [1.5, 1.0]);
    rows[11][0] = Cell::Missing;
    let schema = Schema::infer(&names(&["x", "z"]), &rows, &Overrides::default()).unwrap();
    let transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    assert_eq!(transform.names(&schema), ["x", "x is missing", "z"]);
    assert_eq!(encoded(&transform, &rows[7]), [0.0, 1.0, 1.0]);
    assert_eq!(transform.treatment(0).as_deref(), Some("as it is; gaps told"));
}

#[test]
fn categories_have_room_then_are_hashed() {
    let rows = ["a", "b", "a", "c"].map(|name| [Cell::Text(name)]);
    let schema = Schema::infer(&names(&["c"]), rows, &Overrides::default()).unwrap();
    let mut transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    // Three categories, and the pool: 32 later ones, 16 hashed.
    assert_eq!(transform.dimension(), 51);
    let one = |place: usize| (0..51).map(|i| f64::from(u8::from(i == place))).collect::<Vec<f64>>();
    assert_eq!(encoded(&transform, &rows[0]), one(0));
    assert_eq!(encoded(&transform, &[Cell::Missing]), [0.0; 51]);
    let hashed = encoded(&transform, &[Cell::Text("d")]);
    assert_eq!((hashed[..35].to_vec(), hashed[35..].iter().map(|x| x.abs()).sum::<f64>()), (vec![0.0; 35], 1.0));
    assert_eq!(transform.oddities(&[Cell::Text("d")]).collect::<Vec<_>>(), [(0, Oddity::NewCategory)]);
    let later: Vec<String> = (0..33).map(|i| format!("later {i}")).collect();
    for name in ["d", "e", "d"].into_iter().chain(later.iter().map(String::as_str)) {
        transform.learn(&[Cell::Text(name)]).unwrap();
    }
    assert_eq!(encoded(&transform, &[Cell::Text("d")]), one(3));
    assert_eq!(encoded(&transform, &[Cell::Text("e")]), one(4));
    assert_eq!(encoded(&transform, &[Cell::Text("later 29")]), one(34));
    assert_eq!(encoded(&transform, &[Cell::Text("later 30")])[..35], [0.0; 35]);
    assert_eq!(transform.oddities(&[Cell::Text("later 30")]).count(), 1);
    let treatment = transform.treatment(0).unwrap();
    assert_eq!(treatment, "one-hot (35 categories), later ones too while there is room");
    assert_eq!(transform.names(&schema)[..6], ["c=a", "c=b", "c=c", "c=d", "c=e", "c=later 0"]);

    let many: Vec<String> = (0..200).map(|i| format!("c{}", i % 100)).collect();
    let rows: Vec<_> = many.iter().map(|name| [Cell::Text(name)]).collect();
    let schema = Schema::infer(&names(&["c"]), &rows, &Overrides::default()).unwrap();
    let of = |options| Transform::new(&schema, options).unwrap().dimension();
    assert_eq!(of(EncodingOptions::default()), 64);
    assert_eq!(of(EncodingOptions::default().categories(200)), 100 + 200 + 16);
    assert_eq!(of(EncodingOptions::default().categories(0).hashed(7)), 7);
    for wrong in [EncodingOptions::default().categories(257), EncodingOptions::default().hashed(0)] {
        assert!(matches!(Transform::new(&schema, wrong), Err(EncodingError::Parameter(_))));
    }
}

/// A table pays for its pool once, and a category of one column is not one of another.
#[test]
fn columns_share_the_room_for_later_categories() {
    let rows = [[Cell::Text("a"), Cell::Text("a")], [Cell::Text("b"), Cell::Text("b")]];
    let schema = Schema::infer(&names(&["c", "d"]), rows, &Overrides::default()).unwrap();
    let mut transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    assert_eq!(transform.dimension(), 4 + 48);
    let late = |first, second| [Cell::Text(first), Cell::Text(second)];
    transform.learn(&late("new", "new")).unwrap();
    let numbers = encoded(&transform, &late("new", "a"));
    assert_eq!(numbers[..6], [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(transform.names(&schema)[4..6], ["c=new", "d=new"]);
    let other = encoded(&transform, &late("a", "new"));
    assert_eq!(other[..6], [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

/// A column without a value in the head begins with the first that comes, of either kind.
#[test]
fn an_empty_column_begins_late() {
    let rows = [[Cell::Number(1.0), Cell::Missing], [Cell::Number(2.0), Cell::Text("NA")]];
    let schema = Schema::infer(&names(&["x", "late"]), rows, &Overrides::default()).unwrap();
    assert_eq!(schema.columns()[1].used, Use::Late);
    let mut transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    assert_eq!(transform.dimension(), 2 + 48);
    let late = |cell| [Cell::Number(1.0), cell];
    assert_eq!(encoded(&transform, &late(Cell::Missing))[1], 0.0);
    transform.learn(&late(Cell::Text("red"))).unwrap();
    assert_eq!(encoded(&transform, &late(Cell::Text("red")))[..4], [1.0, 0.0, 1.0, 0.0]);
    transform.learn(&late(Cell::Number(5.0))).unwrap();
    let number = encoded(&transform, &late(Cell::Number(5.0)));
    assert_eq!(number[..4], [1.0, 5.0, 0.0, 0.0]);
}

/// Cells keep their text: codes that are equal as numbers are different categories in any format.
#[test]
fn codes_are_categories_by_their_text() {
    let codes = ["01234", "1234", "3.1", "3.10", "1E5", "100000"];
    let rows = codes.map(|code| [Cell::Numeral(code.parse().unwrap(), code)]);
    let overrides = Overrides::default().parse_kind("c=category").unwrap();
    let schema = Schema::infer(&names(&["c"]), rows, &overrides).unwrap();
    assert_eq!(schema.columns()[0].distinct, 6);
    let transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    let places: Vec<usize> =
        rows.iter().map(|row| encoded(&transform, row).iter().position(|x| *x == 1.0).unwrap()).collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
    // As Parquet and JSON have them.
    for (row, code) in rows.iter().zip(codes) {
        assert_eq!(encoded(&transform, row), encoded(&transform, &[Cell::Text(code)]));
    }
    assert_eq!(encoded(&transform, &[Cell::Number(1234.0)]), encoded(&transform, &rows[1]));
}

/// Any number of marks leaves a column of numbers what it is; one unknown text of twenty, too.
#[test]
fn marks_of_gaps_change_no_kind() {
    for marks in [1, 12, 13, 200] {
        let texts: Vec<String> =
            (0..256).map(|row| if row < marks { "-".to_owned() } else { row.to_string() }).collect();
        let rows: Vec<[Cell<'_>; 1]> = texts.iter().map(|text| [of_text(text)]).collect();
        let schema = Schema::infer(&names(&["x"]), &rows, &Overrides::default()).unwrap();
        let column = &schema.columns()[0];
        assert_eq!((column.kind, column.missing), (Kind::Number, marks));
    }
    let rows: Vec<String> =
        (0..256).map(|row| if row % 10 == 3 { "\\N".to_owned() } else { row.to_string() }).collect();
    let rows: Vec<[Cell<'_>; 1]> = rows.iter().map(|text| [of_text(text)]).collect();
    let schema = Schema::infer(&names(&["x"]), &rows, &Overrides::default()).unwrap();
    assert_eq!((schema.columns()[0].kind, schema.columns()[0].missing), (Kind::Number, 26));
}

/// A number with a decimal comma is one, whatever else its column holds.
#[test]
fn decimal_commas_are_no_misfits() {
    let texts: Vec<String> = (0..100).map(|row| format!("{row},5")).collect();
    let mut rows: Vec<[Cell<'_>; 1]> =
        texts.iter().enumerate().map(|(row, text)| [Cell::Numeral(row as f64 + 0.5, text)]).collect();
    rows[7] = [Cell::Text("wide")];
    rows[8] = [Cell::Text("-")];
    let schema = Schema::infer(&names(&["x"]), &rows, &Overrides::default()).unwrap();
    assert_eq!((schema.columns()[0].kind, schema.columns()[0].missing), (Kind::Number, 2));
}

#[test]
fn numbers_may_be_categories() {
    let rows = [3.0, 1.0, 3.0].map(|value| [Cell::Number(value)]);
    let schema = Schema::infer(&names(&["c"]), rows, &Overrides::default().parse_kind("c=category").unwrap()).unwrap();
    let transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    assert_eq!(encoded(&transform, &[Cell::Text("3")]), encoded(&transform, &rows[0]));
    assert_eq!(transform.names(&schema)[..2], ["c=3", "c=1"]);
}

#[test]
fn times_by_hand() {
    let day = |text| [Cell::Text(text)];
    let rows = ["2024-01-01T00:00", "2024-01-04T18:00", "2024-07-01T06:00"].map(day);
    let schema = Schema::infer(&names(&["t"]), rows, &Overrides::default()).unwrap();
    let transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    let expected = ["hour", "weekday", "season"]
        .iter()
        .flat_map(|part| ["sin", "cos"].map(|function| format!("{function} of {part} of t")))
        .chain(["years of t".to_owned()]);
    assert_eq!(transform.names(&schema), expected.collect::<Vec<_>>());
    // Monday, the first of January, midnight.
    assert_eq!(encoded(&transform, &rows[0]), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    // Thursday evening.
    let tau = std::f64::consts::TAU;
    let plain = [
        -1.0,
        0.0,
        (tau * 3.0 / 7.0).sin(),
        (tau * 3.0 / 7.0).cos(),
        (tau * 3.0 / 366.0).sin(),
        (tau * 3.0 / 366.0).cos(),
        3.75 / 365.25,
    ];
    for (made, plain) in encoded(&transform, &rows[1]).iter().zip(plain) {
        assert!((made - plain).abs() < 1e-12, "{made} {plain}");
    }
    assert_eq!(encoded(&transform, &day("some day")), [0.0; 7]);
    let odd = [Cell::Text("some day")];
    assert_eq!(transform.oddities(&odd).collect::<Vec<_>>(), [(0, Oddity::Misfit)]);
    assert_eq!(transform.oddities(&[Cell::Missing]).collect::<Vec<_>>(), [(0, Oddity::Gap)]);
}

#[test]
fn a_head_that_was_learnt_scales_the_first_row() {
    let rows = [1.0, 3.0].map(|value| [Cell::Number(value)]);
    let options = EncodingOptions::default().scale(Scale::Standard);
    let encoding = Encoding::look(&names(&["x"]), &rows, &Overrides::default(), options).unwrap();
    assert_eq!(encoded(encoding.transform(), &rows[1]), [1.0]);
    assert_eq!(encoding.names(), ["x"]);
}

#[test]
fn records_of_another_width_are_refused() {
    let schema = Schema::infer(&names(&["x"]), [[Cell::Number(1.0)]], &Overrides::default()).unwrap();
    let mut transform = Transform::new(&schema, EncodingOptions::default()).unwrap();
    let mut numbers = vec![7.0];
    let refused = Err(EncodingError::Cells { expected: 1, got: 2 });
    assert_eq!(transform.encode(&[Cell::Missing; 2], &mut numbers), refused);
    assert_eq!((transform.learn(&[Cell::Missing; 2]), numbers), (refused, vec![7.0]));
}

proptest! {
    /// No record, however wild, becomes anything but finite numbers, and the state stays sound.
    #[test]
    fn whatever_comes_becomes_finite(table in any_table(), wild in prop::collection::vec([any_cell(), any_cell(), any_cell(), any_cell()], 0..20)) {
        let header = names(&["n", "c", "t", "w"]);
        let head: Vec<_> = table.iter().map(cells).collect();
        let Ok(schema) = Schema::infer(&header, &head, &Overrides::default()) else { return Ok(()) };
        prop_assert_eq!(schema.validate(), Ok(()));
        for scale in SCALES {
            let mut transform = Transform::new(&schema, EncodingOptions::default().scale(scale).always(true)).unwrap();
            let dimension = transform.dimension();
            prop_assert_eq!(transform.names(&schema).len(), dimension);
            for row in wild.iter().chain(&table).chain(&wild) {
                let numbers = encoded(&transform, &cells(row));
                prop_assert!(numbers.iter().all(|x| x.is_finite()), "{} {:?}", scale, numbers);
                transform.learn(&cells(row)).unwrap();
                prop_assert_eq!(transform.validate(), Ok(()));
                let _ = transform.oddities(&cells(row)).count();
            }
        }
    }

    /// Numbers, categories and gaps against an oracle that keeps all rows and computes everything
    /// anew for each.
    #[test]
    fn agrees_with_an_oracle_that_keeps_everything(table in prop::collection::vec((prop::option::of(-50..50_i32), "[a-h]"), 2..60)) {
        let rows: Vec<[Cell<'_>; 2]> = table.iter().map(|(x, c)| {
            [x.map_or(Cell::Missing, |x| Cell::Number(f64::from(x))), Cell::Text(c)]
        }).collect();
        let Ok(schema) = Schema::infer(&names(&["x", "c"]), &rows[..rows.len() / 2 + 1], &Overrides::default().parse_kind("x=number").unwrap()) else { return Ok(()) };
        let mut transform = Transform::new(&schema, EncodingOptions::default().scale(Scale::Standard)).unwrap();
        let all = transform.names(&schema);
        for (t, row) in rows.iter().enumerate() {
            let numbers = encoded(&transform, row);
            let number = |name: &str| all.iter().position(|other| other == name).map(|place| numbers[place]);
            let seen: Vec<f64> = table[..t].iter().filter_map(|(x, _)| x.map(f64::from)).collect();
            let n = seen.len() as f64;
            let mean = seen.iter().sum::<f64>() / n;
            let deviation = (seen.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
            let z = match table[t].0 {
                Some(x) if deviation > 0.0 => (f64::from(x) - mean) / deviation,
                _ => 0.0,
            };
            let bent = if z.abs() > 4.0 { (4.0 + 4.0 * (z.abs() - 4.0) / z.abs()).copysign(z) } else { z };
            if let Some(made) = number("x") {
                prop_assert!((made - bent).abs() < 1e-9, "{} {}", made, bent);
            }
            if let Some(gap) = number("x is missing") {
                prop_assert_eq!(gap, f64::from(u8::from(table[t].0.is_none())));
            }
            // A category of the head has a number of its own.
            let (_, name) = &table[t];
            if table[..=rows.len() / 2].iter().any(|(_, other)| other == name) {
                prop_assert_eq!(number(&format!("c={name}")), Some(1.0));
            }
            let of_category = all.iter().zip(&numbers).filter(|(name, _)| !name.starts_with('x'));
            prop_assert_eq!(of_category.map(|(_, x)| x.abs()).sum::<f64>(), 1.0);
            transform.learn(row).unwrap();
        }
    }
}

proptest! {
    /// A column known by means, against the sums over all rows before.
    #[test]
    fn means_are_those_of_the_rows_before(
        rows in prop::collection::vec((prop_oneof![9 => "[a-e]".prop_map(Some), 1 => Just(None)], -50.0..50.0), 1..80),
    ) {
        fn cell(text: &Option<String>) -> Cell<'_> {
            text.as_deref().map_or(Cell::Missing, Cell::Text)
        }
        let head: Vec<[Cell<'_>; 1]> = rows.iter().map(|(text, _)| [cell(text)]).collect();
        let overrides = Overrides::default().kind("shop", Kind::Mean);
        let mut encoding = Encoding::look(&names(&["shop"]), &head, &overrides, EncodingOptions::default()).unwrap();
        let mut late = Encoding::of_kinds([("shop".to_owned(), Kind::Category)], EncodingOptions::default()).unwrap();
        prop_assert_eq!((late.dimension(), late.names().len()), (17, 17));
        let gaps = rows.iter().any(|(text, _)| text.is_none());
        prop_assert_eq!(encoding.dimension(), 1 + usize::from(gaps && encoding.names().len() > 1));
        for (place, (text, y)) in rows.iter().enumerate() {
            let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len().max(1) as f64;
            let all = mean(rows[..place].iter().map(|(_, y)| *y).collect());
            let own: Vec<f64> =
                rows[..place].iter().filter(|(other, _)| text.is_some() && other == text).map(|(_, y)| *y).collect();
            let n = own.len() as f64;
            let expected = (n * mean(own) + 10.0 * all) / (n + 10.0);
            let made = encoded(encoding.transform(), &[cell(text)]);
            // A column that came late has the mean behind places of its categories.
            let beside = encoded(late.transform(), &[cell(text)]);
            for made in [made[0], beside[beside.len() - 1]] {
                prop_assert!((made - expected).abs() < 1e-9, "{made} for {expected}");
            }
            prop_assert_eq!(beside[..16].iter().filter(|place| **place != 0.0).count(), usize::from(text.is_some()));
            prop_assert!(made.get(1).is_none_or(|gap| *gap == f64::from(text.is_none())));
            encoding.learn_with(&[cell(text)], Some(*y)).unwrap();
            late.learn_with(&[cell(text)], Some(*y)).unwrap();
        }
        prop_assert!(encoding.validate().is_ok() && late.validate().is_ok());
        // Without a target nothing moves.
        let before = encoding.clone();
        encoding.learn(&[Cell::Text("a")]).unwrap();
        prop_assert_eq!(before, encoding);
    }
}
