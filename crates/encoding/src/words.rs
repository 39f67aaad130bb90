//! The words and signs of a text, and lists, typed or written.

use mercer_core::{Cell, List};

/// The list of a cell, if it is one.
pub(crate) fn list_of(cell: Cell<'_>) -> Option<List<'_>> {
    match cell {
        Cell::List(list) => Some(list),
        Cell::Text(text) if List::begins(text) => List::read(text).ok(),
        _ => None,
    }
}

/// The words of a text, one after the other: each run of letters, digits, marks and `_`, and each
/// other sign that is not blank. In scripts without blanks each letter is a word.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let mut letters = rest.char_indices();
        let (_, first) = letters.next()?;
        let alone = stands_alone(first) || !is_of_word(first);
        let goes_on = |(_, letter): &(usize, char)| is_of_word(*letter) && !stands_alone(*letter);
        let end = letters.find(|letter| alone || !goes_on(letter)).map_or(rest.len(), |(end, _)| end);
        let (word, behind) = rest.split_at(end);
        rest = behind.trim_start();
        Some(word)
    })
}

/// True for letters and digits of any script, `_`, and marks that belong to a letter.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || is_mark(letter)
}

/// True for marks above and below letters, for the vowels and joints of Indic scripts, and for the
/// signs that join letters or keep them apart.
fn is_mark(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{93a}'..='\u{94f}' | '\u{9bc}'..='\u{9cd}' | '\u{a3c}'..='\u{a4d}'
        | '\u{abc}'..='\u{acd}' | '\u{b3c}'..='\u{b4d}' | '\u{bbe}'..='\u{bcd}' | '\u{c3c}'..='\u{c4d}'
        | '\u{cbc}'..='\u{ccd}' | '\u{d3b}'..='\u{d4d}' | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}')
}

/// True for letters of scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, kana
/// and Chinese characters.
fn stands_alone(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs() {
        for (text, expected) in [
            ("", &[][..]),
            ("  \t ", &[]),
            ("Don't stop!", &["Don", "'", "t", "stop", "!"]),
            ("a_b-2 (№ 7)", &["a_b", "-", "2", "(", "№", "7", ")"]),
            ("Größe: 5µm", &["Größe", ":", "5µm"]),
            ("naïve cafe\u{301}", &["naïve", "cafe\u{301}"]),
            ("हिन्दी भाषा", &["हिन्दी", "भाषा"]),
            ("日本 go", &["日", "本", "go"]),
            ("🙂🙂 :-)", &["🙂", "🙂", ":", "-", ")"]),
            ("x日y", &["x", "日", "y"]),
        ] {
            assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
