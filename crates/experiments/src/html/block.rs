//! Words, remarks, tables and pictures of one experiment.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::colour::Rgb;
use super::markdown::words;
use super::{badge, picture};
use crate::figure::FigureError;
use crate::report::{Block, Remark};
use crate::table::{Align, Table};

/// One block; `command` makes it again.
pub(super) fn block(block: &Block, command: &str, colours: &mut BTreeSet<Rgb>) -> Result<Markup, FigureError> {
    Ok(match block {
        Block::Words(text) => html! { div.words { (words(text)) } },
        Block::Remark(one) => remark(one),
        Block::Table { stem, caption, table } => self::table(table, stem, caption),
        Block::Picture { stem, caption, picture } => picture::figure(picture, stem, caption, command, colours)?,
    })
}

/// Why something differs or was not run.
pub(super) fn remark(Remark { outcome, subject, why }: &Remark) -> Markup {
    html! {
        div class={ "remark words " (super::class(*outcome)) } {
            p.subject { (badge(*outcome, outcome.name())) " " strong { (subject) } }
            (words(why))
        }
    }
}

/// A table in a box that scrolls, with the paper's own columns marked.
fn table(table: &Table, stem: &str, caption: &str) -> Markup {
    let id = format!("table-{stem}");
    let printed: Vec<bool> = table.header().map(|(name, _)| is_printed(name)).collect();
    let class = |align: Align, printed: bool| match (align, printed) {
        (Align::Left, false) => None,
        (Align::Left, true) => Some("printed"),
        (Align::Right, false) => Some("number"),
        (Align::Right, true) => Some("number printed"),
        (Align::Centre, false) => Some("centre"),
        (Align::Centre, true) => Some("centre printed"),
    };
    html! {
        section.table aria-labelledby={ (id) "-caption" } {
            p.caption #{ (id) "-caption" } {
                (caption)
                @if printed.contains(&true) { span.quiet { " Shaded: as the paper prints it." } }
            }
            div.scroll tabindex="0" role="group" aria-labelledby={ (id) "-caption" } {
                table #(id) aria-labelledby={ (id) "-caption" } {
                    thead {
                        tr {
                            @for ((name, align), printed) in table.header().zip(&printed) {
                                @if name.is_empty() { td class=[class(align, *printed)] {} }
                                @else { th scope="col" class=[class(align, *printed)] { (name) } }
                            }
                        }
                    }
                    tbody {
                        @for row in table.shown() {
                            tr {
                                @for (cell, printed) in row.iter().zip(&printed) {
                                    td class=[class(cell.align, *printed)] {
                                        @match cell.outcome {
                                            Some(outcome) => (badge(outcome, &cell.text)),
                                            None => (cell.text),
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.tools {
                a href={ "../" (stem) ".csv" } { "CSV" }
                a href={ "../" (stem) ".md" } { "Markdown" }
                a href={ "../" (stem) ".txt" } { "Text" }
                span.quiet { (table.len()) " rows" }
            }
        }
    }
}

/// A column of the paper's own numbers: "printed" is a word of its name, and it is no verdict.
fn is_printed(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "printed") && !name.starts_with("against")
}
