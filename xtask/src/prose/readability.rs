//! `cargo xtask readability FILE…`: how long the sentences of a Markdown page, or of the head of a source file, are, and which ones to look
//! at.
//!
//! Tables, code and headings are left out; an item of a list ends a sentence. Passive forms and openings that turn the order of words
//! round are found by pattern: they are listed for a person to judge, and are no faults by themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::tidy::root;

/// What half of the sentences of a page should not exceed, and all but five in a hundred.
const WANTED: (usize, usize) = (16, 28);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Markdown files, or Rust files whose `//!` lines are read [default: README, GUIDE, ARCHITECTURE, CONTRIBUTING, docs and the front pages of the crates]
    files: Vec<PathBuf>,
    /// Lists the longest sentences, passive forms and inverted openings too.
    #[arg(long)]
    list: bool,
}

/// Prints a line a page.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut files = arguments.files.clone();
    if files.is_empty() {
        let root = root();
        files = ["README.md", "GUIDE.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)).to_vec();
        files.extend(
            super::markdown(&root)?.into_iter().filter(|path| path.parent().is_some_and(|dir| dir.ends_with("docs"))),
        );
        let mut fronts = Vec::new();
        crate::tidy::collect(&root.join("crates"), &mut fronts)?;
        fronts.retain(|path| path.ends_with("src/lib.rs"));
        fronts.sort();
        files.append(&mut fronts);
    }
    for path in &files {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let page = if is_source { Page::of(&head(&text)) } else { Page::of(&text) };
        println!("{}: {}", path.strip_prefix(root()).unwrap_or(path).display(), page.line());
        if arguments.list {
            print!("{}", page.list());
        }
    }
    Ok(())
}

/// The words at the head of a source file.
fn head(source: &str) -> String {
    let words = source.lines().map_while(|line| line.strip_prefix("//!"));
    words.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

struct Page {
    sentences: Vec<String>,
}

impl Page {
    fn of(text: &str) -> Self {
        let (mut sentences, mut paragraph, mut block) = (Vec::new(), String::new(), false);
        let flush = |paragraph: &mut String, sentences: &mut Vec<String>| {
            sentences.extend(split(paragraph));
            paragraph.clear();
        };
        for line in text.lines().map(str::trim) {
            if line.starts_with("```") {
                block = !block;
            }
            let item = line.starts_with("- ") || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok());
            let outside =
                block || line.is_empty() || ["```", "|", "#", "<!--", "!["].iter().any(|mark| line.starts_with(mark));
            if outside || item {
                flush(&mut paragraph, &mut sentences);
            }
            if !outside {
                paragraph.push_str(line.trim_start_matches("- "));
                paragraph.push(' ');
            }
        }
        flush(&mut paragraph, &mut sentences);
        Self { sentences }
    }

    fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = self.sentences.iter().map(|sentence| words(sentence)).collect();
        lengths.sort_unstable();
        lengths
    }

    fn line(&self) -> String {
        let lengths = self.lengths();
        let at = |share: f64| {
            lengths.get((share * lengths.len().saturating_sub(1) as f64).round() as usize).copied().unwrap_or(0)
        };
        let (median, most) = (at(0.5), at(0.95));
        let good = if median <= WANTED.0 && most <= WANTED.1 { "" } else { " (too long)" };
        let count = |test: fn(&str) -> bool| self.sentences.iter().filter(|sentence| test(sentence)).count();
        format!(
            "{} sentences, median {median} words, 95th percentile {most}{good}; {} passive, {} inverted",
            lengths.len(),
            count(passive),
            count(inverted)
        )
    }

    fn list(&self) -> String {
        let mut text = String::new();
        for sentence in &self.sentences {
            let marks = [
                (words(sentence) > WANTED.1, "long"),
                (passive(sentence), "passive"),
                (inverted(sentence), "inverted"),
            ];
            let marks: Vec<&str> = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect();
            if !marks.is_empty() {
                let _ = writeln!(text, "  [{}] {sentence}", marks.join(", "));
            }
        }
        text
    }
}

/// The sentences of a paragraph; what stands between backticks is one word.
fn split(paragraph: &str) -> Vec<String> {
    let spans = paragraph.split('`').enumerate();
    let text: String = spans.map(|(i, part)| if i % 2 == 1 { "CODE".to_owned() } else { part.to_owned() }).collect();
    let (mut sentences, mut rest) = (Vec::new(), text.as_str());
    while let Some(end) = rest.char_indices().find_map(|(i, c)| {
        let after = rest[i + c.len_utf8()..].trim_start_matches(['*', ')']);
        (matches!(c, '.' | '?' | '!' | ':') && after.starts_with(char::is_whitespace)).then_some(i + c.len_utf8())
    }) {
        sentences.push(rest[..end].trim().to_owned());
        rest = &rest[end..];
    }
    sentences.push(rest.trim().to_owned());
    sentences.retain(|sentence| words(sentence) > 1);
    sentences
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// A form of "to be" before a participle.
fn passive(sentence: &str) -> bool {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    words.windows(2).any(|pair| {
        ["is", "are", "was", "were", "be", "been", "being"].contains(&pair[0])
            && ["ed", "en", "pt", "rnt"].iter().any(|end| pair[1].trim_end_matches([',', '.', ';', ':']).ends_with(end))
    })
}

/// An opening that puts the subject behind: "What …", "Of …", "Nor …", "To … is".
fn inverted(sentence: &str) -> bool {
    let first = sentence.trim_start_matches('*').split_whitespace().next().unwrap_or_default();
    ["What", "Of", "Nor", "That", "Whose", "Such"].contains(&first) && !sentence.ends_with('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_source_is_a_page() {
        assert_eq!(head("//! One two.\n//!\n//! Three.\n\nuse x;\n//! Four.\n"), "One two.\n\nThree.\n");
    }

    #[test]
    fn sentences_are_counted_and_marked() {
        let page = Page::of(
            "# A heading\n\nOne two three. What is `a b` is found?\n\n- An item\n| a | table |\n\nNor is a fourth.\n",
        );
        assert_eq!(page.sentences, ["One two three.", "What is CODE is found?", "An item", "Nor is a fourth."]);
        assert_eq!(page.lengths(), [2, 3, 4, 5]);
        assert!(inverted("Nor is a fourth.") && !inverted("What is it?") && passive("It is used."));
    }
}
