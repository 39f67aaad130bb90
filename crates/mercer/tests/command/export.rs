//! `mercer export`: programs that predict what `mercer predict` does.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::support::{Folder, noise};

/// Rows of numbers with gaps and wild values, truth values and categories, of which some are gaps.
fn table(rows: u64, first: u64) -> String {
    let mut table = "id,a,b,wide,flag,colour,code,y\n".to_owned();
    for t in first..first + rows {
        let [a, b, u] = [0, 1, 2].map(|j| noise(3 * t + j));
        let wide = if t % 41 == 7 { 5e5 * u } else { 1000.0 + 50.0 * u };
        let flag = ["yes", "no"][(t * 5 % 7 % 2) as usize];
        let colour = ["red", "green", "blue, \"dark\"", ""][(t * 7 % 11 % 4) as usize];
        let code = [7, 12, 3][(t % 3) as usize];
        let y =
            300.0 + 20.0 * a + 30.0 * a * b + if colour == "red" { 9.0 } else { 0.0 } + 0.1 * (wide - 1000.0).min(9.0);
        let a = if t % 13 == 5 { String::new() } else { a.to_string() };
        let _ = writeln!(table, "{t},{a},{b},{wide},{flag},\"{}\",{code},{y}", colour.replace('"', "\"\""));
    }
    table
}

/// The cells of rows, under the names of their columns.
fn cells(table: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = table.lines().map(|line| {
        let (mut cells, mut is_quoted, mut letters) = (vec![String::new()], false, line.chars().peekable());
        while let Some(letter) = letters.next() {
            match letter {
                '"' if is_quoted && letters.peek() == Some(&'"') => cells.last_mut().unwrap().extend(letters.next()),
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                letter => cells.last_mut().unwrap().push(letter),
            }
        }
        cells
    });
    (rows.next().unwrap(), rows.collect())
}

/// The output of a program; none where it is not installed, which is said.
fn ran(command: &mut Command) -> Option<String> {
    let Ok(Output { status, stdout, stderr }) = command.output() else {
        eprintln!("skipped: {command:?} is not there");
        return None;
    };
    if status.code() == Some(3) {
        eprintln!("skipped: {command:?} lacks a module");
        return None;
    }
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    Some(String::from_utf8(stdout).unwrap())
}

fn numbers(text: &str) -> Vec<f64> {
    text.lines().map(|line| line.parse().unwrap_or_else(|_| panic!("{line}"))).collect()
}

const DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int place(const char *name) {
    for (int i = 0; i < WIDTH; i++) if (!strcmp(header[i], name)) return i;
    exit(1);
}
static double number(const char *cell) {
    if (!strcmp(cell, "yes") || !strcmp(cell, "no")) return cell[0] == 'y';
    return *cell ? strtod(cell, 0) : NAN;
}
int main(void) {
    for (int r = 0; r < ROWS; r++) {
        double numbers[WIDTH];
        const char *categories[WIDTH];
        for (int i = 0; i < mercer_number_count; i++) numbers[i] = number(rows[r][place(mercer_number_names[i])]);
        for (int i = 0; i < mercer_category_count; i++) categories[i] = rows[r][place(mercer_category_names[i])];
        printf("%.17g\n", mercer_predict(numbers, categories));
    }
    return 0;
}
"#;

fn by_c(folder: &Folder, rows: &str) -> Option<Vec<f64>> {
    let (header, rows) = cells(rows);
    let list = |cells: &[String]| cells.iter().map(|cell| format!("{cell:?}")).collect::<Vec<_>>().join(", ");
    let mut text = "#include \"m.c\"\n".to_owned();
    let _ = writeln!(text, "#define WIDTH {}\n#define ROWS {}", header.len(), rows.len());
    let _ = writeln!(text, "static const char *const header[] = {{{}}};", list(&header));
    let rows: Vec<String> = rows.iter().map(|row| format!("{{{}}}", list(row))).collect();
    let _ = writeln!(text, "static const char *const rows[ROWS][WIDTH] = {{{}}};{DRIVER}", rows.join(",\n"));
    fs::write(folder.path("driver.c"), text).unwrap();
    let words = "-std=c99 -pedantic-errors -Wall -Wextra -Werror -O1 driver.c -o driver -lm";
    ran(Command::new("cc").args(words.split(' ')).current_dir(folder.path("")))?;
    ran(&mut Command::new(folder.path("driver"))).map(|text| numbers(&text))
}

fn by_js(folder: &Folder, rows: &str) -> Option<Vec<f64>> {
    let (header, rows) = cells(rows);
    let cell = |cell: &String| cell.parse().map_or_else(|_| Value::from(cell.as_str()), |number: f64| number.into());
    let row = |row: &Vec<String>| header.iter().cloned().zip(row.iter().map(cell)).collect::<serde_json::Map<_, _>>();
    let rows: Vec<Value> = rows.iter().map(|cells| row(cells).into()).collect();
    let rows = Value::from(rows);
    let text = format!("import {{ predict }} from './m.mjs';\nfor (const row of {rows}) console.log(predict(row));\n");
    fs::write(folder.path("driver.mjs"), text).unwrap();
    ran(Command::new("node").arg("driver.mjs").current_dir(folder.path(""))).map(|text| numbers(&text))
}

fn by_python(script: &str, file: &str, folder: &Folder, rows: &str) -> Option<Vec<f64>> {
    fs::write(folder.path("rows.csv"), rows).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests").join(script);
    let words = [script.as_os_str(), file.as_ref(), "rows.csv".as_ref()];
    ran(Command::new("python3").args(words).current_dir(folder.path(""))).map(|text| numbers(&text))
}

/// The predictions of the exported model for rows, in a language; none where it is not there.
fn exported(language: &str, folder: &Folder, rows: &str) -> Option<Vec<f64>> {
    match language {
        "c" => by_c(folder, rows),
        "js" => by_js(folder, rows),
        "sql" => by_python("by_duckdb.py", "m.sql", folder, rows),
        _ => by_python("by_onnx.py", "m.onnx", folder, rows),
    }
}

const LANGUAGES: [(&str, &str); 4] = [("c", "m.c"), ("js", "m.mjs"), ("sql", "m.sql"), ("onnx", "m.onnx")];

/// The largest difference from the predictions of the model, in their unit.
fn difference(made: &[f64], predicted: &[f64]) -> f64 {
    assert_eq!(made.len(), predicted.len());
    let by = |(made, predicted): (&f64, &f64)| (made - predicted).abs() / predicted.abs();
    made.iter().zip(predicted).map(by).fold(0.0, |most: f64, by| if by > most || by.is_nan() { by } else { most })
}

fn predictions(folder: &Folder, rows: &str) -> Vec<f64> {
    fs::write(folder.path("new.csv"), rows).unwrap();
    let said = folder.run("predict new.csv --model m.mercer");
    assert_eq!(said.code, Some(0), "{}", said.err);
    said.out.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

/// Trains with these words, exports in all languages, and compares.
fn compare(train: &str) {
    let points = table(300, 0).lines().step_by(15).map(|line| format!("{line}\n")).collect::<String>();
    let folder = Folder::new().with("t.csv", table(300, 0)).with("points.csv", points);
    let train = format!("{train} --out m.mercer");
    let said = folder.run(&train);
    assert_eq!(said.code, Some(0), "{train}: {}", said.err);
    let rows = table(60, 1000);
    let predicted = predictions(&folder, &rows);
    for (language, file) in LANGUAGES {
        let said = folder.run(&format!("export m.mercer --to {language} --out {file}"));
        assert_eq!(said.code, Some(0), "{train}: {}", said.err);
        let Some(made) = exported(language, &folder, &rows) else { continue };
        let by = difference(&made, &predicted);
        eprintln!("{language}: {by:.1e} of {train}");
        assert!(by < 1e-12, "{train}, {language}: {by}");
        assert!(!said.err.contains("cancel"), "{train}: {}", said.err);
    }
}

const TRAIN: &str = "train t.csv --target y --ignore id";

#[test]
fn kernels_are_exported() {
    let kernels = ["gaussian:2", "laplace:3", "matern32:2", "matern52:2", "polynomial:2,1", "linear"];
    for kernel in kernels.into_iter().chain(["mix:0.5*gaussian:1+0.5*laplace:3"]) {
        compare(&format!("{TRAIN} --learner krls --kernel {kernel} --scale standard"));
    }
}

#[test]
fn learners_are_exported() {
    for learner in ["nons-ald", "knlms", "fogd", "con-kons", "sw-krls", "krls-t", "mxklms", "restart", "robust"] {
        compare(&format!("{TRAIN} --learner {learner} --scale standard"));
    }
}

#[test]
fn scales_are_exported() {
    for scale in ["none", "robust", "range"] {
        compare(&format!("{TRAIN},wide --learner krls --kernel gaussian:2 --scale {scale}"));
    }
    compare(&format!("{TRAIN} --learner krls --scale robust"));
}

#[test]
fn sums_are_exported() {
    for learner in ["ridge", "pkrr-fourier --kernel gaussian:3", "pkrr-frozen --kernel gaussian:1 --points points.csv"]
    {
        compare(&format!("fit t.csv --target y --ignore id --learner {learner} --scale-from t.csv --scale standard"));
    }
}

/// The coefficients of 300 points a short way apart are large, and their terms cancel: what that
/// costs is told, and is no more than was told, but for the rows.
#[test]
fn lost_digits_are_told() {
    let folder = Folder::new().with("t.csv", table(300, 0));
    let learner = "pkrr-frozen --kernel gaussian:3 --points t.csv --scale-from t.csv --scale standard";
    folder.run(&format!("fit t.csv --target y --ignore id --learner {learner} --out m.mercer"));
    let (rows, told) = (table(60, 1000), "large terms cancel, so that predictions differ from those of mercer predict");
    let predicted = predictions(&folder, &rows);
    for (language, file) in LANGUAGES {
        let said = folder.run(&format!("export m.mercer --to {language} --out {file} --json"));
        assert!(said.err.contains(told), "{}", said.err);
        let most = 100.0 * crate::support::object(&said.out)["difference"].as_f64().unwrap();
        let Some(made) = exported(language, &folder, &rows) else { continue };
        let by = difference(&made, &predicted);
        assert!(by < most && most < 1e-6, "{language}: {by} of {most}");
    }
}

/// A model of plain numbers takes no gaps, and neither do its programs.
#[test]
fn plain_numbers_are_exported() {
    let plain = |rows: std::ops::Range<u64>| {
        let row =
            |t: u64| format!("{t},{},{},{}\n", noise(2 * t), noise(2 * t + 1), 5.0 + noise(2 * t) * noise(2 * t + 1));
        "id,a,b,y\n".to_owned() + &rows.map(row).collect::<String>()
    };
    let folder = Folder::new().with("t.csv", plain(0..200));
    folder.run("train t.csv --target y --ignore id --learner krls --kernel gaussian:1 --scale none --out m.mercer");
    let rows = plain(500..530);
    let predicted = predictions(&folder, &rows);
    for (language, file) in LANGUAGES {
        folder.done(&format!("export m.mercer --to {language} --out {file}"));
        let Some(made) = exported(language, &folder, &rows) else { continue };
        assert!(difference(&made, &predicted) < 1e-12, "{language}");
        let made = exported(language, &folder, "id,a,b\n0,0.5,\n1,0.5,0.25\n").unwrap();
        assert!(made[0].is_nan() && made[1].is_finite(), "{language}: {made:?}");
    }
}

/// A category that the model has not met has no prediction; a number may be typed in several ways.
#[test]
fn new_categories_have_no_prediction() {
    let folder = Folder::new().with("t.csv", table(300, 0));
    folder.run(&format!("{TRAIN} --learner krls --scale standard --as code=category --out m.mercer"));
    let row = |colour: &str, code: &str| format!("1,0.5,0.5,1000,yes,{colour},{code}\n");
    let rows = ["red 7", "mauve 7", "red 8", "red 7.0"].map(|both| {
        let (colour, code) = both.split_once(' ').unwrap();
        row(colour, code)
    });
    let rows = rows.iter().enumerate().map(|(id, row)| format!("{id}{}", &row[1..])).collect::<String>();
    let rows = format!("id,a,b,wide,flag,colour,code\n{rows}");
    for (language, file) in LANGUAGES {
        let said = folder.run(&format!("export m.mercer --to {language} --out {file}"));
        assert_eq!(said.code, Some(0), "{}", said.err);
        let Some(made) = exported(language, &folder, &rows) else { continue };
        assert!(made[1].is_nan() && made[2].is_nan() && made[0].is_finite(), "{language}: {made:?}");
        // Rows of a tensor are summed in lanes, not all in one order.
        assert!((made[0] - made[3]).abs() <= 1e-14 * made[0].abs(), "{language}: {made:?}");
    }
}

/// What the comparison is worth: a coefficient that is another, and a model of other rows, are
/// found in every language.
#[test]
fn a_program_that_is_another_is_found() {
    let folder = Folder::new().with("t.csv", table(300, 0)).with("u.csv", table(299, 1));
    let train =
        |data: &str| format!("train {data} --target y --ignore id --learner krls --scale standard --out m.mercer");
    folder.run(&train("t.csv"));
    let rows = table(40, 1000);
    let predicted = predictions(&folder, &rows);
    folder.done("export m.mercer --to c --out m.c");
    let text = folder.read("m.c");
    let weights = text.find("mercer_weights_0[] = {").unwrap() + "mercer_weights_0[] = {".len();
    fs::write(folder.path("m.c"), format!("{}0.001 + {}", &text[..weights], &text[weights..])).unwrap();
    if let Some(made) = exported("c", &folder, &rows) {
        assert!(difference(&made, &predicted) > 1e-9);
    }
    folder.run(&train("u.csv"));
    for (language, file) in LANGUAGES {
        folder.done(&format!("export m.mercer --to {language} --out {file}"));
        let Some(made) = exported(language, &folder, &rows) else { continue };
        assert!(difference(&made, &predicted) > 1e-9, "{language}");
    }
}

#[test]
fn what_has_no_formula_is_refused_by_name() {
    let mut dated = "day,a,many,text,y,k\n".to_owned();
    for t in 0..200_u64 {
        let words = ["a lovely day at the sea", "the train was late again", "we saw it there today"][(t % 3) as usize];
        let (day, a) = (format!("2024-{:02}-{:02}", 1 + t / 28, 1 + t % 28), noise(t));
        let _ = writeln!(
            dated,
            "{day},{a},shop {},{words} {t},{},{}",
            t % 50,
            3.0 + a,
            if a > 0.0 { "up" } else { "down" }
        );
    }
    let few = dated.lines().take(10).map(|line| format!("{line}\n")).collect::<String>();
    let folder = Folder::new().with("t.csv", dated).with("few.csv", few);
    let rest = |ignored: &str| format!("--ignore {ignored} --scale standard --out m.mercer");
    for (train, parts) in [
        (
            format!("train t.csv --target y --learner krls {}", rest("many,text,k")),
            &["column \"day\" holds times", "--ignore"][..],
        ),
        (format!("train t.csv --target y --learner krls {}", rest("day,text,k")), &["column \"many\""]),
        (
            format!(
                "train t.csv --target y --learner auto {}",
                rest("day,many,text,k").replace("--scale standard", "")
            ),
            &["auto", "--learner krls"],
        ),
        (format!("train t.csv --target y --learner coin {}", rest("day,many,k")), &["learner coin"]),
        (format!("train t.csv --target k --learner krls {}", rest("day,many,text,y")), &["predicts classes"]),
        (format!("train t.csv --target y,a --learner krls {}", rest("day,text,k")), &["predicts 2 numbers"]),
        (format!("train t.csv --target y --learner krls --group k {}", rest("day,many,text")), &["models of groups"]),
        (
            format!("train t.csv --target y --gap 3.5 --learner krls {}", rest("day,many,text,k")),
            &["counts cells with [\"3.5\"] as missing", "empty cells in their place"],
        ),
        (format!("train few.csv --target y --learner nons-ald {}", rest("day,many,text,k")), &["so few rows"]),
    ] {
        let said = folder.run(&train);
        assert_eq!(said.code, Some(0), "{train}: {}", said.err);
        for (language, file) in LANGUAGES {
            folder.refused(
                1,
                &format!("export m.mercer --to {language} --out {file}"),
                &[&["m.mercer"], parts].concat(),
            );
        }
    }
}

#[test]
fn arguments_that_cannot_be_right_are_refused() {
    let folder = Folder::new().with("t.csv", table(60, 0));
    folder.run(&format!("{TRAIN} --learner krls --scale standard --out m.mercer"));
    folder.refused(2, "export m.mercer --to c --table rows --out m.c", &["--table is for --to sql"]);
    folder.refused(2, "export m.mercer --to c --out m.csv", &["does not write csv"]);
    folder.refused(2, "export m.mercer --to java --out m.java", &["java"]);
    folder.refused(1, "export m.mercer --to c --out m.mercer", &["is a file that is read"]);
    folder.refused(1, "export t.csv --to c --out m.c", &["t.csv"]);
    let text = folder.done("export m.mercer --to sql --table shop --out m.sql");
    assert!(text.contains("terms") && folder.read("m.sql").contains("FROM \"shop\""), "{text}");
}
