//! The parts of speech of the words of a question in ASCII. The twins are `engine.text.language.parts_of_speech` and
//! `engine.text.language.lexicon`, which state the rules.

use std::collections::{HashMap, HashSet};

use pyo3::prelude::*;

/// A universal part of speech, or what stands for one in the context of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// No word, or a word whose part of speech is not known yet.
    None,
    End,
    Punct,
    Pron,
    Aux,
    Adp,
    Det,
    Sconj,
    Cconj,
    Part,
    Intj,
    Propn,
    Noun,
    Num,
    Verb,
    Adj,
    Adv,
}

/// The sets of words, as bits, in the order in which the twin passes them (`lexicon.SETS`).
const NUMBERS: u32 = 1;
const ADJECTIVES: u32 = 1 << 1;
const ADVERBS: u32 = 1 << 2;
const NOT_ADVERBS: u32 = 1 << 3;
const NOT_ADJECTIVES: u32 = 1 << 4;
const NOUN_FIRST: u32 = 1 << 5;
const GENERIC: u32 = 1 << 6;
const OPENERS: u32 = 1 << 7;
const GIVEN_NAMES: u32 = 1 << 8;
const TITLES: u32 = 1 << 9;
const NAME_PARTICLES: u32 = 1 << 10;
const UNCHANGING: u32 = 1 << 11;
const LIGHT_GERUNDS: u32 = 1 << 12;
const BE: u32 = 1 << 13;
const PERFECT: u32 = 1 << 14;
const BEFORE_BARE: u32 = 1 << 15;
const BARE_VERBS: u32 = 1 << 16;
const PAST: u32 = 1 << 17;
const NOT_PAST: u32 = 1 << 18;
const SETS: usize = 19;

/// A word of the lists: the part of speech of a function word, and the sets that it is in.
#[derive(Clone, Copy)]
struct Entry {
    function: Tag,
    sets: u32,
}

const UNLISTED: Entry = Entry { function: Tag::None, sets: 0 };

/// The word lists.
#[pyclass(frozen)]
pub struct Rules {
    words: HashMap<Vec<u8>, Entry>,
    acronyms: HashSet<Vec<u8>>,
}

fn tag_named(name: &str) -> Option<Tag> {
    Some(match name {
        "PRON" => Tag::Pron,
        "AUX" => Tag::Aux,
        "ADP" => Tag::Adp,
        "DET" => Tag::Det,
        "SCONJ" => Tag::Sconj,
        "CCONJ" => Tag::Cconj,
        "PART" => Tag::Part,
        "INTJ" => Tag::Intj,
        _ => return None,
    })
}

#[pymethods]
impl Rules {
    /// Create the lists from the function words with their parts of speech, and the other sets.
    #[new]
    fn new(
        functions: HashMap<String, String>,
        sets: Vec<Vec<String>>,
        acronyms: Vec<String>,
    ) -> PyResult<Self> {
        let mut words: HashMap<Vec<u8>, Entry> = HashMap::new();
        for (word, name) in functions {
            let tag = tag_named(&name);
            words.entry(word.into_bytes()).or_insert(UNLISTED).function =
                tag.ok_or_else(|| pyo3::exceptions::PyValueError::new_err(name))?;
        }
        if sets.len() != SETS {
            return Err(pyo3::exceptions::PyValueError::new_err(sets.len()));
        }
        for (number, set) in sets.into_iter().enumerate() {
            for word in set {
                words.entry(word.into_bytes()).or_insert(UNLISTED).sets |= 1 << number;
            }
        }
        Ok(Rules { words, acronyms: acronyms.into_iter().map(String::into_bytes).collect() })
    }
}

impl Rules {
    fn entry(&self, word: &[u8]) -> Entry {
        self.words.get(word).copied().unwrap_or(UNLISTED)
    }

    fn is_in(&self, word: &[u8], sets: u32) -> bool {
        self.entry(word).sets & sets != 0
    }

    fn is_past(&self, word: &[u8]) -> bool {
        if word.ends_with(b"ed") && !word.ends_with(b"eed") && word.len() > 3 {
            return !self.is_in(word, NOT_PAST);
        }
        self.is_in(word, PAST)
    }

    fn is_third(&self, word: &[u8]) -> bool {
        let bare = |word: &[u8]| self.is_in(word, BARE_VERBS);
        let Some(base) = word.strip_suffix(b"s") else { return false };
        bare(base)
            || word.strip_suffix(b"es").is_some_and(bare)
            || word.strip_suffix(b"ies").is_some_and(|base| bare(&[base, b"y"].concat()))
    }

    fn is_gerund(&self, word: &[u8]) -> bool {
        let bare = |word: &[u8]| self.is_in(word, BARE_VERBS);
        let Some(base) = word.strip_suffix(b"ing").filter(|base| base.len() >= 2) else { return false };
        let undoubled = match base {
            [start @ .., one, other] if one == other => &base[..start.len() + 1],
            _ => base,
        };
        bare(base) || bare(undoubled) || bare(&[base, b"e"].concat())
    }

    fn is_verb(&self, word: &[u8]) -> bool {
        self.is_in(word, BARE_VERBS) || self.is_past(word) || self.is_third(word) || self.is_gerund(word)
    }

    fn is_adverb(&self, word: &[u8]) -> bool {
        let shaped = word.ends_with(b"ly") && word.len() > 4 && !self.is_in(word, NOT_ADVERBS);
        self.is_in(word, ADVERBS) || (shaped && !self.is_in(word, BARE_VERBS))
    }

    /// Return whether a word is in one of the lists, or is a verb (`parts._is_known`).
    fn knows(&self, word: &[u8]) -> bool {
        let entry = self.entry(word);
        entry.function != Tag::None
            || entry.sets & (NUMBERS | ADJECTIVES | ADVERBS | OPENERS) != 0
            || self.is_verb(word)
    }

    /// Return whether a full stop after a word in lower case does not end a sentence.
    pub fn abbreviates(&self, word: &[u8]) -> bool {
        self.is_in(word, TITLES) || word.split(|byte| *byte == b'.').all(|part| part.len() == 1)
    }
}

/// Return a word without a possessive ending (`tokenizer.bare`).
pub fn bare(word: &[u8]) -> &[u8] {
    match word {
        [cut @ .., b'\'', b's' | b'S'] if !cut.is_empty() => cut,
        _ => word,
    }
}

/// A word or a mark of a text.
pub struct Piece {
    pub start: usize,
    pub end: usize,
    pub word: bool,
}

/// A question, as it is written and in lower case.
pub struct Sentence<'a> {
    pub rules: &'a Rules,
    pub raw: &'a [u8],
    lowered: &'a [u8],
    pub pieces: Vec<Piece>,
    entries: Vec<Entry>,
}

/// The context of a word (`parts._Context`).
struct Context<'a> {
    before: Tag,
    before_word: &'a [u8],
    after: Tag,
    after_word: &'a [u8],
    bare: bool,
    be: bool,
    perfect: bool,
}

fn is_before_object(tag: Tag) -> bool {
    matches!(tag, Tag::Det | Tag::Pron | Tag::Propn)
}

fn is_subject(tag: Tag) -> bool {
    matches!(tag, Tag::Pron | Tag::Propn | Tag::Noun)
}

fn is_relative(word: &[u8]) -> bool {
    matches!(word, b"who" | b"that" | b"which")
}

fn is_interrogative(word: &[u8]) -> bool {
    matches!(word, b"what" | b"which" | b"whose")
}

impl<'a> Sentence<'a> {
    /// Prepare a text in ASCII. `lowered` is the text in lower case.
    pub fn new(rules: &'a Rules, raw: &'a [u8], lowered: &'a str, pieces: Vec<Piece>) -> Self {
        let lowered = lowered.as_bytes();
        let entry = |piece: &Piece| match piece.word {
            true => rules.entry(&lowered[piece.start..piece.end]),
            false => UNLISTED,
        };
        let entries = pieces.iter().map(entry).collect();
        Sentence { rules, raw, lowered, pieces, entries }
    }

    pub fn text(&self, at: usize) -> &'a [u8] {
        &self.raw[self.pieces[at].start..self.pieces[at].end]
    }

    pub fn low(&self, at: usize) -> &'a [u8] {
        &self.lowered[self.pieces[at].start..self.pieces[at].end]
    }

    pub fn is_particle(&self, at: usize) -> bool {
        self.rules.is_in(self.low(at), NAME_PARTICLES)
    }

    pub fn is_generic(&self, at: usize) -> bool {
        let low = self.low(at);
        self.rules.is_in(low, GENERIC)
            || low.strip_suffix(b"s").is_some_and(|one| self.rules.is_in(one, GENERIC))
    }

    /// Return the part of speech of each piece (`parts.parts_of`).
    pub fn tags(&self) -> Vec<Tag> {
        let tag = |(piece, entry): (&Piece, &Entry)| if piece.word { entry.function } else { Tag::Punct };
        let mut tags: Vec<Tag> = self.pieces.iter().zip(&self.entries).map(tag).collect();
        for at in self.names() {
            tags[at] = Tag::Propn;
        }
        let mut context = Context {
            before: Tag::None,
            before_word: b"",
            after: Tag::None,
            after_word: b"",
            bare: false,
            be: false,
            perfect: false,
        };
        for at in 0..tags.len() {
            if tags[at] == Tag::None {
                (context.after, context.after_word) = match tags.get(at + 1) {
                    Some(after) => (*after, self.low(at + 1)),
                    None => (Tag::End, &b""[..]),
                };
                tags[at] = self.tag(at, &context);
            }
            self.advance(&mut context, at, tags[at]);
        }
        tags
    }

    /// See `parts._advance`.
    fn advance(&self, context: &mut Context<'a>, at: usize, tag: Tag) {
        let word = self.low(at);
        let sets = self.entries[at].sets;
        match tag {
            Tag::Punct => {
                let ends = matches!(word, b"." | b"?" | b"!" | b";" | b":");
                if ends && !(word == b"." && self.rules.abbreviates(context.before_word)) {
                    context.before = Tag::None;
                    (context.bare, context.be, context.perfect) = (false, false, false);
                }
                return;
            }
            Tag::Aux => {
                context.be |= sets & BE != 0;
                context.perfect = sets & PERFECT != 0;
                context.bare = sets & BEFORE_BARE != 0;
            }
            Tag::Verb => (context.bare, context.be, context.perfect) = (false, false, false),
            _ => {}
        }
        if tag == Tag::Adv || (context.bare && matches!(word, b"both" | b"all" | b"each")) {
            return;
        }
        let possessive = matches!(tag, Tag::Propn | Tag::Noun) && word.ends_with(b"'s");
        (context.before, context.before_word) = (if possessive { Tag::Det } else { tag }, word);
    }

    /// See `parts._part`.
    fn tag(&self, at: usize, context: &Context<'a>) -> Tag {
        let (word, sets) = (self.low(at), self.entries[at].sets);
        let digits = word[0].is_ascii_digit()
            && word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        if digits || sets & NUMBERS != 0 {
            return Tag::Num;
        }
        if sets & NOUN_FIRST != 0 && context.after_word == b"of" {
            return Tag::Det;
        }
        let last = word.rsplit(|byte| *byte == b'-').next().unwrap_or(word);
        if self.rules.is_adverb(last) {
            Tag::Adv
        } else if self.is_verb(at, context) {
            Tag::Verb
        } else if self.is_adjective(at, last, context) {
            Tag::Adj
        } else if word == b"like" {
            Tag::Adp
        } else {
            Tag::Noun
        }
    }

    /// See `parts._is_verb`.
    fn is_verb(&self, at: usize, context: &Context<'a>) -> bool {
        let (word, sets) = (self.low(at), self.entries[at].sets);
        if word.ends_with(b"ing") && word.len() > 5 {
            return sets & LIGHT_GERUNDS != 0 || (self.rules.is_gerund(word) && context.takes_gerund());
        }
        if sets & BARE_VERBS != 0 {
            return self.is_base_form(sets, context);
        }
        if self.rules.is_past(word) {
            return !context.takes_participle();
        }
        if self.rules.is_third(word) {
            return context.takes_third();
        }
        context.bare
            && matches!(context.before, Tag::Propn | Tag::Pron)
            && !word.ends_with(b"s")
            && sets & ADJECTIVES == 0
    }

    /// See `parts._is_base_form_here`.
    fn is_base_form(&self, sets: u32, context: &Context<'a>) -> bool {
        match context.before {
            Tag::None => return is_before_object(context.after) || context.after == Tag::Adp,
            Tag::Part | Tag::Aux => return !self.rules.is_in(context.before_word, BE),
            _ => {}
        }
        let subject = is_subject(context.before);
        if sets & UNCHANGING != 0 && subject && (context.perfect || context.after == Tag::Det) {
            return true;
        }
        if context.bare && subject {
            return context.before != Tag::Noun
                || context.after != Tag::None
                || !self.rules.is_in(context.after_word, BARE_VERBS);
        }
        if context.before == Tag::Pron {
            return matches!(context.before_word, b"i" | b"you" | b"we" | b"they" | b"who");
        }
        matches!(context.before, Tag::Cconj | Tag::Sconj) && is_before_object(context.after)
    }

    /// See `parts._is_adjective`.
    fn is_adjective(&self, at: usize, last: &[u8], context: &Context<'a>) -> bool {
        const ENDINGS: [&[u8]; 8] = [b"ous", b"ful", b"less", b"able", b"ible", b"ive", b"istic", b"ical"];
        let (word, sets) = (self.low(at), self.entries[at].sets);
        let ends = ENDINGS.iter().any(|ending| word.ends_with(ending));
        let shaped = ends && word.len() > 5 && sets & NOT_ADJECTIVES == 0;
        let listed = sets & ADJECTIVES != 0 || self.rules.is_in(last, ADJECTIVES);
        (shaped || listed || self.rules.is_past(last))
            && (context.before != Tag::Det
                || matches!(
                    context.after,
                    Tag::None | Tag::Adj | Tag::Noun | Tag::Propn | Tag::Num | Tag::Cconj
                ))
    }

    fn is_capitalised(&self, at: usize) -> bool {
        self.text(at)[0].is_ascii_uppercase()
    }

    fn is_function(&self, at: usize) -> bool {
        self.entries[at].function != Tag::None
    }

    fn is_in_capitals(&self, at: usize) -> bool {
        let text = self.text(at);
        text.len() > 1 && text.iter().any(u8::is_ascii_uppercase) && !text.iter().any(u8::is_ascii_lowercase)
    }

    /// Return the places of the words that are names (`parts._names`).
    fn names(&self) -> Vec<usize> {
        const WORDS_OF_CAPITALS: usize = 4;
        let words: Vec<usize> = (0..self.pieces.len()).filter(|at| self.pieces[*at].word).collect();
        let capitals = !words.iter().any(|at| self.text(*at).iter().any(u8::is_ascii_lowercase));
        let function = |at: &usize| self.is_function(*at);
        if !words.iter().any(|at| self.is_capitalised(*at))
            || (capitals && (words.len() >= WORDS_OF_CAPITALS || words.iter().any(function)))
        {
            return Vec::new();
        }
        let title_case = self.is_title_case(&words);
        let is_name = |number: usize| {
            let at = words[number];
            if self.is_function(at) {
                self.is_in_capitals(at)
            } else if self.rules.acronyms.contains(self.text(at)) {
                false
            } else if title_case {
                !self.rules.knows(bare(self.low(at)))
            } else {
                !self.is_start(&words, number) || self.begins_name(&words, number)
            }
        };
        let numbers =
            (0..words.len()).filter(|number| self.is_capitalised(words[*number]) && is_name(*number));
        numbers.map(|number| words[number]).collect()
    }

    /// See `parts._is_title_case`.
    fn is_title_case(&self, words: &[usize]) -> bool {
        let function_word = words.iter().skip(1).any(|at| {
            self.is_function(*at)
                && self.is_capitalised(*at)
                && !matches!(self.low(*at), b"i" | b"i'm" | b"i've")
        });
        let mut others = words.iter().filter(|at| !self.is_function(**at));
        function_word && words.len() > 2 && others.all(|at| self.is_capitalised(*at))
    }

    /// Return whether a word begins a sentence (`parts._sentence_starts`).
    fn is_start(&self, words: &[usize], number: usize) -> bool {
        let Some(before) = number.checked_sub(1).map(|before| words[before]) else { return true };
        let mut ends = (before + 1..words[number])
            .map(|at| self.text(at))
            .filter(|text| matches!(*text, b"." | b"?" | b"!" | b":" | b";"))
            .peekable();
        ends.peek().is_some() && !(self.rules.abbreviates(self.low(before)) && ends.all(|text| text == b"."))
    }

    /// See `parts._begins_name`.
    fn begins_name(&self, words: &[usize], number: usize) -> bool {
        let at = words[number];
        let low = bare(self.low(at));
        let following = words.get(number + 1).copied();
        let follows = following.is_some_and(|next| self.is_capitalised(next) && !self.is_function(next));
        if self.rules.knows(low) {
            return follows && self.rules.is_in(low, ADJECTIVES | GIVEN_NAMES);
        }
        let repeated = words.iter().filter(|other| self.text(**other) == self.text(at)).count() > 1;
        let Some(next) = following else { return true };
        if follows || low.len() != self.pieces[at].end - self.pieces[at].start {
            return true;
        }
        if self.is_in_capitals(at) || repeated {
            return true;
        }
        if !self.is_function(next) && !self.rules.is_verb(self.low(next)) {
            return false;
        }
        !(low.ends_with(b"s") && matches!(self.low(next), b"are" | b"were" | b"have" | b"do"))
    }
}

impl Context<'_> {
    /// See `parts._is_gerund_here`.
    fn takes_gerund(&self) -> bool {
        if self.before == Tag::Det {
            return false;
        }
        let progressive = self.be && (is_subject(self.before) || self.before == Tag::Aux);
        let object_follows = is_before_object(self.after) && !is_relative(self.after_word);
        let particle = matches!(self.after_word, b"up" | b"out" | b"off" | b"away" | b"back" | b"down");
        progressive || object_follows || particle
    }

    /// See `parts._is_participle_here`.
    fn takes_participle(&self) -> bool {
        matches!(self.before, Tag::Det | Tag::Adj | Tag::Num)
            && !is_interrogative(self.before_word)
            && !is_relative(self.before_word)
            && matches!(self.after, Tag::None | Tag::Adj | Tag::Noun)
    }

    /// See `parts._is_third_here`.
    fn takes_third(&self) -> bool {
        if matches!(self.before_word, b"who" | b"that") {
            return self.after != Tag::Aux;
        }
        if self.bare || self.perfect {
            return false;
        }
        if is_interrogative(self.before_word) {
            return is_before_object(self.after);
        }
        match self.before {
            Tag::Pron | Tag::Propn => self.after != Tag::Aux,
            Tag::Noun => is_before_object(self.after),
            _ => false,
        }
    }
}
