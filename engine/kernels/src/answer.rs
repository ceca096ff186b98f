//! Reading the texts of answers: terms, closeness of the question's terms, snippets and numbers of tokens.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::limits::TEXT_BYTES_MAX;
use crate::simple::simplified;
use crate::text::{analyse, shown, Field, Table, TermId, Terms};
use crate::words::words;

const ELLIPSIS: char = '…';

/// Whether `str.split` splits at a character. Rust does not count the separators of ASCII as white space.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}

/// A maximal run of characters that are not white space.
struct Part<'a> {
    start: usize,
    text: &'a str,
    chars: i64,
}

/// Return what `str.split` returns.
fn split(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(text.len() / 6 + 1);
    let mut part = |start: usize, end: usize| {
        if let Some(text) = text.get(start..end).filter(|text| !text.is_empty()) {
            let chars = if text.is_ascii() { text.len() } else { text.chars().count() };
            parts.push(Part { start, text, chars: chars as i64 });
        }
    };
    let mut start = 0;
    if text.is_ascii() {
        for (at, byte) in text.bytes().enumerate() {
            if is_space(char::from(byte)) {
                part(start, at);
                start = at + 1;
            }
        }
    } else {
        for (at, space) in text.char_indices().filter(|(_, character)| is_space(*character)) {
            part(start, at);
            start = at + space.len_utf8();
        }
    }
    part(start, text.len());
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
    parts: Vec<Part<'a>>,
    marks: &'a [Mark],
}

impl Parts<'_> {
    fn size(&self, part: usize) -> i64 {
        self.parts[part].chars
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
        let mut shown = String::new();
        let mut room = chars;
        if start > 0 || cut.0 {
            shown.push(ELLIPSIS);
            room -= 1;
        }
        for (number, part) in self.parts.iter().enumerate().skip(start) {
            let word = part.text;
            room -= part.chars + 1;
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

/// The question's terms that occur in texts, in ascending order, with their weights.
struct Asked {
    ids: Vec<Option<TermId>>,
    weights: Vec<f64>,
    total: f64,
    window: usize,
    chars: i64,
    /// Whether the terms of the texts are returned, too.
    whole: bool,
    beginnings: Beginnings,
}

/// For each letter, a bit for each letter that follows it at the beginning of a term of the question.
///
/// A term that has no second letter sets all bits. The letters i and y count as the same.
struct Beginnings([u32; 26]);

/// Return the number of a letter, or a number above 25 for another byte.
fn letter(byte: u8) -> usize {
    usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'))
}

const I_OR_Y: u32 = 1 << (b'i' - b'a') | 1 << (b'y' - b'a');

impl Beginnings {
    fn of(terms: &[String]) -> Self {
        let mut found = [0; 26];
        for term in terms.iter().map(|term| term.as_bytes()) {
            let first = term.first().map_or(usize::MAX, |first| letter(*first));
            let second = match term.get(1).map(|second| letter(*second)) {
                Some(second) if second < 26 => 1 << second,
                _ => u32::MAX,
            };
            if let Some(bits) = found.get_mut(first) {
                *bits |= if second & I_OR_Y == 0 { second } else { second | I_OR_Y };
            }
        }
        Beginnings(found)
    }

    /// Return whether a word has one term, which is not one of the question's. Stemming keeps the first letter
    /// and, if it leaves more than one letter, the second, except that it may turn a y into an i (dying, die).
    fn lack(&self, word: &[u8]) -> bool {
        let [first, rest @ ..] = word else { return false };
        let Some(bits) = self.0.get(letter(*first)) else { return false };
        let possible = match rest {
            [second, ..] => bits >> (letter(*second) & 31) & 1,
            [] => *bits,
        };
        possible == 0 && rest.iter().all(u8::is_ascii_lowercase)
    }
}

/// Return the terms of a text, how close together the question's terms are, and the snippet; or None if a
/// word of the text is not in the table, or the text is not simple. New words are appended to `new`, each with a
/// space after it.
fn read(
    table: &Table,
    text: &str,
    cut: (bool, bool),
    asked: &Asked,
    new: &mut Vec<u8>,
) -> Option<(Vec<TermId>, f64, String)> {
    let known = new.len();
    let parts = split(text);
    let mut terms = Vec::with_capacity(parts.len() + parts.len() / 4);
    let mut marks = Vec::new();
    let mut count = 0;
    for (number, part) in parts.iter().enumerate() {
        let simple = simplified(part.text)?;
        // A word is found faster where bytes follow it, so an ASCII part is read as a part of the text.
        let (raw, offset) = match &simple {
            Cow::Borrowed(_) => (text.as_bytes(), part.start),
            Cow::Owned(simple) => (&simple[..], 0),
        };
        for word in words(&simple) {
            if !asked.whole {
                if asked.beginnings.lack(&simple[word.clone()]) {
                    count += 1;
                    continue;
                }
                terms.clear();
            }
            let first = terms.len();
            if !table.append(raw, &(offset + word.start..offset + word.end), &mut terms) {
                // The byte before the word says whether it is a picture.
                new.extend_from_slice(&simple[word.start.saturating_sub(1)..word.start]);
                new.extend_from_slice(&simple[word]);
                new.push(b' ');
                continue;
            }
            for id in &terms[first..] {
                if let Some(term) = asked.ids.iter().position(|one| one == &Some(*id)) {
                    marks.push(Mark { position: count, term, part: number });
                }
                count += 1;
            }
        }
    }
    if new.len() > known {
        return None;
    }
    let close =
        if asked.total == 0.0 { 0.0 } else { closest(&marks, &asked.weights, asked.window) / asked.total };
    let snippet = Parts { parts, marks: &marks }.snippet(&asked.weights, asked.chars, cut);
    Some((terms, close, snippet))
}

/// What recall reads in one text: its terms, the closeness of the question's terms, and the snippet.
type Read<'py> = Option<(Option<Bound<'py, PyList>>, f64, String)>;

/// Read texts; the result is `None` in place of a text that is not simple or has more than `most` bytes.
///
/// The twins are `analyzer.index_terms`, `reading.proximity` and `snippets.Snippets`. `cut` tells whether the
/// texts have been cut at their beginnings, and at their ends. `asked` holds the question's terms in ascending
/// order, and `weights` their weights, whose sum in the order of the question is `total`. Unless `whole` is set,
/// `None` is returned in place of the terms of each text.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn read_texts<'py>(
    py: Python<'py>,
    own: &Bound<'py, Terms>,
    texts: Vec<Bound<'py, PyString>>,
    cut: (bool, bool),
    most: usize,
    asked: Vec<String>,
    weights: Vec<f64>,
    total: f64,
    window: usize,
    chars: i64,
    whole: bool,
) -> PyResult<Vec<Read<'py>>> {
    if asked.len() != weights.len() {
        return Ok(texts.iter().map(|_| None).collect());
    }
    let readable = |text: &&str| text.len() <= most;
    let own = own.get();
    own.with_table(|table| {
        let ids = asked.iter().map(|term| table.id(term.as_bytes())).collect();
        let beginnings = Beginnings::of(&asked);
        let mut asked_ids = Asked { ids, weights, total, window, chars: chars.max(1), whole, beginnings };
        let texts: Vec<Option<&str>> = texts.iter().map(|text| text.to_str().ok().filter(readable)).collect();
        let mut new = Vec::new();
        let mut found: Vec<_> = texts
            .iter()
            .map(|text| text.and_then(|text| read(table, text, cut, &asked_ids, &mut new)))
            .collect();
        // Most words are known. The new words of all texts are learnt together.
        if !new.is_empty() {
            for words in new.chunks(TEXT_BYTES_MAX) {
                analyse(py, own, table, &[Field::Text(words)], 1)?;
            }
            asked_ids.ids = asked.iter().map(|term| table.id(term.as_bytes())).collect();
            for (text, one) in texts.iter().zip(&mut found).filter(|(_, one)| one.is_none()) {
                *one = text.and_then(|text| read(table, text, cut, &asked_ids, &mut Vec::new()));
            }
        }
        let mut list = |(terms, close, snippet): (Vec<TermId>, f64, String)| {
            if !whole {
                return Ok((None, close, snippet));
            }
            let terms: Vec<_> = terms.into_iter().map(|id| shown(py, table, id)).collect();
            PyList::new(py, terms).map(|terms| (Some(terms), close, snippet))
        };
        found.into_iter().map(|one| one.map(&mut list).transpose()).collect()
    })
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

/// Append a text of visible ASCII characters on one line (`budget.on_one_line`); return whether it is one.
fn push_line(out: &mut Vec<u8>, text: &str) -> bool {
    let start = out.len();
    for word in text.as_bytes().split(|byte| *byte == b' ').filter(|word| !word.is_empty()) {
        out.extend_from_slice(word);
        out.push(b' ');
    }
    out.truncate(start.max(out.len().saturating_sub(1)));
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Return the tokens of the text of an atom for a prompt, if it consists of visible ASCII characters and ellipses.
/// The twin is `budget.hit_tokens`.
#[pyfunction]
fn hit_tokens(
    title: Option<&Bound<'_, PyString>>,
    source: Option<&Bound<'_, PyString>>,
    sequence: Option<i64>,
    digits: &Bound<'_, PyString>,
    content: &Bound<'_, PyString>,
) -> Option<usize> {
    let content = content.to_str().ok()?;
    let mut out = Vec::with_capacity(content.len() + 80);
    out.push(b'[');
    out.extend_from_slice(digits.to_str().ok()?.as_bytes());
    if let (Some(sequence), Some(_)) = (sequence, source) {
        out.extend_from_slice(format!(" {sequence}").as_bytes());
    }
    out.push(b']');
    if let Some(source) = source {
        let source = source.to_str().ok()?;
        out.push(b' ');
        if source.contains('|') || !push_line(&mut out, source) {
            return None;
        }
    }
    if let Some(title) = title {
        out.extend_from_slice(b" | ");
        if !push_line(&mut out, title.to_str().ok()?) {
            return None;
        }
    }
    out.truncate(out.trim_ascii_end().len());
    let line = content.trim_end_matches(' ');
    if !line.is_empty() {
        out.extend_from_slice(b"\n  ");
        out.extend_from_slice(line.as_bytes());
    }
    out.push(b'\n');
    let visible = |byte: u8| (b' '..=b'~').contains(&byte);
    // Most snippets begin or end with an ellipsis, which costs 15 tenths of a token.
    let plain: usize = content.split(ELLIPSIS).filter(|part| part.bytes().all(visible)).count();
    let ellipses = content.matches(ELLIPSIS).count();
    (plain == ellipses + 1 && digits.to_str().ok()?.bytes().all(visible))
        .then(|| units(&out) + (15 * ellipses).div_ceil(10))
}

/// Two fingerprints are near if they differ in fewer than this number of bits (`simhash.NEAR_BITS`).
const NEAR_BITS: u32 = 3;

/// Return whether each fingerprint from index `start` on is near one before it. `raw` holds fingerprints of 8
/// bytes each, in the order of this machine; a fingerprint 0 is near none. The twin is
/// `duplicates.near_earlier`.
#[pyfunction]
fn near_earlier(raw: &[u8], start: usize) -> Vec<bool> {
    let numbers = raw.chunks_exact(8).filter_map(|one| one.try_into().ok().map(u64::from_ne_bytes));
    let all: Vec<u64> = numbers.collect();
    let near = |one: u64, other: u64| one != 0 && other != 0 && (one ^ other).count_ones() < NEAR_BITS;
    (start..all.len()).map(|at| all[..at].iter().any(|other| near(all[at], *other))).collect()
}

/// A term and its relevance.
type Relevant<'py> = (Bound<'py, PyString>, f64);

/// Return the most relevant terms of texts, the best first, with their relevance; None if a text is not simple. The
/// twins are `analyzer.index_terms` and `feedback.most_relevant`, which describes the arguments.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn most_relevant<'py>(
    py: Python<'py>,
    own: &Bound<'py, Terms>,
    texts: Vec<Bound<'py, PyString>>,
    shares: Vec<f64>,
    known: Vec<String>,
    most: usize,
) -> PyResult<Option<Vec<Relevant<'py>>>> {
    let simple: Option<Vec<Cow<'_, [u8]>>> =
        texts.iter().map(|text| text.to_str().ok().and_then(simplified)).collect();
    let usable = texts.len() == shares.len() && shares.iter().all(|share| share.is_finite() && *share >= 0.0);
    let Some(simple) = simple.filter(|_| usable) else { return Ok(None) };
    let fields: Vec<Field<'_>> = simple.iter().map(|text| Field::Text(text)).collect();
    own.get().with_table(|table| {
        let mut places: Vec<(TermId, usize)> = Vec::new();
        for chunk in analyse(py, own.get(), table, &fields, fields.len())? {
            for text in 0..fields.len() {
                places.extend(chunk.field(text).iter().map(|id| (*id, text)));
            }
        }
        places.sort_unstable();
        let mut found: Vec<(f64, &[u8], TermId)> = Vec::new();
        for of_term in places.chunk_by(|one, other| one.0 == other.0) {
            let (id, term) = (of_term[0].0, &table.terms[of_term[0].0 as usize]);
            if term.stop || known.iter().any(|known| known.as_bytes() == &*term.text) {
                continue;
            }
            // Added in the order of the texts, as in the twin.
            let relevance = of_term.chunk_by(|one, other| one == other).fold(0.0, |sum, same| {
                let (share, tf) = (shares[same[0].1], same.len() as f64);
                sum + if same.len() == 1 { share * 0.5 } else { share * (tf / (tf + 1.0)) }
            });
            found.push((relevance, &term.text, id));
        }
        found.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let found: Vec<(f64, TermId)> = found.iter().take(most).map(|one| (one.0, one.2)).collect();
        Ok(Some(found.into_iter().map(|(relevance, id)| (shown(py, table, id), relevance)).collect()))
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_texts, module)?)?;
    module.add_function(wrap_pyfunction!(most_relevant, module)?)?;
    module.add_function(wrap_pyfunction!(near_earlier, module)?)?;
    module.add_function(wrap_pyfunction!(hit_tokens, module)?)?;
    module.add_function(wrap_pyfunction!(estimate_tokens, module)?)
}
