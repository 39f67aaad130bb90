//! Texts that people would call a time, though nobody knows which: `Jan  1 03:00:00`, `2022-001`,
//! `FY23`, `2022H1`, `20h29`, `KW 1`.

use crate::written_time::{Token, WEEKDAYS, ZONES, month_called, tokens};

/// Words that stand in times, beside months, days and zones.
const WORDS: [&str; 15] = ["am", "pm", "t", "h", "hr", "hrs", "q", "s", "w", "wk", "week", "kw", "cw", "fy", "uhr"];

/// True if a text has the parts of a time, and no word that has none. `O(bytes)`.
pub(super) fn is_time_like(text: &str) -> bool {
    const LONGEST: usize = 40;
    if text.len() > LONGEST || !text.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let text = text.to_lowercase();
    let tokens = tokens(&text);
    let words: Vec<&str> =
        tokens.iter().filter_map(|token| if let Token::Word(word) = token { Some(*word) } else { None }).collect();
    let is_month = |word: &&str| month_called(word).is_some();
    let is_day = |word: &str| word.len() > 2 && WEEKDAYS.split_whitespace().any(|day| day.starts_with(word));
    let is_known = |word: &&str| {
        is_month(word) || is_day(word) || WORDS.contains(word) || ZONES.iter().any(|(name, _)| name == word)
    };
    if !words.iter().all(is_known) {
        return false;
    }
    let is_year =
        |token: &Token<'_>| matches!(token, Token::Number(year) if year.len() == 4 && ("1800".."2200").contains(year));
    let below = |digits: &str, limit: u16| digits.parse::<u16>().is_ok_and(|number| number < limit);
    let is_clock = |window: &[Token<'_>]| matches!(window, [Token::Number(hour), Token::Mark(':') | Token::Word("h"), Token::Number(minute)] if minute.len() == 2 && below(hour, 24) && below(minute, 60));
    // The day of a year, behind it.
    if let [year, Token::Mark('-'), Token::Number(day)] = &tokens[..] {
        return is_year(year) && day.len() == 3 && below(day, 367);
    }
    let has_clock = tokens.windows(3).any(is_clock);
    let has_number = tokens.iter().any(|token| matches!(token, Token::Number(_)));
    let of_periods = !words.is_empty()
        && words.iter().all(|word| ["q", "s", "h", "w", "wk", "week", "kw", "cw", "fy"].contains(word));
    words.iter().any(is_month) && has_number
        || has_clock && (words.iter().any(|word| is_day(word) || *word == "h") || tokens.iter().any(is_year))
        || of_periods && (tokens.iter().any(is_year) || words.iter().all(|word| word.len() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_nobody_can_place() {
        for text in [
            "Jan  1 03:00:00",
            "2022-001",
            "FY23",
            "FY 2023",
            "2022H1",
            "20h29",
            "KW 1",
            "2023/W01",
            "Sun 8:29",
            "8 January",
        ] {
            assert!(is_time_like(text), "{text}");
        }
        for text in [
            "A12",
            "2022-900",
            "12",
            "may 1st floor",
            "S4",
            "H1",
            "row 2022",
            "March",
            "12:30 left",
            "10:20",
            "2022-12-31-4",
        ] {
            assert!(!is_time_like(text), "{text}");
        }
    }
}
