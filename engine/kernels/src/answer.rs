//! Reading the texts of answers: terms, closeness of the question's terms, snippets and numbers of tokens.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

/// The number of joiners in one word after which a new word begins (`analyzer.JOINS_MAX`).
const JOINS_MAX: usize = 31;
const ELLIPSIS: char = '…';

fn is_plain(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether `str.split` splits at an ASCII character.
fn is_space(byte: u8) -> bool {
    matches!(byte, 9..=13 | 28..=32)
}

/// Return the end of the word that begins at `start`: a match of `analyzer._ASCII_WORDS`.
fn word_end(text: &[u8], start: usize) -> usize {
    let run = |mut at: usize| {
        while is_plain(text.get(at)) {
            at += 1;
        }
        at
    };
    let mut end = run(start);
    for _ in 0..JOINS_MAX {
        let next = match text.get(end) {
            Some(b'_') => end + text[end..].iter().take_while(|byte| **byte == b'_').count(),
            Some(b'-' | b'.' | b'\'' | b'@') => end + 1,
            _ => break,
        };
        if !is_plain(text.get(next)) {
            break;
        }
        end = run(next);
    }
    match text.get(end..) {
        Some([b'+', b'+', ..]) => end + 2,
        Some([b'#', ..]) => end + 1,
        _ => end,
    }
}

/// Return the first and last offset of each maximal run of characters that are not white space.
fn split(text: &[u8]) -> Vec<(usize, usize)> {
    let mut parts = Vec::with_capacity(text.len() / 6 + 1);
    let mut start = None;
    for (at, byte) in text.iter().enumerate() {
        match (is_space(*byte), start) {
            (true, Some(begin)) => {
                parts.push((begin, at));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    parts.extend(start.map(|begin| (begin, text.len())));
    parts
}

/// A term of the question in a text.
struct Mark {
    /// The number of terms of the text before this term.
    position: usize,
    /// The number of the term among the question's terms in ascending order.
    term: usize,
    /// The number of the part of the text, split at white space, that contains the term.
    part: usize,
}

/// Return the largest weight of a group of terms within `window` of each other (`text_signals.proximity`).
fn closest(marks: &[Mark], weights: &[f64], window: usize) -> f64 {
    let mut best = 0.0f64;
    let mut group: Vec<usize> = Vec::new();
    for (number, first) in marks.iter().enumerate() {
        group.clear();
        for mark in &marks[number..] {
            if mark.position - first.position > window {
                break;
            }
            if !group.contains(&mark.term) {
                group.push(mark.term);
            }
        }
        if group.len() > 1 {
            // Added in the order of the text, as in the twin: sums of floats depend on the order.
            best = best.max(group.iter().fold(0.0, |sum, term| sum + weights[*term]));
        }
    }
    best
}

/// A text that is split at white space, and the marks of the question's terms in it.
struct Parts<'a> {
    text: &'a str,
    parts: Vec<(usize, usize)>,
    marks: &'a [Mark],
}

impl Parts<'_> {
    fn size(&self, part: usize) -> i64 {
        let (start, end) = self.parts[part];
        (end - start) as i64
    }

    /// Return the first part of the window of `chars` characters in which the terms weigh most.
    fn heaviest(&self, weights: &[f64], chars: i64) -> usize {
        // The end of each part, and a space after it, in the text with single spaces as white space.
        let mut ends = Vec::with_capacity(self.parts.len());
        let mut end = 0i64;
        for part in 0..self.parts.len() {
            end += self.size(part) + 1;
            ends.push(end);
        }
        let groups: Vec<&[Mark]> = self.marks.chunk_by(|one, other| one.part == other.part).collect();
        let mut within = vec![0u32; weights.len()];
        let (mut best, mut best_weight, mut last) = (0, 0.0, 0);
        for (number, group) in groups.iter().enumerate() {
            let part = group[0].part;
            let end = ends[part] - self.size(part) - 1 + chars + 1;
            let mut grown = false;
            while last < groups.len() && ends[groups[last][0].part] <= end {
                for mark in groups[last] {
                    grown |= within[mark.term] == 0;
                    within[mark.term] += 1;
                }
                last += 1;
            }
            if grown {
                let there = within.iter().zip(weights).filter(|(count, _)| **count > 0);
                let weight = there.fold(0.0, |sum, (_, weight)| sum + weight);
                if weight > best_weight {
                    (best, best_weight) = (part, weight);
                }
            }
            if last == number {
                last += 1;
            } else {
                for mark in *group {
                    within[mark.term] -= 1;
                }
            }
        }
        best
    }

    /// Return the snippet of at most `chars` characters (`snippets.Snippets.around`).
    fn snippet(&self, weights: &[f64], chars: i64, cut: (bool, bool)) -> String {
        let mut lead = chars / 5;
        let mut start = if self.marks.is_empty() { 0 } else { self.heaviest(weights, chars - lead) };
        while start > 0 && self.size(start - 1) < lead {
            start -= 1;
            lead -= self.size(start) + 1;
        }
        let mut shown = String::with_capacity(2 * ELLIPSIS.len_utf8() + self.text.len().min(chars as usize));
        let mut room = chars;
        if start > 0 || cut.0 {
            shown.push(ELLIPSIS);
            room -= 1;
        }
        for (number, (begin, end)) in self.parts.iter().enumerate().skip(start) {
            let word = &self.text[*begin..*end];
            room -= (end - begin) as i64 + 1;
            if room < 0 {
                if number == start {
                    let most = usize::try_from(chars - 1).unwrap_or(0);
                    shown = shown.chars().chain(word.chars()).take(most).collect();
                }
                shown.push(ELLIPSIS);
                return shown;
            }
            if number > start {
                shown.push(' ');
            }
            shown.push_str(word);
        }
        if cut.1 {
            shown.push(ELLIPSIS);
        }
        shown
    }
}

/// What recall reads in one text: its terms, their closeness, and its snippet.
type Read<'py> = (Bound<'py, PyList>, f64, String);

/// Read the part of a text that is analysed. Return the terms, the weight of the heaviest group of terms that
/// are close together, and the snippet; or None if the text is not ASCII.
///
/// The twins are `index_terms`, `text_signals.proximity` (which also divides by the sum of all weights) and
/// `snippets.Snippets`.
///
/// - `words` maps a word to a tuple of its terms. It may compute the terms of a word when it is asked for them.
/// - `numbers` maps each of the question's terms to its index in `weights`, whose order is that of the terms.
/// - `cut` tells whether the part has text before it, and after it.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn read_text<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    words: &Bound<'py, PyDict>,
    numbers: &Bound<'py, PyDict>,
    weights: Vec<f64>,
    window: usize,
    chars: i64,
    cut: (bool, bool),
) -> PyResult<Option<Read<'py>>> {
    let Some(text) = text.to_str().ok().filter(|text| text.is_ascii()) else {
        return Ok(None);
    };
    let raw = text.as_bytes();
    let parts = split(raw);
    let mut terms: Vec<Bound<'py, PyAny>> = Vec::with_capacity(parts.len() + parts.len() / 4);
    let mut marks = Vec::new();
    for (part, (start, end)) in parts.iter().enumerate() {
        let mut at = *start;
        while at < *end {
            if !is_plain(raw.get(at)) {
                at += 1;
                continue;
            }
            let next = word_end(raw, at);
            let found = words.as_any().get_item(PyString::new(py, &text[at..next]))?;
            at = next;
            let Ok(found) = found.cast_into::<PyTuple>() else {
                return Ok(None);
            };
            for term in found.iter() {
                if let Some(number) = numbers.get_item(&term)? {
                    let number = number.extract::<usize>()?;
                    if number >= weights.len() {
                        return Ok(None);
                    }
                    marks.push(Mark { position: terms.len(), term: number, part });
                }
                terms.push(term);
            }
        }
    }
    let close = closest(&marks, &weights, window);
    let snippet = Parts { text, parts, marks: &marks }.snippet(&weights, chars.max(1), cut);
    Ok(Some((PyList::new(py, terms)?, close, snippet)))
}

/// Return the number of units of ASCII text in `raw`: the matches of `tokens._UNITS`.
fn units(raw: &[u8]) -> usize {
    let run = |from: usize, most: usize, belongs: fn(&u8) -> bool| {
        raw[from..].iter().take(most).take_while(|byte| belongs(byte)).count()
    };
    let blank = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 11 | 12 | b' ');
    let (mut at, mut count) = (0, 0);
    while let Some(byte) = raw.get(at) {
        let size = match byte {
            b'A'..=b'Z' => match run(at + 1, 6, u8::is_ascii_lowercase) {
                0 => run(at, 3, u8::is_ascii_uppercase),
                small => small + 1,
            },
            b'a'..=b'z' => run(at, 6, u8::is_ascii_lowercase),
            b'0'..=b'9' => run(at, 2, u8::is_ascii_digit),
            b'!'..=b'~' => 1,
            _ => match run(at, 16, blank) {
                1 if *byte == b'\n' => 1,
                0 | 1 => {
                    at += 1;
                    continue;
                }
                size => size,
            },
        };
        count += 1;
        at += size;
    }
    count
}

/// Return the estimated number of tokens of a text; None if it has lone surrogates. The twin is
/// `tokens.estimate_tokens`.
#[pyfunction]
fn estimate_tokens(text: &Bound<'_, PyString>) -> Option<usize> {
    let raw = text.to_str().ok()?.as_bytes();
    let lead = |byte: &u8| match byte {
        0xd0..=0xd3 => 6,
        0xc2..=0xcf | 0xd4..=0xdf => 10,
        0xe0..=0xef => 15,
        0xf0..=0xf4 => 30,
        _ => 0,
    };
    let tenths: usize = if raw.is_ascii() { 0 } else { raw.iter().map(lead).sum() };
    Some(units(raw) + tenths.div_ceil(10))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_text, module)?)?;
    module.add_function(wrap_pyfunction!(estimate_tokens, module)?)
}
