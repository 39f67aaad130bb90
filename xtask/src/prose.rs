//! Rules for the words of the tree, a part of `cargo xtask tidy`: spelling, and phrases that readers stumble over.
//!
//! Read are the Markdown files of the root, of `docs`, of the crates and of the Python pages, and the comments of all sources. Code spans, code blocks, links and
//! words with digits or underscores are passed over. Spelling is that of the dictionary behind the `typos` program: a list of known
//! misspellings, so that an unknown word is not a fault, and British and American forms both pass.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) mod readability;

/// Phrases that make a reader read twice, each with what to write. A space at the ends asks for whole words.
const BANNED: [(&str, &str); 13] = [
    ("but for ", "write \"except\""),
    ("to and fro", "write \"back and forth\" or \"alternating\""),
    ("have to hand", "write \"have\""),
    ("has to hand", "write \"has\""),
    ("is asked for ahead", "write \"prefetches\""),
    ("are asked for ahead", "write \"are prefetched\""),
    ("ask for tiles", "write \"prefetch\""),
    ("the first that cannot", "write \"the first one that cannot\""),
    ("what comes of it", "name the result"),
    ("nor is a ", "write \"is not … either\""),
    ("what the compiler made of", "name what the compiler did"),
    ("goes to and", "write \"alternates\""),
    ("would have to be talked out of", "name what is in the way"),
];

/// Words of the list of misspellings that are right here: names, and terms of the field.
const KNOWN: [&str; 1] = ["Mannor"];

/// Adds every fault of the words.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn violations(root: &Path, sources: &[PathBuf], found: &mut Vec<String>) -> Result<()> {
    let mut pages = markdown(root)?;
    pages.extend(sources.iter().cloned());
    for path in &pages {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        // The list of phrases itself.
        if name.ends_with("xtask/src/prose.rs") {
            continue;
        }
        let comments = path.extension().is_some_and(|extension| extension == "rs");
        rules(&name, &text, comments, found);
    }
    Ok(())
}

/// The Markdown files that people read.
pub(crate) fn markdown(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = vec![root.to_owned(), root.join("docs"), root.join("benches"), root.join("datasets")];
    folders.extend(["python", "python/docs/pages", "python/docs/pages/from"].map(|folder| root.join(folder)));
    for entry in fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    let mut pages = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

fn rules(name: &str, text: &str, comments: bool, found: &mut Vec<String>) {
    let mut block = false;
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        let trimmed = line.trim_start();
        let words = if comments {
            let Some(words) = ["//!", "///", "// "].iter().find_map(|mark| trimmed.strip_prefix(mark)) else {
                continue;
            };
            words
        } else {
            trimmed
        };
        if words.trim_start().starts_with("```") {
            block = !block;
            continue;
        }
        if block {
            continue;
        }
        let plain = plain(words);
        let lower = format!("{} ", plain.to_lowercase());
        for (phrase, advice) in BANNED.iter().filter(|(phrase, _)| begins_a_word(&lower, phrase)) {
            found.push(format!("{name}:{number}: \"{}\": {advice}", phrase.trim()));
        }
        for (word, right) in plain.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'').filter_map(misspelt) {
            found.push(format!("{name}:{number}: \"{word}\": write {right}"));
        }
    }
}

/// Whether the phrase stands at the beginning of a word.
fn begins_a_word(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(i, _)| !text[..i].ends_with(char::is_alphanumeric))
}

/// The line without code spans, and without the addresses of links.
fn plain(line: &str) -> String {
    let outside: String = line.split('`').step_by(2).collect::<Vec<&str>>().join(" … ");
    let mut text = String::new();
    let mut rest = outside.as_str();
    while let Some(start) = rest.find("](") {
        text.push_str(&rest[..start + 1]);
        rest = rest[start..].find(')').map_or("", |end| &rest[start + end + 1..]);
    }
    text.push_str(rest);
    text.split_whitespace().filter(|word| !word.contains("://")).collect::<Vec<&str>>().join(" ")
}

fn misspelt(word: &str) -> Option<(&str, String)> {
    let word = word.trim_matches('\'');
    let letters = word.len() > 3 && word.chars().all(|c| c.is_ascii_alphabetic());
    // Names and abbreviations have capitals where words have none.
    if !letters || word[1..].contains(|c: char| c.is_ascii_uppercase()) || KNOWN.contains(&word) {
        return None;
    }
    let right = typos_dict::WORD.find(&unicase::UniCase::ascii(word))?;
    let right: Vec<String> = right.iter().map(|right| format!("\"{right}\"")).collect();
    (!right.is_empty()).then(|| (word, right.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_words_are_found_with_their_lines() {
        let mut found = Vec::new();
        let text = "All but for the last.\nA `recieve` span, seperate words.\n```\nbut for teh code\n```\n[a](http://recieve.org) https://teh.org\n";
        rules("a.md", text, false, &mut found);
        assert_eq!(found, ["a.md:1: \"but for\": write \"except\"", "a.md:2: \"seperate\": write \"separate\""]);
        found.clear();
        rules("a.rs", "let recieve = 1; // wierd\n/// It is wierd.\n", true, &mut found);
        assert_eq!(found, ["a.rs:2: \"wierd\": write \"weird\""]);
    }

    #[test]
    fn names_and_both_kinds_of_english_pass() {
        let mut found = Vec::new();
        rules("a.md", "The colour, the color, Jézéquel, NOGD, k_S and x2.", false, &mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}
