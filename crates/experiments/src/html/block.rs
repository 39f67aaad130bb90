//! Words, remarks, tables and pictures of one experiment.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::colour::Rgb;
use super::markdown::words;
use super::picture::Surroundings;
use super::{badge, formula, picture};
use crate::figure::FigureError;
use crate::report::{Block, Remark, Report};
use crate::table::{Align, Shown, Table};

/// One block.
pub(super) fn block(
    block: &Block,
    around: &Surroundings<'_>,
    colours: &mut BTreeSet<Rgb>,
) -> Result<Markup, FigureError> {
    Ok(match block {
        Block::Words(text) => html! { div.words { (words(text)) } },
        Block::Remark(one) => remark(one),
        Block::Table { stem, caption, table } => self::table(table, stem, caption, around),
        Block::Picture { stem, caption, picture } => picture::figure(picture, stem, caption, around, colours)?,
    })
}

/// What an experiment handed back: set-up, result and reading.
pub(super) fn result(
    report: &Report,
    reading: &str,
    around: &Surroundings<'_>,
    colours: &mut BTreeSet<Rgb>,
) -> Result<Markup, FigureError> {
    let blocks = report.blocks().iter().map(|each| block(each, around, colours));
    let blocks: Result<Vec<Markup>, FigureError> = blocks.collect();
    let blocks = blocks?;
    // An experiment begins with the words that set it up.
    let words = report.blocks().iter().take_while(|block| matches!(block, Block::Words(_))).count();
    Ok(html! {
        h3 { "Set-up" }
        @for block in &blocks[..words] { (block) }
        h3 { "Result" }
        @for block in &blocks[words..] { (block) }
        h3 { "Reading" }
        p.words { (reading) }
    })
}

/// Why something differs or was not run.
pub(super) fn remark(Remark { outcome, subject, why, .. }: &Remark) -> Markup {
    html! {
        div class={ "remark words " (super::class(*outcome)) } {
            p.subject { (badge(*outcome, outcome.name())) " " strong { (subject) } }
            (words(why))
        }
    }
}

/// What a formula is called where it is all that a button shows; words speak for themselves.
fn spoken(name: &str) -> Option<String> {
    formula::set(name).contains("<math>").then(|| name.replace(['_', '^', '{', '}'], ""))
}

/// A table in a box that scrolls, with the paper's own columns marked.
fn table(table: &Table, stem: &str, caption: &str, around: &Surroundings<'_>) -> Markup {
    let id = format!("{}table-{stem}", around.prefix);
    let rows: Vec<Vec<Shown>> = table.shown().collect();
    let classes: Vec<String> = table.header().enumerate().map(|(i, header)| class(header, &rows, i)).collect();
    let class = |i: usize| classes.get(i).filter(|class| !class.is_empty());
    html! {
        div.table {
            p.caption #{ (id) "-caption" } {
                (formula::inline(caption))
                @if table.header().any(|(name, _)| is_printed(name)) { span.quiet { " Shaded: as the paper prints it." } }
            }
            div.scroll tabindex="0" role="group" aria-labelledby={ (id) "-caption" } {
                table #(id) aria-labelledby={ (id) "-caption" } {
                    thead {
                        tr {
                            @for (i, (name, _)) in table.header().enumerate() {
                                @if name.is_empty() { td class=[class(i)] {} }
                                @else { th scope="col" class=[class(i)] { button.sort type="button" data-sort aria-label=[spoken(name)] disabled { (formula::inline(name)) } } }
                            }
                        }
                    }
                    tbody {
                        @for row in &rows {
                            tr {
                                @for (i, cell) in row.iter().enumerate() {
                                    td class=[class(i)] {
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
                @if around.files {
                    a href={ "../" (stem) ".csv" } { "CSV" }
                    a href={ "../" (stem) ".md" } { "Markdown" }
                    a href={ "../" (stem) ".txt" } { "Text" }
                }
                span.quiet { (table.len()) " rows" }
            }
        }
    }
}

/// How a column's cells look: numbers on the right, the paper's own shaded, sentences broken.
fn class((name, align): (&str, Align), rows: &[Vec<Shown>], column: usize) -> String {
    /// Words longer than this are sentences.
    const LONG: usize = 36;
    let cells = rows.iter().filter_map(|row| row.get(column));
    let long = cells.map(|cell| cell.text.chars().count()).max().is_some_and(|most| most > LONG);
    let all = [
        (align == Align::Right, "number"),
        (align == Align::Centre, "centre"),
        (align == Align::Left && long, "long"),
        (is_printed(name), "printed"),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, class)| class).collect::<Vec<_>>().join(" ")
}

/// A column of the paper's own numbers: "printed" is a word of its name, and it is no verdict.
fn is_printed(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "printed") && !name.starts_with("against")
}
