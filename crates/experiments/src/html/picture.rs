//! A picture inside a page: its SVG made fit for pages of two themes, for several on one page, and for people who do not see it.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};

use super::colour::{self, Rgb};
use crate::figure::FigureError;
use crate::report::{Picture, series_file};

/// The picture with its caption, its files and the command that makes it. Its colours are added to those of the page.
pub(super) fn figure(
    picture: &Picture,
    stem: &str,
    caption: &str,
    command: &str,
    colours: &mut BTreeSet<Rgb>,
) -> Result<Markup, FigureError> {
    // The colours of a heat map are values, and what is drawn over it is drawn for them: it stays on white.
    let paper = picture.has_heat_map();
    let id = format!("figure-{stem}");
    let svg = inlined(&picture.svg()?, &id, caption, paper, colours);
    Ok(html! {
        figure #(id) {
            div.picture.paper[paper] tabindex="0" role="group" aria-label={ "Figure: " (caption) } { (PreEscaped(svg)) }
            figcaption { (caption) }
            details.about {
                summary { "In words" }
                p #{ (id) "-words" } { (picture.words()) }
            }
            p.tools {
                button type="button" data-enlarge=(id) hidden { "Enlarge" }
                a href={ "../" (stem) ".svg" } { "SVG" }
                a href={ "../" (stem) ".png" } { "PNG" }
                a href={ "../" (series_file(stem)) } { "Data (CSV)" }
                code { (command) }
            }
        }
    })
}

/// Where the script shows a picture alone.
pub(super) fn dialog() -> Markup {
    html! {
        dialog #enlarged aria-label="Enlarged figure" {
            div.tools {
                button type="button" data-scale="fit" { "Fit" }
                button type="button" data-scale="out" aria-label="Smaller" { "−" }
                button type="button" data-scale="in" aria-label="Larger" { "+" }
                span.quiet role="status" {}
                form method="dialog" { button { "Close" } }
            }
            div.stage tabindex="0" role="group" aria-label="The figure; scrolls when it is larger than the screen" {}
        }
    }
}

/// The SVG element alone, with a label, its words by reference, identifiers of its own and, unless it stays on `paper`, the page's
/// colours and no background.
fn inlined(svg: &str, id: &str, label: &str, paper: bool, colours: &mut BTreeSet<Rgb>) -> String {
    let mut result = String::with_capacity(svg.len() + svg.len() / 4);
    let mut rest = svg.find("<svg").map_or("", |start| &svg[start..]);
    let label = html! { (label) }.into_string();
    let mut first = true;
    while let Some(start) = rest.find('<') {
        result.push_str(&rest[..start]);
        let (tag, after) = rest[start..].split_at(tag_length(&rest[start..]));
        rest = after;
        if std::mem::take(&mut first) {
            result.push_str(&format!("<svg role=\"img\" aria-label=\"{label}\" aria-describedby=\"{id}-words\""));
            attributes(&tag["<svg".len()..], id, paper, colours, &mut result);
        } else if tag.starts_with("<!--") || (!paper && is_background(tag)) {
        } else {
            attributes(tag, id, paper, colours, &mut result);
        }
    }
    result
}

/// From `<` to the `>` that closes the tag or comment.
fn tag_length(text: &str) -> usize {
    if text.starts_with("<!--") {
        return text.find("-->").map_or(text.len(), |end| end + 3);
    }
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return i + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_background(tag: &str) -> bool {
    tag.starts_with("<rect width=\"100%\" height=\"100%\"")
}

/// Copies a tag with its quoted values changed: what is between two quotes is a value, what is before them its name.
fn attributes(tag: &str, id: &str, paper: bool, colours: &mut BTreeSet<Rgb>, result: &mut String) {
    let mut pieces = tag.split('"');
    while let (Some(before), value) = (pieces.next(), pieces.next()) {
        result.push_str(before);
        let Some(value) = value else { break };
        let name = before.trim_end_matches('=').rsplit(' ').next().unwrap_or_default();
        let colour =
            colour::read(value).filter(|_| !paper && matches!(name, "fill" | "stroke" | "color" | "stop-color"));
        let value = match (name, colour) {
            (_, Some(colour)) => {
                colours.insert(colour);
                format!("var({})", colour::name(colour))
            }
            ("id", _) => format!("{id}-{value}"),
            _ => value.replace("url(#", &format!("url(#{id}-")).replace("href=\"#", &format!("href=\"#{id}-")),
        };
        result.push_str(&format!("\"{value}\""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;

    #[test]
    fn colours_identifiers_and_background_become_the_pages() {
        let svg = "<?xml version=\"1.0\"?><svg width=\"9\" fill=\"#222222\"><!-- a > b --><rect width=\"100%\" height=\"100%\" \
                   fill=\"white\" /><clipPath id=\"k-0\"/><g clip-path=\"url(#k-0)\" data-x=\">\"><text fill=\"none\">a &gt; \
                   fill=\"white\"</text></g></svg>";
        let mut colours = BTreeSet::new();
        insta::assert_snapshot!(inlined(svg, "f", "A & \"b\"", false, &mut colours), @r#"<svg role="img" aria-label="A &amp; &quot;b&quot;" aria-describedby="f-words" width="9" fill="var(--c-222222)"><clipPath id="f-k-0"/><g clip-path="url(#f-k-0)" data-x=">"><text fill="none">a &gt; fill="white"</text></g></svg>"#);
        assert_eq!(colours, BTreeSet::from([[0x22; 3]]));
        let paper = inlined(svg, "f", "A", true, &mut BTreeSet::new());
        assert!(paper.contains("fill=\"white\" />") && paper.contains("fill=\"#222222\""), "{paper}");
    }

    #[test]
    fn words_of_a_figure_stay_words() {
        let figure = Figure::new("<script>a</script>").y_label("\"<b>").line("</svg><i>", &[1.0, 2.0], &[1.0, 2.0]);
        let page = super::figure(&figure.into(), "s", "<u>", "run", &mut BTreeSet::new()).unwrap().into_string();
        for bad in ["<script", "<b>", "</svg><i>", "<u>"] {
            assert!(!page.contains(bad), "{bad} in {page}");
        }
        assert_eq!(page.matches("<svg").count(), 1);
    }
}
