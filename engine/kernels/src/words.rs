//! The words of texts and the terms of each ASCII word. The twins are `engine.text.analyzer` and
//! `engine.text.analyzer`, which state the rules.

use std::collections::HashSet;
use std::ops::Range;

use crate::simple::PICTURE;

pub const TERM_BYTES_MAX: usize = 64;
const JOINS_MAX: usize = 31;
const PIECES_MAX: usize = 8;

/// The positions of the words of a text of `crate::simple::simplified`, in order.
pub struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

/// Return whether a byte belongs to a letter or number. All characters above ASCII are letters.
fn is_plain(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

pub fn words(text: &[u8]) -> Words<'_> {
    Words { text, at: 0 }
}

impl Words<'_> {
    fn plain(&self, at: usize) -> bool {
        self.text.get(at).is_some_and(is_plain)
    }

    fn run(&self, mut at: usize) -> usize {
        while self.plain(at) {
            at += 1;
        }
        at
    }

    /// Return the position after a joiner at `at` if letters or digits follow it.
    fn joined(&self, at: usize) -> Option<usize> {
        let after = match self.text.get(at)? {
            b'_' => at + self.text[at..].iter().take_while(|&&byte| byte == b'_').count(),
            b'-' | b'.' | b'\'' | b'@' => at + 1,
            _ => return None,
        };
        self.plain(after).then_some(after)
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let first = self.at + self.text[self.at..].iter().position(is_plain)?;
        let mut end = self.run(first);
        if !self.text[first].is_ascii() && first > 0 && self.text[first - 1] == PICTURE {
            // A picture is followed by a space.
            self.at = end;
            return Some(first..end);
        }
        for _ in 0..JOINS_MAX {
            let Some(after) = self.joined(end) else { break };
            end = self.run(after);
        }
        match &self.text[end..] {
            [b'+', b'+', ..] => end += 2,
            [b'#', ..] => end += 1,
            _ => {}
        }
        self.at = end;
        Some(first..end)
    }
}

/// A term of a word before stemming.
pub struct RawTerm {
    pub text: Vec<u8>,
    /// Whether the term is the stem of `text` instead of `text` itself.
    pub stemmed: bool,
    /// Whether the term is left out if it equals the term before it.
    pub distinct: bool,
}

/// The words that the rules treat specially.
pub struct Lists {
    pub stop_words: HashSet<Vec<u8>>,
    pub clipped_endings: HashSet<Vec<u8>>,
}

pub fn cut(text: &[u8]) -> &[u8] {
    &text[..text.len().min(TERM_BYTES_MAX)]
}

impl Lists {
    /// Return the terms of an ASCII word of `Words`.
    pub fn word_terms(&self, word: &[u8]) -> Vec<RawTerm> {
        let mut terms = Vec::with_capacity(1);
        let ending = match word {
            [.., b'+', b'+'] => 2,
            [.., b'#'] => 1,
            _ => 0,
        };
        let stem = &word[..word.len() - ending];
        let letter = matches!(stem, [only] if only.is_ascii_alphabetic());
        if ending == 2 || (ending == 1 && letter) {
            terms.push(whole(word));
            self.joined(stem, &mut terms);
        } else if stem.contains(&b'@') {
            terms.push(whole(stem));
            for half in stem.split(|&byte| byte == b'@') {
                self.joined(half, &mut terms);
            }
        } else {
            self.joined(stem, &mut terms);
        }
        terms
    }

    fn joined(&self, mut word: &[u8], terms: &mut Vec<RawTerm>) {
        while let Some(at) = word.iter().rposition(|&byte| byte == b'\'') {
            let folded = word.to_ascii_lowercase();
            if self.stop_words.contains(&folded) {
                terms.push(RawTerm { text: folded, stemmed: false, distinct: false });
                return;
            }
            if !self.clipped_endings.contains(&word[at + 1..].to_ascii_lowercase()) {
                break;
            }
            word = &word[..at];
        }
        let mut parts = word.split(|byte| b"-._'".contains(byte)).filter(|part| !part.is_empty());
        if word.iter().any(|byte| b"-._'".contains(byte)) {
            terms.push(whole(word));
            parts.for_each(|part| self.part(part, terms));
        } else if let Some(part) = parts.next() {
            self.part(part, terms);
        }
    }

    fn part(&self, part: &[u8], terms: &mut Vec<RawTerm>) {
        terms.push(self.term(part));
        let (last, letters) = part.split_last().unwrap_or((&0, part));
        if *last == b's' && letters.len() > 1 && letters.iter().all(u8::is_ascii_uppercase) {
            terms.push(RawTerm { distinct: true, ..self.term(letters) });
            return;
        }
        let pieces = pieces(part);
        if pieces.len() > 1 {
            terms.extend(pieces.into_iter().map(|piece| self.term(piece)));
        }
    }

    fn term(&self, text: &[u8]) -> RawTerm {
        let folded = text.to_ascii_lowercase();
        if self.stop_words.contains(&folded) {
            return RawTerm { text: folded, stemmed: false, distinct: false };
        }
        let text = cut(&folded).to_vec();
        let stemmed = text.iter().all(u8::is_ascii_alphabetic);
        RawTerm { text, stemmed, distinct: false }
    }
}

fn whole(word: &[u8]) -> RawTerm {
    RawTerm { text: cut(word).to_ascii_lowercase(), stemmed: false, distinct: false }
}

/// Return whether a new piece begins at `at`, which is not 0.
fn changes_case(part: &[u8], at: usize) -> bool {
    let lower = |at: usize| part.get(at).is_some_and(u8::is_ascii_lowercase);
    part[at].is_ascii_uppercase()
        && (!part[at - 1].is_ascii_uppercase() || (lower(at + 1) && (part[at + 1] != b's' || lower(at + 2))))
}

/// Return the pieces of `part`, or `part` alone if there would be too many.
fn pieces(part: &[u8]) -> Vec<&[u8]> {
    let cuts = (1..part.len()).filter(|&at| changes_case(part, at)).take(PIECES_MAX);
    let mut pieces = Vec::new();
    let mut start = 0;
    for end in cuts.chain([part.len()]) {
        let run = &part[start..end];
        start = end;
        let digit = |at: usize| run[at].is_ascii_digit();
        let mut turns = (1..run.len()).filter(|&at| digit(at) != digit(at - 1));
        match (turns.next(), turns.next()) {
            (Some(turn), None) => pieces.extend([&run[..turn], &run[turn..]]),
            _ => pieces.push(run),
        }
    }
    if pieces.len() > PIECES_MAX {
        vec![part]
    } else {
        pieces
    }
}
