//! The analysis of a plain question. The twin is `engine.text.language.question`, which states the rules.
//!
//! A plain question is a short ASCII text without quotation marks, identifiers with signs, mixtures of letters and
//! digits, and introductory or closing phrases. All other questions are left to the twin. Patterns of times and of
//! interrogatives are matched in Python.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::parts::{bare, Piece, Rules, Sentence, Tag};
use crate::text::{analyse, shown, Field, Table, TermId, Terms};
use crate::words::words;

/// The greatest length of a plain question (`question._CACHED_CHARS_MAX`).
const BYTES_MAX: usize = 1000;
/// The greatest number of pieces (`phrasing._PIECES_MAX`).
const PIECES_MAX: usize = 400;
const ENTITIES_MAX: usize = 8;
const PARTICLES_MAX: usize = 3;

/// What a word of a question is, in the order in which the twin passes the parts of speech.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Proper,
    Noun,
    Number,
    Time,
    Verb,
    Adjective,
    Adverb,
    Function,
}

fn part_of(tag: Tag) -> Part {
    match tag {
        Tag::Propn => Part::Proper,
        Tag::Noun => Part::Noun,
        Tag::Num => Part::Number,
        Tag::Verb => Part::Verb,
        Tag::Adj => Part::Adjective,
        Tag::Adv => Part::Adverb,
        _ => Part::Function,
    }
}

/// Return the words and marks of a plain text (`tokenizer.split`).
fn split(text: &[u8]) -> Option<Vec<Piece>> {
    let inner = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let mut pieces = Vec::with_capacity(32);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\t'..=b'\r' | b' ' => at += 1,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let start = at;
                let (mut digits, mut letters) = (false, false);
                while inner(at) || (text.get(at).is_some_and(|byte| b"-.'".contains(byte)) && inner(at + 1)) {
                    digits |= text[at].is_ascii_digit();
                    letters |= text[at].is_ascii_alphabetic();
                    at += 1;
                }
                if digits && letters {
                    return None;
                }
                pieces.push(Piece { start, end: at, word: true });
            }
            b'"' | b'\'' | b'/' | b'\\' | b'@' | b'#' | b'+' | b'_' => return None,
            b'!'..=b'~' => {
                pieces.push(Piece { start: at, end: at + 1, word: false });
                at += 1;
            }
            _ => return None,
        }
    }
    (pieces.len() <= PIECES_MAX && pieces.iter().any(|piece| piece.word)).then_some(pieces)
}

/// Return whether an introductory phrase may be at the beginning of the question (`phrasing._PREFIXES`). A phrase
/// that is none is sometimes taken for one, but none is overlooked.
fn may_open(lows: &[&str]) -> bool {
    const WE: [&str; 5] = ["i", "we", "you", "u", "they"];
    const STATES: [&str; 24] = [
        "latest",
        "current",
        "present",
        "newest",
        "most",
        "up-to-date",
        "state",
        "status",
        "situation",
        "news",
        "update",
        "updates",
        "info",
        "information",
        "progress",
        "word",
        "standing",
        "development",
        "developments",
        "details",
        "new",
        "up",
        "happening",
        "going",
    ];
    let word = |at: usize| lows.get(at).copied().unwrap_or_default();
    let we = |at: usize| WE.contains(&word(at));
    match word(0) {
        "so" | "ok" | "okay" | "well" | "now" | "right" | "also" | "and" | "but" | "oh" | "anyway"
        | "btw" | "sorry" | "thanks" | "thank" | "excuse" | "by" | "quick" | "one" | "out" => {
            lows.iter().take(10).any(|mark| matches!(*mark, "," | "." | "!" | ":" | ";" | "-"))
        }
        "hi" | "hello" | "hey" | "greetings" | "good" | "please" | "pls" | "kindly" | "just" | "quickly"
        | "maybe" | "perhaps" | "possibly" | "let" | "let's" | "tell" | "remind" | "show" | "give"
        | "get" | "summarise" | "summarize" | "describe" | "recall" | "look" | "search" | "find"
        | "explain" | "any" | "some" | "i'm" | "i've" | "i'd" | "latest" | "current" | "present"
        | "newest" | "most" | "up-to-date" => true,
        first if WE.contains(&first) => true,
        "can" | "could" | "would" | "will" | "do" | "did" | "have" | "had" => we(1),
        "is" | "are" | "was" | "were" => word(1) == "there",
        "what" => {
            let at = if word(1) == "else" { 2 } else { 1 };
            (matches!(word(at), "do" | "did" | "have" | "had" | "can" | "could") && we(at + 1))
                || (matches!(word(1), "is" | "are" | "was" | "were")
                    && (STATES.contains(&word(2)) || STATES.contains(&word(3))))
        }
        "what's" | "whats" => STATES.contains(&word(1)) || STATES.contains(&word(2)),
        "where" => matches!(word(1), "do" | "are") && matches!(word(2), "we" | "things"),
        "a" | "the" | "our" | "my" => {
            STATES.contains(&word(1))
                || [1, 2].iter().any(|at| matches!(word(*at), "summary" | "overview" | "recap"))
        }
        first => first.len() > 1 && ["um", "uh", "hm"].iter().any(|sound| first.starts_with(sound)),
    }
}

/// Return whether a closing phrase may be at the end of the question (`phrasing._SUFFIX`).
fn may_close(lows: &[&str]) -> bool {
    let mark = |low: &&&str| matches!(**low, "," | "." | "!" | "?" | ":" | ";");
    let last = lows.iter().rev().find(|low| !mark(low)).copied().unwrap_or_default();
    matches!(
        last,
        "please"
            | "pls"
            | "thanks"
            | "lot"
            | "you"
            | "u"
            | "much"
            | "thx"
            | "cheers"
            | "btw"
            | "way"
            | "can"
            | "could"
            | "know"
            | "remember"
            | "mind"
            | "possible"
            | "recall"
            | "not"
    )
}

/// Return whether a word of letters, dots, hyphens and apostrophes is an identifier (`tokenizer.is_identifier`).
fn is_identifier(word: &[u8]) -> bool {
    let name = bare(word);
    let name = &name[..name.len().min(256)];
    if name.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()) {
        return true;
    }
    let Some(dot) = name.iter().position(|byte| *byte == b'.') else { return false };
    let (first, suffix) = (&name[..dot], &name[dot + 1..]);
    name[0].is_ascii_alphabetic()
        && first.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && (1..=5).contains(&suffix.len())
        && suffix.iter().all(u8::is_ascii_lowercase)
}

/// A question with the part of speech of each of its pieces; `None` for a mark.
struct Read<'a> {
    sentence: &'a Sentence<'a>,
    parts: Vec<Option<Part>>,
}

type Range = (usize, usize);

impl Read<'_> {
    fn len(&self) -> usize {
        self.parts.len()
    }

    fn is_proper(&self, at: usize) -> bool {
        self.parts[at] == Some(Part::Proper)
    }

    /// Return whether a piece is a number in digits.
    fn is_decimal(&self, at: usize) -> bool {
        self.parts[at] == Some(Part::Number) && self.sentence.text(at).iter().all(u8::is_ascii_digit)
    }

    fn is_bare(&self, at: usize) -> bool {
        let word = self.sentence.text(at);
        bare(word).len() == word.len()
    }

    /// See `question._name_runs`.
    fn names(&self) -> Vec<Range> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.len() {
            if !self.is_proper(at) {
                at += 1;
                continue;
            }
            let mut last = at + 1;
            while let Some(following) = self.extended_end(last) {
                last = following;
            }
            found.push((at, last));
            at = last;
        }
        found
    }

    /// See `question._extended_end`.
    fn extended_end(&self, at: usize) -> Option<usize> {
        if at >= self.len() || !self.is_bare(at - 1) {
            return None;
        }
        if self.is_decimal(at) {
            return Some(at + 1);
        }
        let mut following = at;
        if self.sentence.text(at) == b"." && self.sentence.rules.abbreviates(self.sentence.low(at - 1)) {
            following += 1;
        } else {
            while following < (self.len() - 1).min(at + PARTICLES_MAX)
                && !self.is_proper(following)
                && self.sentence.is_particle(following)
            {
                following += 1;
            }
        }
        (following < self.len() && self.is_proper(following)).then_some(following + 1)
    }

    /// See `question._noun_runs`. No word of a plain question has the part of speech OTHER.
    fn nouns(&self) -> Vec<Range> {
        let (mut found, mut at) = (Vec::new(), 0);
        let is_noun = |at: usize| self.parts[at] == Some(Part::Noun);
        while at < self.len() {
            let first = at;
            at += 1;
            if !is_noun(first) {
                continue;
            }
            while at < self.len() && is_noun(at) && self.is_bare(at - 1) {
                at += 1;
            }
            if at < self.len() && self.is_decimal(at) {
                at += 1;
            }
            found.push((first, at));
        }
        found
    }

    fn is_generic(&self, run: Range) -> bool {
        run.1 - run.0 == 1 && self.sentence.is_generic(run.0)
    }

    /// Return the ranges of the subjects, names first, and whether each is a name (`question.find_entities`).
    fn subjects(&self) -> Vec<(Range, bool)> {
        let names = self.names();
        let overlaps = |run: &Range| names.iter().any(|name| run.0 < name.1 && name.0 < run.1);
        let mut nouns: Vec<Range> = self.nouns().into_iter().filter(|run| !overlaps(run)).collect();
        nouns.sort_by_key(|run| self.is_generic(*run));
        let nouns = nouns.into_iter().map(|run| (run, false));
        names.iter().map(|name| (*name, true)).chain(nouns).collect()
    }
}

/// Return the distinct terms to search for (`analyzer.analyze_query`).
fn wanted(table: &Table, ids: &[TermId]) -> Vec<TermId> {
    let stop = |id: &TermId| table.terms[*id as usize].stop;
    let stops = ids.iter().all(stop);
    let mut found = Vec::with_capacity(ids.len());
    for id in ids.iter().filter(|id| stops || !stop(id)) {
        if !found.contains(id) {
            found.push(*id);
        }
    }
    found
}

/// Return a word or phrase with its part of speech or whether it is a name, and its terms.
type Shown<'py, T> = (Bound<'py, PyString>, T, Bound<'py, PyTuple>);

/// The words, terms, nouns, names and subjects of a question, and its pieces in lower case.
type Analysed<'py> = (
    Vec<Shown<'py, Bound<'py, PyAny>>>,
    Bound<'py, PyTuple>,
    Bound<'py, PyTuple>,
    Bound<'py, PyTuple>,
    Vec<Shown<'py, bool>>,
    String,
);

/// Return the analysis of a plain question, or None. `times` are the ranges of the mentions of times.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn analyze_question<'py>(
    py: Python<'py>,
    rules: &Bound<'py, Rules>,
    own: &Bound<'py, Terms>,
    text: &Bound<'py, PyString>,
    times: Vec<Range>,
    names_of_parts: &Bound<'py, PyTuple>,
) -> PyResult<Option<Analysed<'py>>> {
    let Ok(text) = text.to_str() else { return Ok(None) };
    let raw = text.as_bytes();
    if raw.len() > BYTES_MAX {
        return Ok(None);
    }
    let Some(pieces) = split(raw) else { return Ok(None) };
    let lowered = text.to_ascii_lowercase();
    let lows: Vec<&str> = pieces.iter().map(|piece| &lowered[piece.start..piece.end]).collect();
    if may_open(&lows) || may_close(&lows) {
        return Ok(None);
    }
    let joined = lows.join(" ");
    let sentence = Sentence::new(rules.get(), raw, &lowered, pieces);
    let read = Read { parts: parts_of(&sentence, &times), sentence: &sentence };
    let pieces = &sentence.pieces;
    let numbers: Vec<usize> = (0..read.len()).filter(|at| pieces[*at].word).collect();
    let mut fields = vec![Field::Text(raw)];
    fields.extend(numbers.iter().map(|at| Field::Text(sentence.text(*at))));
    own.get().with_table(|table| {
        let found = analyse(py, own.get(), table, &fields, fields.len())?;
        let Some(found) = found.first() else { return Ok(None) };
        let terms = wanted(table, found.field(0));
        let of_words: Vec<(usize, Vec<TermId>)> = (numbers.iter().enumerate())
            .map(|(field, at)| (*at, wanted(table, found.field(field + 1))))
            .filter(|(_, terms)| !terms.is_empty())
            .collect();
        let among = |parts: &[Part]| -> Vec<TermId> {
            let chosen =
                of_words.iter().filter(|(at, _)| read.parts[*at].is_some_and(|one| parts.contains(&one)));
            let chosen: Vec<TermId> = chosen.flat_map(|(_, terms)| terms.iter().copied()).collect();
            terms.iter().copied().filter(|term| chosen.contains(term)).collect()
        };
        let nouns = among(&[Part::Proper, Part::Noun, Part::Number, Part::Time]);
        let names = among(&[Part::Proper]);
        let Some(subjects) = subjects(table, &read, &terms) else { return Ok(None) };
        let mut list = |ids: &[TermId]| {
            let terms: Vec<_> = ids.iter().map(|id| shown(py, table, *id)).collect();
            PyTuple::new(py, terms)
        };
        let mut words = Vec::with_capacity(of_words.len());
        for (at, terms) in &of_words {
            let part = read.parts[*at].map_or(0, |part| part as usize);
            let text = &text[pieces[*at].start..pieces[*at].end];
            words.push((PyString::new(py, text), names_of_parts.get_item(part)?, list(terms)?));
        }
        let mut entities = Vec::with_capacity(subjects.len());
        for (start, end, terms, name) in &subjects {
            entities.push((PyString::new(py, &text[*start..*end]), *name, list(terms)?));
        }
        Ok(Some((words, list(&terms)?, list(&nouns)?, list(&names)?, entities, joined)))
    })
}

/// Return the part of speech of each piece (`question._parts`).
fn parts_of(sentence: &Sentence<'_>, times: &[Range]) -> Vec<Option<Part>> {
    let mut remaining = times.iter().peekable();
    let tags = sentence.tags();
    let part = |(piece, tag): (&Piece, Tag)| {
        while remaining.next_if(|time| time.1 <= piece.start).is_some() {}
        if !piece.word {
            return None;
        }
        Some(if remaining.peek().is_some_and(|time| time.0 < piece.end) {
            Part::Time
        } else if is_identifier(&sentence.raw[piece.start..piece.end]) {
            Part::Proper
        } else {
            part_of(tag)
        })
    };
    sentence.pieces.iter().zip(tags).map(part).collect()
}

/// A subject of a question: the range of its text, its terms, and whether it is a name.
type Subject = (usize, usize, Vec<TermId>, bool);

/// Return each subject that has one of the terms `among`; None if a word of a subject is not in the table.
fn subjects(table: &Table, read: &Read<'_>, among: &[TermId]) -> Option<Vec<Subject>> {
    let mut found: Vec<Subject> = Vec::new();
    let mut seen: Vec<Vec<TermId>> = Vec::new();
    let pieces = &read.sentence.pieces;
    for ((first, last), name) in read.subjects() {
        let start = pieces[first].start;
        let text = bare(&read.sentence.raw[start..pieces[last - 1].end]);
        let mut ids = Vec::new();
        for word in words(text) {
            if !table.append(text, &word, &mut ids) {
                return None;
            }
        }
        let terms: Vec<TermId> =
            wanted(table, &ids).into_iter().filter(|term| among.contains(term)).collect();
        let mut sorted = terms.clone();
        sorted.sort_unstable();
        if !terms.is_empty() && !seen.contains(&sorted) {
            seen.push(sorted);
            found.push((start, start + text.len(), terms, name));
        }
        if found.len() == ENTITIES_MAX {
            break;
        }
    }
    Some(found)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Rules>()?;
    module.add_function(wrap_pyfunction!(analyze_question, module)?)
}
