//! Formulas in running text as MathML.
//!
//! A word is a formula if it has an index or a power: `C^{1/2}`, `d_eff(λ)`, `n^(2γ/(1 − γ²))`.
//! What stands before `^` or `_` is its base, one letter or a bracket; what follows, up to the end
//! of a brace, bracket or word, stands above or below. The rest of the word is set as it is, and
//! other words are left alone.

use maud::{Markup, PreEscaped, html};

/// The text with its formulas set.
pub(super) fn inline(text: &str) -> Markup {
    html! { (PreEscaped(set(text))) }
}

/// As HTML; everything else is escaped.
pub(super) fn set(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let (mut result, mut plain, mut at) = (String::new(), String::new(), 0);
    while at < letters.len() {
        match script(&letters, at) {
            Some((formula, end)) => {
                // The base was taken for plain text before its script was seen.
                plain.pop();
                result.push_str(&escaped(&plain));
                plain.clear();
                result.push_str(&formula);
                at = end;
            }
            None => {
                plain.push(letters[at]);
                at += 1;
            }
        }
    }
    result + &escaped(&plain)
}

/// The formula whose `^` or `_` stands at this place, and where it ends.
fn script(letters: &[char], at: usize) -> Option<(String, usize)> {
    let (base, sign) = (*letters.get(at.checked_sub(1)?)?, letters[at]);
    let before = at.checked_sub(2).and_then(|place| letters.get(place));
    // A base of one letter, with a number before it at most: names of files and settings have
    // longer ones.
    let factor = |c: &char| sign == '^' && base.is_alphabetic() && c.is_ascii_digit();
    let alone = before.is_none_or(|c| factor(c) || !(c.is_ascii_alphanumeric() || *c == '_'));
    let is_base = (base.is_alphanumeric() && alone) || (sign == '^' && matches!(base, ')' | '‖' | '|' | ']'));
    if !matches!(sign, '^' | '_') || !is_base {
        return None;
    }
    let (first, end) = taken(letters, at + 1)?;
    // Both an index and a power.
    let second = letters
        .get(end)
        .filter(|next| matches!(next, '^' | '_') && **next != sign)
        .and_then(|_| taken(letters, end + 1));
    let base = token(&base.to_string());
    let row = |text: &str| format!("<mrow>{}</mrow>", tokens(text));
    let (formula, end) = match (second, sign) {
        (Some((other, end)), '_') => (format!("<msubsup>{base}{}{}</msubsup>", row(&first), row(&other)), end),
        (Some((other, end)), _) => (format!("<msubsup>{base}{}{}</msubsup>", row(&other), row(&first)), end),
        (None, '_') => (format!("<msub>{base}{}</msub>", row(&first)), end),
        (None, _) => (format!("<msup>{base}{}</msup>", row(&first)), end),
    };
    Some((format!("<math>{formula}</math>"), end))
}

/// The text that is raised or lowered: between braces or brackets, or a word with a sign before it.
fn taken(letters: &[char], start: usize) -> Option<(String, usize)> {
    let closing = match letters.get(start)? {
        '{' => Some(('{', '}')),
        '(' => Some(('(', ')')),
        _ => None,
    };
    if let Some((open, close)) = closing {
        let mut depth = 0;
        for (i, c) in letters.iter().enumerate().skip(start) {
            depth += i32::from(*c == open) - i32::from(*c == close);
            if depth == 0 {
                return Some((letters[start + 1..i].iter().collect(), i + 1));
            }
        }
        return None;
    }
    let signs = letters[start..].iter().take_while(|c| matches!(c, '−' | '-' | '+')).count();
    let in_word = |c: &char| (c.is_alphanumeric() && !matches!(c, '²' | '³' | '¹' | '⁰'..='⁹')) || *c == '∞';
    let word = letters[start + signs..].iter().copied().take_while(in_word).count();
    // A longer word belongs to a name, such as that of a stream.
    (1..=4).contains(&word).then(|| (letters[start..start + signs + word].iter().collect(), start + signs + word))
}

/// Identifiers, numbers and operators.
fn tokens(text: &str) -> String {
    let (mut result, mut word) = (String::new(), String::new());
    for c in text.chars().chain([' ']) {
        let joins = word
            .chars()
            .last()
            .is_some_and(|last| last.is_numeric() == c.is_numeric() || (last.is_numeric() && c == '.'));
        if (c.is_alphanumeric() || c == '.') && (word.is_empty() || joins) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            result.push_str(&token(&std::mem::take(&mut word)));
        }
        if c.is_alphanumeric() {
            word.push(c);
        } else if !c.is_whitespace() {
            result.push_str(&format!("<mo>{}</mo>", escaped(&c.to_string())));
        }
    }
    result
}

fn token(text: &str) -> String {
    let text_escaped = escaped(text);
    if text.starts_with(|c: char| c.is_numeric()) {
        format!("<mn>{text_escaped}</mn>")
    } else if text.chars().all(char::is_alphanumeric) {
        format!("<mi>{text_escaped}</mi>")
    } else {
        format!("<mo>{text_escaped}</mo>")
    }
}

fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn indices_and_powers_are_set() {
        assert_eq!(
            set("C^{1/2} is"),
            "<math><msup><mi>C</mi><mrow><mn>1</mn><mo>/</mo><mn>2</mn></mrow></msup></math> is"
        );
        assert_eq!(set("a d_eff(λ)"), "a <math><msub><mi>d</mi><mrow><mi>eff</mi></mrow></msub></math>(λ)");
        assert_eq!(set("i^−p"), "<math><msup><mi>i</mi><mrow><mo>−</mo><mi>p</mi></mrow></msup></math>");
        assert_eq!(set("η_t²"), "<math><msub><mi>η</mi><mrow><mi>t</mi></mrow></msub></math>²");
        assert_eq!(set("2B^β"), "2<math><msup><mi>B</mi><mrow><mi>β</mi></mrow></msup></math>");
        assert_eq!(set("n^(2γ)"), "<math><msup><mi>n</mi><mrow><mn>2</mn><mi>γ</mi></mrow></msup></math>");
        assert_eq!(
            set("λ_i^2"),
            "<math><msubsup><mi>λ</mi><mrow><mi>i</mi></mrow><mrow><mn>2</mn></mrow></msubsup></math>"
        );
    }

    #[test]
    fn names_and_everything_else_stay_words() {
        for text in ["table3_grid", "a < b & c", "cod_rna_train", "_x", "x^", "x^{a", "opf_forgetting"] {
            assert_eq!(set(text), super::escaped(text));
        }
    }
}
