//! The look at the head of a table finds columns, and they are found again.

use mercer_core::Validate;
use mercer_encoding::{
    Cell, Cells, DayOrder, EncodingError, EncodingOptions, Face, Kind, Look, Notation, Overrides, Schema, TimeParts,
    Transform, Use,
};

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn cells(record: &impl Cells) -> Vec<Cell<'_>> {
    (0..record.width()).map(|column| record.cell(column)).collect()
}

/// The schema of one column.
fn inferred(name: &str, cells: &[Cell<'_>]) -> mercer_encoding::Column {
    let other = names(&[name, "other"]);
    let rows: Vec<_> = cells.iter().enumerate().map(|(row, cell)| [*cell, Cell::Number((row % 7) as f64)]).collect();
    let schema = Schema::infer(&other, &rows, &Overrides::default()).unwrap();
    assert_eq!(schema.validate(), Ok(()));
    schema.columns()[0].clone()
}

fn numbers(values: impl IntoIterator<Item = f64>) -> Vec<Cell<'static>> {
    values.into_iter().map(Cell::Number).collect()
}

fn texts<'a>(values: &[&'a str]) -> Vec<Cell<'a>> {
    values.iter().map(|text| Cell::Text(text)).collect()
}

#[test]
fn numbers_that_stand_for_no_value_are_told() {
    let why = |values: &[f64]| inferred("x", &numbers(values.iter().copied())).why;
    assert!(why(&[20.0, -999.0, 35.0, -999.0, 50.0]).starts_with("-999 is far from all others; --gap -999 tells"));
    assert!(why(&[0.1, 9999.0, 0.7, 9999.0]).starts_with("9999 is far"));
    assert!(
        why(&[20.0, -999.25, 35.5, -999.25, 50.0]).starts_with("-999.25 is far from all others; --gap -999.25 tells")
    );
    assert!(why(&[0.1, 9999.9, 0.7, 9999.9]).starts_with("9999.9 is far"));
    // Any whole number among many others.
    let among = |mark: f64, others: i32| {
        let others = (0..others).map(f64::from);
        why(&others.chain([mark, mark]).collect::<Vec<f64>>())
    };
    assert!(among(-200.0, 30).starts_with("-200 is far from all others; --gap -200 tells"));
    assert_eq!([among(-200.0, 4), among(-200.5, 30), among(-60.0, 30)], [""; 3]);
    for values in [
        &[20.0, -999.0, 35.0][..],
        &[20.0, -998.25, 35.0, -998.25],
        &[-999.0, -500.0, -999.0, 300.0],
        &[998.0, 999.0, 999.0],
        &[-99.0; 4],
    ] {
        assert_eq!(why(values), "", "{values:?}");
    }
}

#[test]
fn angles_are_numbers_and_numbers_of_cards_are_told() {
    let angles: Vec<String> =
        (0..40).map(|t| format!("{}°{:02}'30\"{}", t * 7 % 60, t * 11 % 60, ["N", "S"][t % 2])).collect();
    let column = inferred("lat", &angles.iter().map(|text| Cell::Text(text)).collect::<Vec<_>>());
    assert_eq!((column.kind, column.notation.clone(), column.missing), (Kind::Number, Notation::Degrees, 0));
    assert!(column.range.is_some_and(|(low, high)| low < -50.0 && high > 50.0), "{:?}", column.range);
    let line = column.line(40, Face::Command).unwrap();
    assert_eq!(line, "column \"lat\": number, angles, in degrees");

    let cards = |digits: f64| inferred("x", &numbers((0..30).map(|t| digits + f64::from(t * 37 % 100)))).why;
    assert_eq!(cards(4e15), "another one in each row; x=identifier leaves it out");
    assert_eq!(cards(4e6), "");
}

#[test]
fn what_may_be_a_number_is_told() {
    let why = |list: &[&str]| inferred("x", &texts(list)).why;
    assert_eq!(why(&["25:23", "25:19", "23:25"]), "\"25:23\" may be the number 1523; x=number reads it so");
    assert_eq!(why(&["12A", "13A", "7A"]), "\"12A\" may be the number 12; x=number reads it so");
    let told = "\"8:29\" may be the number 509; x=number reads it so, x=time as a time of day";
    assert_eq!(why(&["8:29", "9:15", "8:05"]), told);
    let times: Vec<String> = (0..30).map(|i| format!("{}:{:02}", 24 + i, (7 * i) % 60)).collect();
    let cells: Vec<Cell<'_>> = times.iter().map(|text| Cell::Text(text)).collect();
    let column = inferred("pace", &cells);
    assert_eq!(column.kind, Kind::Identifier);
    let told = column.line(30, Face::Command).unwrap();
    assert!(told.ends_with("\"24:00\" may be the number 1440; --as 'pace=number' reads it so"), "{told}");
}

/// A word for thousands that comes among many plain numbers is no odd cell.
#[test]
fn magnitudes_among_plain_numbers_are_numbers() {
    let mut cells = numbers((0..60).map(f64::from));
    cells.push(Cell::Text("1.2k"));
    let column = inferred("x", &cells);
    assert_eq!((column.kind, column.missing, column.range), (Kind::Number, 0, Some((0.0, 1200.0))));
    let months = inferred("m", &texts(&["11/2019", "12/2019", "01/2020"]));
    assert_eq!(months.range.map(|(low, high)| (high - low) / 86_400.0), Some(61.0));
    let mails = inferred("t", &texts(&["Sun Jan 08 20:29:00 +0000 2023", "Mon Jan 09 08:00:00 +0000 2023"]));
    assert_eq!(mails.range.map(|(low, high)| high - low), Some(41_460.0));
    assert!(mails.time.hour, "{mails:?}");
}

/// No run of the same look shows another.
#[test]
fn the_first_cell_in_doubt_is_shown() {
    let days: Vec<String> = (1..=12).map(|day| format!("{}/{}/2020", 5 * day % 13, 7 * day % 13)).collect();
    let cells: Vec<Cell<'_>> = days.iter().map(|day| Cell::Text(day)).collect();
    // Even steps tell the order.
    let even = texts(&["01/11/2020", "01/12/2020", "01/01/2021"]);
    assert_eq!(inferred("d", &even).notation, Notation::Day(DayOrder::DayMonthYear, None));
    assert!(inferred("d", &cells).why.starts_with("\"5/7/2020\" may be two days"));
}

#[test]
fn kinds_by_hand() {
    let many: Vec<String> = (0..30).map(|i| format!("A-{i}")).collect();
    let long: Vec<String> =
        (0..30).map(|i| format!("{} words that nobody has written before {}", i / 2, i % 2)).collect();
    let strings = |list: &'static [&'static str]| texts(list);
    let mut mostly = numbers((0..40).map(f64::from));
    mostly[7] = Cell::Text("n/a");
    let days: Vec<String> = (0..45).map(|i| format!("2023-{:02}-{:02}", 1 + i / 28, 1 + i % 28)).collect();
    // Every seventh day is `odd`; a few of these days are none that there is.
    let marked = |odd: &'static [&'static str]| -> Vec<Cell<'_>> {
        let day = |i: usize| if i % 7 == 3 { odd[i / 7 % odd.len()] } else { &days[i] };
        (0..days.len()).map(|i| Cell::Text(day(i))).collect()
    };
    for (name, cells, kind, used) in [
        ("x", numbers([1.5, 2.0, 1.0]), Kind::Number, Use::Encoded),
        ("x", numbers([0.0, 1.0, 0.0]), Kind::Number, Use::Encoded),
        ("x", numbers([1.0, 2.0, 3.0]), Kind::Number, Use::Encoded),
        ("x", mostly, Kind::Number, Use::Encoded),
        ("x", numbers([4.0, 4.0, 4.0]), Kind::Constant, Use::Encoded),
        ("x", strings(&["a", "a", "a"]), Kind::Constant, Use::Encoded),
        ("id", numbers([1.0, 2.0, 5.0]), Kind::Identifier, Use::Identifier),
        ("Order_ID", numbers([1.0, 2.0, 3.0]), Kind::Identifier, Use::Identifier),
        ("PassengerId", numbers([1.0, 2.0, 3.0]), Kind::Identifier, Use::Identifier),
        ("Unnamed: 0", numbers([0.0, 1.0, 2.0]), Kind::Identifier, Use::Identifier),
        ("id", strings(&["1", "2", "5"]), Kind::Identifier, Use::Identifier),
        ("id", strings(&["1", "3", "2"]), Kind::Number, Use::Encoded),
        ("id", numbers([1.0, 3.0, 2.0]), Kind::Number, Use::Encoded),
        ("id", numbers([1.0, 1.5, 2.0]), Kind::Number, Use::Encoded),
        ("humid", numbers([1.0, 2.0, 3.0]), Kind::Number, Use::Encoded),
        ("x", strings(&["19M", "201k", "8.7M"]), Kind::Number, Use::Encoded),
        ("x", strings(&["1:11:44", "55:12", "1:02:03"]), Kind::Number, Use::Encoded),
        ("x", strings(&["08:30", "09:15", "23:59"]), Kind::Time, Use::Encoded),
        ("x", strings(&["01/2020", "02/2020", "12/2019"]), Kind::Time, Use::Encoded),
        ("x", strings(&["2020Q1", "2020Q2", "2020Q3"]), Kind::Time, Use::Encoded),
        ("x", strings(&["8. Januar 2023", "10. März 2023", "3. Mai 2023"]), Kind::Time, Use::Encoded),
        ("x", strings(&["8:29 PM", "1:05 AM", "12:00 PM"]), Kind::Time, Use::Encoded),
        ("x", strings(&["8 PM", "9 PM", "7 PM"]), Kind::Time, Use::Encoded),
        ("x", strings(&["8:29", "12:00", "9:05"]), Kind::Category, Use::Encoded),
        ("x", strings(&["25:23", "25:19", "23:25"]), Kind::Category, Use::Encoded),
        ("x", strings(&["12A", "13A", "7A"]), Kind::Category, Use::Encoded),
        ("x", strings(&["a", "b", "a"]), Kind::Category, Use::Encoded),
        ("x", strings(&["a", "b", "c"]), Kind::Category, Use::Encoded),
        ("x", many.iter().map(|text| Cell::Text(text)).collect(), Kind::Identifier, Use::Identifier),
        (
            "x",
            (0..30).map(|i| if i % 2 == 0 { Cell::Text(&many[i]) } else { Cell::Number(i as f64 + 0.5) }).collect(),
            Kind::Identifier,
            Use::Identifier,
        ),
        ("x", long.iter().map(|text| Cell::Text(text)).collect(), Kind::Text, Use::Text),
        ("x", vec![Cell::Number(1.0), Cell::Text("a"), Cell::Number(2.0)], Kind::Category, Use::Encoded),
        ("x", strings(&["2024-01-01", "2024-01-02T08:00", "08:15"]), Kind::Time, Use::Encoded),
        (
            "x",
            marked(&["2023-02-30", "2023-02-31", "0000-00-00", "2023-13-01", "2023-04-31"]),
            Kind::Time,
            Use::Encoded,
        ),
        ("x", marked(&["TBD", "unknown"]), Kind::Time, Use::Encoded),
        ("x", marked(&["Ann", "Bob", "Cleo", "Dora", "Eve"]), Kind::Category, Use::Encoded),
        ("x", vec![Cell::Instant(1.7e9), Cell::Missing, Cell::Text("2024-01-01")], Kind::Time, Use::Encoded),
        ("x", strings(&["2024-01-01", "2024-01-02", "tomorrow"]), Kind::Category, Use::Encoded),
        ("x", vec![Cell::Missing, Cell::Number(f64::NAN), Cell::Missing], Kind::Constant, Use::Late),
    ] {
        let column = inferred(name, &cells);
        assert_eq!((column.kind, column.used), (kind, used), "{name} {cells:?}");
        let are_texts = cells.iter().any(|cell| matches!(cell, Cell::Text(text) if text.parse::<f64>().is_err()));
        assert!(kind != Kind::Identifier || column.range.is_none() == are_texts, "{name} {cells:?}");
    }
}

#[test]
fn columns_of_many_categories_have_means_beside_them() {
    let texts: Vec<[String; 4]> = (0..80)
        .map(|t| [format!("s{}", t % 40), format!("p{}", t % 40), format!("c{}", t % 3), format!("o{}", t * 7 % 40)])
        .collect();
    let head: Vec<[Cell<'_>; 4]> = texts.iter().map(|row| row.each_ref().map(|text| Cell::Text(text))).collect();
    let told = Overrides::default().kind("told", Kind::Category).ignore(["off"]);
    let mut schema = Schema::infer(&names(&["many", "told", "few", "off"]), &head, &told).unwrap();
    let before = schema.clone();
    schema.take_means(&told, 40);
    assert_eq!(schema, before);
    schema.take_means(&told, 32);
    let means: Vec<bool> = schema.columns().iter().map(|column| column.mean).collect();
    assert_eq!(means, [true, false, false, true]);
    let why = |place: usize| schema.columns()[place].facts(80, Face::Command).why;
    assert_eq!(why(0), "40 values so far, beside the mean target of each; --as 'many=mean' takes the mean alone");
    assert_eq!(why(1), "40 values so far; --as 'told=mean' takes the mean");
    let transform = |schema| Transform::new(schema, EncodingOptions::default()).unwrap();
    let (with, without) = (transform(&schema), transform(&before));
    assert_eq!(with.names(&schema).iter().position(|name| name == "many (mean of the target)"), Some(64));
    assert_eq!(with.dimension(), without.dimension() + 1);
    assert_eq!(schema.validate(), Ok(()));
}

#[test]
fn counts_ranges_and_categories() {
    let column = inferred("x", &[Cell::Text("b"), Cell::Missing, Cell::Text("a"), Cell::Text("b"), Cell::Text("c")]);
    assert_eq!((column.missing, column.distinct, column.range), (1, 3, None));
    let expected: Vec<(String, u64)> =
        [("b", 2), ("a", 1), ("c", 1)].map(|(name, count)| (name.to_owned(), count)).into();
    assert_eq!(column.categories, expected);
    let column = inferred("x", &numbers([3.0, -1.0, f64::INFINITY, 3.0]));
    assert_eq!((column.missing, column.distinct, column.range), (1, 2, Some((-1.0, 3.0))));
    // Far more categories than are listed.
    let many: Vec<String> = (0..30_000).map(|i| format!("s{}", i % 12_000)).collect();
    let column = inferred("x", &many.iter().map(|text| Cell::Text(text)).collect::<Vec<_>>());
    assert_eq!((column.kind, column.categories.len()), (Kind::Category, 256));
    assert!(column.distinct >= 10_000);
}

#[test]
fn variation_of_times() {
    let parts = |hour, weekday, season| TimeParts { hour, weekday, season };
    for (list, expected) in [
        (&["2024-01-01", "2024-01-02"][..], parts(false, true, true)),
        (&["2024-01-01", "2024-02-01", "2024-03-01"], parts(false, false, true)),
        (&["2022-01-01", "2023-01-01", "2024-01-01"], parts(false, false, false)),
        (&["2024-01-01T08:00", "2024-01-01T09:00"], parts(true, false, false)),
        (&["2024-01-01T23:00", "2024-01-02T00:00"], parts(true, true, true)),
        (&["2024-01-01", "2024-01-01"], parts(false, false, false)),
    ] {
        assert_eq!(inferred("x", &texts(list)).time, expected, "{list:?}");
    }
}

#[test]
fn overrides_decide() {
    let header = names(&["a", "b", "price", "#2"]);
    let rows = [[1.0, 5.0, 9.0, 0.0], [2.0, 6.0, 8.0, 1.0]].map(|row| row.map(Cell::Number));
    let uses = |overrides: &Overrides| {
        let schema = Schema::infer(&header, rows, overrides)?;
        Ok::<_, EncodingError>(schema.columns().iter().map(|column| column.used).collect::<Vec<_>>())
    };
    let none = Overrides::default;
    let (yes, no, aside) = (Use::Encoded, Use::Unwanted, Use::SetAside);
    assert_eq!(uses(&none().ignore(["b"])), Ok(vec![yes, no, yes, yes]));
    // A column that is called so comes before the number.
    assert_eq!(uses(&none().ignore(["#2", "#1"])), Ok(vec![no, yes, yes, no]));
    assert_eq!(uses(&none().only(["a", "b"]).ignore(["b"])), Ok(vec![yes, no, no, no]));
    assert_eq!(uses(&none().only(["a"]).aside(["price"])), Ok(vec![yes, no, aside, no]));
    assert_eq!(uses(&none().only(["price"]).aside(["price"])), Err(EncodingError::NothingLeft));
    let message = uses(&none().ignore(["c"])).unwrap_err().to_string();
    assert_eq!(message, r##"there is no column "c"; the columns are "a", "b", "price", "#2""##);

    let overrides = none().parse_kind("a=category").unwrap().parse_kind("b=time").unwrap().kind("price", Kind::Text);
    let schema = Schema::infer(&header, rows, &overrides).unwrap();
    let [a, b, price, _] = schema.columns() else { panic!("four columns") };
    assert_eq!((a.kind, a.categories.len(), b.kind, price.used), (Kind::Category, 2, Kind::Time, Use::Unwanted));
    // Seconds since 1970.
    assert_eq!(b.time, TimeParts { hour: true, weekday: false, season: false });
    assert_eq!(b.range, Some((5.0, 6.0)));
    for wrong in ["a", "a=", "a=colour", "a=constant"] {
        assert!(matches!(none().parse_kind(wrong), Err(EncodingError::Override(_))), "{wrong}");
    }
}

#[test]
fn columns_are_found_by_name() {
    let header = names(&["a", "b", "y"]);
    let rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]].map(|row| row.map(Cell::Number));
    let schema = Schema::infer(&header, rows, &Overrides::default().aside(["y"])).unwrap();
    let map = schema.matching(&names(&["new", "b", "c"])).unwrap();
    assert_eq!((map.missing(), map.unknown()), (&names(&["a"])[..], &names(&["new", "c"])[..]));
    let row = [Cell::Text("!"), Cell::Number(9.0), Cell::Missing];
    assert_eq!(cells(&map.record(&row).unwrap()), [Cell::Missing, Cell::Number(9.0), Cell::Missing]);
    assert_eq!((map.source(0), map.source(1), map.source(9)), (None, Some(1), None));
    assert!(map.record(&row[..2]).is_err());
    assert!(matches!(schema.matching(&names(&["p", "q"])), Err(EncodingError::NoMatch { .. })));
    assert!(matches!(schema.matching(&names(&["a", "a"])), Err(EncodingError::SameName { first: 1, .. })));
    assert!(matches!(Look::new(&names(&["a", "b", "a"])), Err(EncodingError::SameName { first: 1, .. })));
}

#[test]
fn columns_without_names_are_found_by_place() {
    let mut look = Look::unnamed(3);
    for row in [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]] {
        look.observe(&row.map(Cell::Number)).unwrap();
    }
    assert!(look.observe(&[Cell::Missing]).is_err());
    assert_eq!(look.rows(), 2);
    let schema = look.finish(&Overrides::default().aside(["2"])).unwrap();
    assert_eq!(schema.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    let row = [7.0, 8.0, 9.0].map(Cell::Number);
    let map = |width| schema.matching(&vec![String::new(); width]).unwrap();
    assert_eq!(cells(&map(3).record(&row).unwrap()), row);
    assert_eq!(cells(&map(2).record(&row[..2]).unwrap()), [row[0], Cell::Missing, row[1]]);
    assert!(matches!(schema.matching(&names(&[""])), Err(EncodingError::Width { expected: 3, got: 1 })));
}
