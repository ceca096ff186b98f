//! The analyzer for simple texts, and the table of terms that it fills. The twin is `engine.text.analyzer`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::limits::TEXT_BYTES_MAX;
use crate::lookup::Lookup;
use crate::rows::term_number;
use crate::simple::{is_simple, simplified};
use crate::threads::{cores, map_chunks};
use crate::words::{cut, words, Lists, RawTerm};

/// A table with more words or bytes is emptied after the call that filled it.
const WORDS_MAX: usize = 1 << 16;
const BYTES_MAX: usize = 4 << 20;

/// The number of fields below which starting a second thread takes longer than it saves.
const FIELDS_PER_THREAD: usize = 256;

/// The bit that distinguishes a word that is not in the table from the number of a term.
const UNKNOWN: u32 = 1 << 31;

/// In place of the end of a list: the word has one term, whose number is given instead of the start.
const ONLY: u32 = u32::MAX;

/// A number of a term. It is valid for one table only.
pub type TermId = u32;

pub struct Term {
    pub text: Box<[u8]>,
    /// The number that stands for the term in fingerprints and phrases.
    pub hash: u64,
    pub stop: bool,
    shown: Option<Py<PyString>>,
}

/// The terms of words seen before. Its content depends on the words alone, and an answer never depends on its
/// content.
#[derive(Default)]
pub struct Table {
    pub terms: Vec<Term>,
    ids: Lookup<TermId>,
    words: Lookup<(u32, u32)>,
    lists: Vec<TermId>,
    bytes: usize,
}

impl Table {
    fn intern(&mut self, text: &[u8], stop: bool) -> TermId {
        if let Some(id) = self.ids.get(text, 0, text.len()) {
            return id;
        }
        let id = self.terms.len() as TermId;
        self.terms.push(Term { text: text.into(), hash: term_number(text), stop, shown: None });
        self.ids.insert(text, id);
        id
    }

    fn insert(&mut self, word: &[u8], terms: &[TermId]) {
        let value = match terms {
            [only] => (*only, ONLY),
            _ => {
                let first = self.lists.len() as u32;
                self.lists.extend_from_slice(terms);
                (first, self.lists.len() as u32)
            }
        };
        self.words.insert(word, value);
        self.bytes += word.len();
    }

    /// Append the terms of the word at `range` in `text`; return whether the table has the word.
    pub fn append(&self, text: &[u8], range: &Range<usize>, ids: &mut Vec<TermId>) -> bool {
        match self.words.get(text, range.start, range.end) {
            Some((id, ONLY)) => ids.push(id),
            Some((first, end)) => ids.extend_from_slice(&self.lists[first as usize..end as usize]),
            None => return false,
        }
        true
    }

    fn knows(&self, word: &[u8]) -> bool {
        self.words.get(word, 0, word.len()).is_some()
    }

    /// Return the number of a term, if a text with this term has been analysed.
    pub fn id(&self, term: &[u8]) -> Option<TermId> {
        self.ids.get(term, 0, term.len())
    }
}

/// The lists of an analyzer, its rules in Python, and a table of words seen before.
#[pyclass(frozen)]
pub struct Terms {
    lists: Lists,
    /// A Python function from a list of words to the list of their stems.
    stem: Py<PyAny>,
    /// A Python function from a word that is not ASCII to a tuple of its terms.
    word_terms: Py<PyAny>,
    table: Mutex<Table>,
}

#[pymethods]
impl Terms {
    #[new]
    fn new(
        stop_words: Vec<String>,
        clipped_endings: Vec<String>,
        stem: Py<PyAny>,
        word_terms: Py<PyAny>,
    ) -> Self {
        let bytes = |words: Vec<String>| words.into_iter().map(String::into_bytes).collect();
        let lists = Lists { stop_words: bytes(stop_words), clipped_endings: bytes(clipped_endings) };
        Terms { lists, stem, word_terms, table: Mutex::default() }
    }
}

impl Terms {
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Take the table out for one call, so that no lock is held while Python code runs. A call in another
    /// thread meanwhile begins with an empty table.
    fn take(&self) -> Table {
        self.table.lock().map(|mut table| std::mem::take(&mut *table)).unwrap_or_default()
    }

    fn put_back(&self, table: Table) {
        if table.words.len() <= WORDS_MAX && table.bytes <= BYTES_MAX {
            if let Ok(mut kept) = self.table.lock() {
                *kept = table;
            }
        }
    }

    /// Call `work` with a table, which is kept unless `work` fails.
    pub fn with_table<R>(&self, work: impl FnOnce(&mut Table) -> PyResult<R>) -> PyResult<R> {
        let mut table = self.take();
        let result = work(&mut table)?;
        self.put_back(table);
        Ok(result)
    }
}

/// A part of a document that is analysed by itself.
pub enum Field<'a> {
    /// A text of `crate::simple::simplified`.
    Text(&'a [u8]),
    /// The terms of a text that has been analysed already.
    Terms(Vec<&'a [u8]>),
}

/// The terms of consecutive fields.
pub struct Analysis<'a> {
    pub ids: Vec<TermId>,
    ends: Vec<usize>,
    unknown: Vec<Unknown<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Unknown<'a> {
    Word(&'a [u8]),
    Term(&'a [u8]),
}

impl Analysis<'_> {
    /// Return the terms of one field.
    pub fn field(&self, at: usize) -> &[TermId] {
        &self.ids[self.range(at)]
    }

    fn range(&self, at: usize) -> Range<usize> {
        at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]
    }
}

fn analyse_chunk<'a>(table: &Table, fields: &[Field<'a>]) -> Analysis<'a> {
    let mut found = Analysis { ids: Vec::new(), ends: Vec::with_capacity(fields.len()), unknown: Vec::new() };
    let mut numbers: HashMap<Unknown<'a>, u32> = HashMap::new();
    for field in fields {
        match field {
            Field::Text(text) => {
                let text = &text[..text.len().min(TEXT_BYTES_MAX)];
                for word in words(text) {
                    if !table.append(text, &word, &mut found.ids) {
                        found.note(Unknown::Word(&text[word]), &mut numbers);
                    }
                }
            }
            Field::Terms(terms) => {
                for term in terms {
                    match table.ids.get(term, 0, term.len()) {
                        Some(id) => found.ids.push(id),
                        None => found.note(Unknown::Term(term), &mut numbers),
                    }
                }
            }
        }
        found.ends.push(found.ids.len());
    }
    found
}

impl<'a> Analysis<'a> {
    fn note(&mut self, unknown: Unknown<'a>, numbers: &mut HashMap<Unknown<'a>, u32>) {
        let number = *numbers.entry(unknown).or_insert_with(|| {
            self.unknown.push(unknown);
            self.unknown.len() as u32 - 1
        });
        self.ids.push(UNKNOWN | number);
    }

    /// Replace the numbers of unknown words by the terms of these words, which are in `table` now.
    fn complete(&mut self, table: &Table) {
        if self.unknown.is_empty() {
            return;
        }
        let mut ids = Vec::with_capacity(self.ids.len());
        let mut ends = Vec::with_capacity(self.ends.len());
        let unknown = |id: TermId| self.unknown.get((id & !UNKNOWN) as usize);
        for at in 0..self.ends.len() {
            for &id in self.field(at) {
                match (id & UNKNOWN != 0).then(|| unknown(id)).flatten() {
                    Some(Unknown::Word(word)) => {
                        table.append(word, &(0..word.len()), &mut ids);
                    }
                    Some(Unknown::Term(term)) => ids.extend(table.ids.get(term, 0, term.len())),
                    None => ids.push(id),
                }
            }
            ends.push(ids.len());
        }
        self.ids = ids;
        self.ends = ends;
        self.unknown.clear();
    }
}

/// Return the terms of all fields, in chunks of `size` fields. New words are added to the table.
pub fn analyse<'a>(
    py: Python<'_>,
    own: &Terms,
    table: &mut Table,
    fields: &[Field<'a>],
    size: usize,
) -> PyResult<Vec<Analysis<'a>>> {
    let chunks: Vec<&[Field<'a>]> = fields.chunks(size.max(1)).collect();
    let mut found = {
        let table = &*table;
        py.detach(|| map_chunks(&chunks, 1, |chunk| analyse_chunk(table, chunk)))
    };
    learn(py, own, table, &found)?;
    py.detach(|| found.iter_mut().for_each(|chunk| chunk.complete(table)));
    Ok(found)
}

/// Return the number of fields in a chunk, so that there is one chunk for each core that helps.
pub fn chunk_size(fields: usize) -> usize {
    fields.div_ceil((fields / FIELDS_PER_THREAD).clamp(1, cores())).max(1)
}

/// Add the unknown words of all chunks to the table.
fn learn(py: Python<'_>, own: &Terms, table: &mut Table, found: &[Analysis<'_>]) -> PyResult<()> {
    let mut new: Vec<(&[u8], Vec<RawTerm>)> = Vec::new();
    for unknown in found.iter().flat_map(|chunk| &chunk.unknown) {
        match *unknown {
            Unknown::Term(term) => {
                table.intern(term, own.lists.stop_words.contains(term));
                table.bytes += term.len();
            }
            Unknown::Word(word) if table.knows(word) => {}
            Unknown::Word(word) if !word.is_ascii() => {
                let shown = PyString::new(py, std::str::from_utf8(word).unwrap_or_default());
                let terms: Vec<String> = own.word_terms.call1(py, (shown,))?.extract(py)?;
                let intern = |term: &String| {
                    let term = term.as_bytes();
                    table.intern(term, own.lists.stop_words.contains(term))
                };
                let ids: Vec<TermId> = terms.iter().map(intern).collect();
                table.insert(word, &ids);
            }
            Unknown::Word(word) => {
                // An entry now, so that a word of two chunks is learnt once.
                table.insert(word, &[]);
                new.push((word, own.lists.word_terms(word)));
            }
        }
    }
    let asked = new.iter().flat_map(|(_, terms)| terms).filter(|term| term.stemmed);
    let asked: Vec<&str> = asked.filter_map(|term| std::str::from_utf8(&term.text).ok()).collect();
    let mut stems: Vec<String> = Vec::new();
    if !asked.is_empty() {
        stems = own.stem.call1(py, (PyList::new(py, &asked)?,))?.extract(py)?;
    }
    let mut stems = stems.into_iter();
    for (word, raw) in new {
        let mut ids: Vec<TermId> = Vec::with_capacity(raw.len());
        for term in raw {
            let stem = if term.stemmed { stems.next() } else { None };
            let text = stem.as_ref().map_or(&term.text[..], |stem| cut(stem.as_bytes()));
            let id = table.intern(text, own.lists.stop_words.contains(text));
            if !(term.distinct && ids.last() == Some(&id)) {
                ids.push(id);
            }
        }
        table.insert(word, &ids);
    }
    Ok(())
}

/// Return the terms of each text, or `None` for a text that is not simple. The twin is
/// `engine.text.analyzer.index_terms`.
#[pyfunction]
fn index_terms_many<'py>(
    py: Python<'py>,
    own: &Bound<'py, Terms>,
    texts: Vec<Bound<'py, PyString>>,
) -> PyResult<Vec<Option<Bound<'py, PyList>>>> {
    let simple: Vec<Option<Cow<'_, [u8]>>> =
        texts.iter().map(|text| text.to_str().ok().and_then(simplified)).collect();
    let fields: Vec<Field<'_>> =
        simple.iter().map(|text| Field::Text(text.as_deref().unwrap_or_default())).collect();
    let own = own.get();
    own.with_table(|table| {
        let size = chunk_size(fields.len());
        let found = analyse(py, own, table, &fields, size)?;
        let mut lists = Vec::with_capacity(fields.len());
        for (number, text) in simple.iter().enumerate() {
            let Some(chunk) = found.get(number / size).filter(|_| text.is_some()) else {
                lists.push(None);
                continue;
            };
            let terms = chunk.field(number % size).iter().map(|&id| shown(py, table, id));
            let terms: Vec<Bound<'py, PyString>> = terms.collect();
            lists.push(Some(PyList::new(py, terms)?));
        }
        Ok(lists)
    })
}

/// Return whether the kernels analyse a text themselves.
#[pyfunction]
fn is_simple_text(text: &Bound<'_, PyString>) -> bool {
    text.to_str().is_ok_and(is_simple)
}

/// Return a term as a Python string.
pub fn shown<'py>(py: Python<'py>, table: &mut Table, id: TermId) -> Bound<'py, PyString> {
    let term = &mut table.terms[id as usize];
    let shown = term.shown.get_or_insert_with(|| {
        PyString::new(py, std::str::from_utf8(&term.text).unwrap_or_default()).unbind()
    });
    shown.bind(py).clone()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Terms>()?;
    module.add_function(wrap_pyfunction!(index_terms_many, module)?)?;
    module.add_function(wrap_pyfunction!(is_simple_text, module)?)
}
