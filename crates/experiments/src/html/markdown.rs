//! The experiments' words, which are Markdown, as HTML.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::formula;

/// Paragraphs, lists, tables, emphasis, code and links. HTML within the words is shown, not obeyed;
/// a picture is its words; a link that is not to a page of the web or to this one is only its
/// words; headings begin below those of the page.
pub(super) fn words(text: &str) -> Markup {
    let mut links = Vec::new();
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        // What is between backticks is a formula too, unless it is a name.
        Event::Text(text) => Some(Event::InlineHtml(formula::set(&text).into())),
        Event::Code(text) if formula::set(&text).contains("<math>") => {
            Some(Event::InlineHtml(formula::set(&text).into()))
        }
        Event::Start(Tag::Link { dest_url, link_type, title, id }) => {
            links.push(is_plain(&dest_url));
            is_plain(&dest_url).then_some(Event::Start(Tag::Link { link_type, dest_url, title, id }))
        }
        Event::End(TagEnd::Link) => links.pop().unwrap_or(false).then_some(event),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Some(Event::Start(Tag::Heading { level: lower(level), id, classes, attrs }))
        }
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lower(level)))),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        other => Some(other),
    });
    let mut text = String::new();
    pulldown_cmark::html::push_html(&mut text, events);
    PreEscaped(text)
}

fn is_plain(url: &CowStr<'_>) -> bool {
    ["https://", "http://", "#"].iter().any(|beginning| url.starts_with(beginning))
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        _ => HeadingLevel::H5,
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn markdown_is_read_and_html_is_shown() {
        let text = "# A\n\n**b** `c<d>` <script>e()</script> <https://f.org> [g](javascript:h) ![i](j.png)\n\n<img src=x onerror=k>\n";
        insta::assert_snapshot!(words(text).into_string(), @r#"
        <h3>A</h3>
        <p><strong>b</strong> <code>c&lt;d&gt;</code> &lt;script&gt;e()&lt;/script&gt; <a href="https://f.org">https://f.org</a> g i</p>
        <p>&lt;img src=x onerror=k&gt;
        </p>
        "#);
    }
}
