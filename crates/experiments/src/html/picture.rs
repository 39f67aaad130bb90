//! A picture inside a page: its panels side by side as far as the page is wide, its legend as buttons, its words for people who do
//! not see it.
//!
//! Without a script the legend is a legend and every value is in the words and in the file of data. With one, the legend turns series on
//! and off, a pointer or the arrow keys read values, and a panel can be zoomed.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use mercer_plots::page::{KeyKind, Parts};

use super::colour::{self, Rgb};
use super::formula;
use crate::figure::FigureError;
use crate::report::{Picture, series_file};

/// What surrounds a picture.
pub(super) struct Surroundings<'a> {
    /// The beginning of its identifiers.
    pub(super) prefix: &'a str,
    /// The command that makes it.
    pub(super) command: &'a str,
    /// Whether its files lie beside the pages.
    pub(super) files: bool,
}

/// The picture with its caption, its files and the command that makes it. Its colours are added to those of the page.
pub(super) fn figure(
    picture: &Picture,
    stem: &str,
    caption: &str,
    around: &Surroundings<'_>,
    colours: &mut BTreeSet<Rgb>,
) -> Result<Markup, FigureError> {
    let id = format!("{}{stem}", around.prefix);
    let Parts { panels, legend, colours: own } = picture.parts()?;
    colours.extend(own.iter().filter_map(|colour| colour::read(&format!("#{colour}"))));
    let groups = picture.groups();
    Ok(html! {
        figure #(id) {
            div.panels.single[panels.len() == 1] {
                @for (i, panel) in panels.iter().enumerate() {
                    @let number = panels.len() > 1;
                    div.panel {
                        @if !panel.title.is_empty() { p.panel-title { (formula::inline(&panel.title)) } }
                        div.picture tabindex="0" role="group" aria-label={ "Figure" @if number { ", panel " (i + 1) } ": " (caption) } {
                            (PreEscaped(panel.svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{}\" aria-describedby=\"{id}-words\" ", html! { (panel.title) " " (caption) }.into_string()), 1)))
                        }
                    }
                }
            }
            @if !legend.is_empty() {
                ul.legend aria-label="Series" {
                    @for key in &legend {
                        li { button type="button" data-toggle=(key.series) aria-pressed="true" disabled {
                            span.swatch.(kind(key.kind)) style={ "color:var(--c-" (key.colour) ")" } {} (formula::inline(&key.name))
                        } }
                    }
                }
            }
            @if !groups.is_empty() {
                p.groups { @for (i, group) in groups.iter().enumerate() { @if i > 0 { ", " } strong { (i + 1) } " " (group) } }
            }
            figcaption { (formula::inline(caption)) }
            details.about {
                summary { "In words" }
                p #{ (id) "-words" } { (picture.words()) }
            }
            p.tools {
                @if around.files {
                    a href={ "../" (stem) ".svg" } { "SVG" }
                    a href={ "../" (stem) ".png" } { "PNG" }
                    a href={ "../" (series_file(stem)) } { "Data (CSV)" }
                }
                code { (around.command) }
            }
        }
    })
}

fn kind(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Line => "line",
        KeyKind::Dashed => "dash",
        KeyKind::Filled => "filled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;

    #[test]
    fn words_of_a_figure_stay_words() {
        let figure = Figure::new("<script>a</script>").y_label("\"<b>").line("</svg><i>", &[1.0, 2.0], &[1.0, 2.0]);
        let around = Surroundings { prefix: "figure-", command: "run", files: true };
        let page = super::figure(&figure.into(), "s", "<u>", &around, &mut BTreeSet::new()).unwrap().into_string();
        for bad in ["<script", "<b>", "</svg><i>", "<u>"] {
            assert!(!page.contains(bad), "{bad} in {page}");
        }
        assert_eq!(page.matches("<svg").count(), 2);
    }
}
