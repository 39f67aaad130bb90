//! Words, remarks, tables and pictures of one experiment.

use maud::{Markup, html};

use super::markdown::words;
use super::{OWN, badge, class, formula};
use crate::report::{Picture, Remark, Report, ReportBlock, guard_words, series_file};
use crate::table::{Align, CellText, Table};

/// The report of an experiment: set-up, result and reading. `folder` has its pictures and, unless
/// it is a kept result's, its data; `id` begins the identifiers.
pub(super) fn result(report: &Report, reading: &str, folder: &str, id: &str) -> Markup {
    // An experiment begins with the words that set it up.
    let words = report.blocks().iter().take_while(|block| matches!(block, ReportBlock::Words(_))).count();
    let (set_up, rest) = report.blocks().split_at(words);
    html! {
        h3 { "Set-up" }
        @for each in set_up { (block(each, folder, id)) }
        h3 { "Result" }
        @for each in rest { (block(each, folder, id)) }
        h3 { "Reading" }
        p.words { (reading) }
    }
}

fn block(block: &ReportBlock, folder: &str, id: &str) -> Markup {
    match block {
        ReportBlock::Words(text) => html! { div.words { (words(text)) } },
        ReportBlock::Remark(one) => remark(one),
        ReportBlock::Guard { name, acted, of } => html! { p.quiet { (guard_words(name, *acted, *of)) } },
        ReportBlock::Table { stem, caption, table } => {
            self::table(table, caption, folder, stem, &format!("{id}{stem}-table"))
        }
        ReportBlock::Picture { stem, caption, picture } => html! {
            figure #{ (id) (stem) } {
                (drawing(folder, stem, caption))
                figcaption { (formula::inline(caption)) }
                (about(picture, folder, stem))
            }
        },
    }
}

/// A picture in a box that scrolls.
pub(super) fn drawing(folder: &str, stem: &str, caption: &str) -> Markup {
    html! {
        div.picture tabindex="0" role="group" aria-label={ "Figure: " (caption) } {
            img src={ (folder) (stem) ".svg" } alt=(caption) loading="lazy";
        }
    }
}

fn about(picture: &Picture, folder: &str, stem: &str) -> Markup {
    html! {
        details { summary { "In words" } p { (picture.words()) } }
        p.tools {
            a href={ (folder) (stem) ".svg" } { "SVG" }
            @if folder == OWN { a href={ (folder) (series_file(stem)) } { "Data (CSV)" } }
        }
    }
}

/// Why something differs or was not run.
pub(super) fn remark(Remark { outcome, subject, why, .. }: &Remark) -> Markup {
    html! {
        div class={ "remark words " (class(*outcome)) } {
            p.subject { (badge(*outcome, outcome.name())) " " strong { (subject) } }
            (words(why))
        }
    }
}

/// A table in a box that scrolls, with the paper's own columns marked.
fn table(table: &Table, caption: &str, folder: &str, stem: &str, id: &str) -> Markup {
    let rows: Vec<Vec<CellText>> = table.shown().collect();
    let looks: Vec<String> = table.header().enumerate().map(|(i, header)| look(header, &rows, i)).collect();
    let look = |i: usize| looks.get(i).filter(|look| !look.is_empty());
    html! {
        div.table {
            p.caption #(id) {
                (formula::inline(caption))
                @if table.header().any(|(name, _)| is_printed(name)) { span.quiet { " Shaded: as the paper prints it." } }
            }
            div.scroll tabindex="0" role="group" aria-labelledby=(id) {
                table aria-labelledby=(id) {
                    thead {
                        tr {
                            @for (i, (name, _)) in table.header().enumerate() {
                                @if name.is_empty() { td class=[look(i)] {} }
                                @else { th scope="col" class=[look(i)] { button.sort type="button" data-sort disabled { (formula::inline(name)) } } }
                            }
                        }
                    }
                    tbody {
                        @for row in &rows {
                            tr {
                                @for (i, cell) in row.iter().enumerate() {
                                    td class=[look(i)] {
                                        @match cell.outcome {
                                            Some(outcome) => (badge(outcome, &cell.text)),
                                            None => (formula::inline(&cell.text)),
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.tools {
                @if folder == OWN { a href={ (folder) (stem) ".csv" } { "CSV" } }
                span.quiet { (table.len()) @if table.len() == 1 { " row" } @else { " rows" } }
            }
        }
    }
}

/// Classes for the look of a column's cells: numbers on the right, the paper's own shaded,
/// sentences broken.
fn look((name, align): (&str, Align), rows: &[Vec<CellText>], column: usize) -> String {
    /// Words longer than this are sentences.
    const LONG: usize = 36;
    let cells = rows.iter().filter_map(|row| row.get(column));
    let long = cells.map(|cell| cell.text.chars().count()).max().is_some_and(|most| most > LONG);
    let all =
        [(align == Align::Right, "number"), (align == Align::Left && long, "long"), (is_printed(name), "printed")];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, class)| class).collect::<Vec<_>>().join(" ")
}

/// A column of the paper's own numbers: "printed" is a word of its name, and nothing is told
/// against it.
fn is_printed(name: &str) -> bool {
    let has = |own: &str| name.split(|c: char| !c.is_alphanumeric()).any(|word| word == own);
    has("printed") && !has("against")
}
