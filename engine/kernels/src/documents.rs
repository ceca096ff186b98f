//! The documents of the index: their terms, lengths and facts, as columns. The twin is
//! `engine.index.columns`.

use std::borrow::Cow;
use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySequence, PyString, PyTuple};

use crate::rows::source_number;
use crate::simhash::{fingerprint, phrase};
use crate::simple::simplified;
use crate::text::{analyse, Analysis, Field, Table, TermId, Terms};
use crate::threads::{cores, map_chunks};

/// The largest number of documents of a segment.
pub const LARGEST: usize = 1 << 16;
pub const HEAD: u8 = 1;

/// The number of documents below which starting a second thread takes longer than it saves.
const DOCUMENTS_PER_THREAD: usize = 128;
const DISTINCT_MIN: usize = 4;
const TF_MAX: usize = 0xFF;
const LENGTH_MAX: usize = 0xFFFF;

const LABEL_CHARS_MAX: usize = 40;
const LABEL_WORDS_MAX: usize = 4;
const LABEL_WITHIN: usize = 48;
const LABEL_REFUSED: &str = "\"#$%&()+,/;<=>?@[\\]^`{|}~!";

/// The label at the beginning of a text. The twin is `engine.text.speaker_labels.label_of`.
fn label_of(content: &str) -> Option<String> {
    let beginning: Vec<char> = content.chars().take(LABEL_WITHIN).filter(|&one| one != '*').collect();
    let colon = beginning.iter().position(|one| [':', '\u{FF1A}'].contains(one))?;
    let label = &beginning[..colon];
    let ended = beginning[colon] != ':' || beginning.get(colon + 1) == Some(&' ');
    let words = label.split(|&one| one == ' ');
    let refused = |one: &char| {
        one.is_control() || LABEL_REFUSED.contains(*one) || ['\u{2028}', '\u{2029}'].contains(one)
    };
    let fits = ended
        && label.len() <= LABEL_CHARS_MAX
        && words.clone().count() <= LABEL_WORDS_MAX
        && words.clone().all(|word| !word.is_empty())
        && !label.iter().any(refused);
    fits.then(|| label.iter().collect())
}

/// A title without the qualifier in parentheses at its end.
fn unqualified(title: &str) -> &str {
    if !title.ends_with(')') {
        return title;
    }
    match title.rsplit_once(" (") {
        Some((named, _)) if !named.is_empty() => named,
        _ => title,
    }
}

/// The Python objects of one document.
enum Held<'py> {
    Destroyed,
    Text {
        content: Bound<'py, PyString>,
        title: Option<Bound<'py, PyString>>,
        source: Option<Bound<'py, PyString>>,
        sequence: u64,
    },
    Terms {
        terms: Vec<Bound<'py, PyString>>,
        source: u64,
        sequence: u64,
        title: u64,
    },
}

fn hold<'py>(document: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
    if document.is_none() {
        return Ok(Held::Destroyed);
    }
    let fields = document.cast::<PyTuple>()?;
    let first = fields.get_item(0)?;
    if let Ok(content) = first.cast::<PyString>() {
        let sequence: Option<u64> = fields.get_item(3)?.extract()?;
        return Ok(Held::Text {
            content: content.clone(),
            title: fields.get_item(1)?.extract()?,
            source: fields.get_item(2)?.extract()?,
            sequence: sequence.map_or(0, |sequence| sequence.saturating_add(1)),
        });
    }
    let terms = first.cast::<PySequence>()?.try_iter()?;
    let terms = terms.map(|term| Ok(term?.cast_into::<PyString>()?)).collect::<PyResult<_>>()?;
    let (_, source, sequence, title): (Bound<'_, PyAny>, u64, u64, u64) = fields.extract()?;
    Ok(Held::Terms { terms, source, sequence, title })
}

/// The facts of a document that are known before its text is analysed.
#[derive(Clone, Copy, Default)]
struct Known {
    exists: bool,
    titled: bool,
    /// Whether the third field of the document is the title from which the number of the title is computed.
    qualified: bool,
    source: u64,
    sequence: u64,
    title: u64,
}

/// The number of fields of a document: the head, the rest of the text, and the title without its qualifier.
const FIELDS: usize = 3;

/// The texts of a document as they are scanned.
#[derive(Default)]
struct Texts<'a> {
    head: Cow<'a, [u8]>,
    content: Cow<'a, [u8]>,
    named: Cow<'a, [u8]>,
    titled: bool,
    qualified: bool,
}

/// Return the texts of all documents, or `None` if one of them is not simple.
fn texts_of<'a>(held: &'a [Held<'_>]) -> Option<Vec<Texts<'a>>> {
    held.iter().map(texts_of_one).collect()
}

fn texts_of_one<'a>(document: &'a Held<'_>) -> Option<Texts<'a>> {
    let Held::Text { content, title, .. } = document else { return Some(Texts::default()) };
    let content = content.to_str().ok()?;
    let mut texts = Texts { content: simplified(content)?, ..Texts::default() };
    if let Some(title) = title {
        let title = title.to_str().ok()?;
        let named = unqualified(title);
        texts.titled = true;
        texts.head = simplified(title)?;
        if named.len() != title.len() {
            texts.qualified = true;
            texts.named = simplified(named)?;
        }
    } else if let Some(label) = label_of(content) {
        texts.head = Cow::Owned(simplified(&label)?.into_owned());
    }
    Some(texts)
}

/// Return the fields of all documents, or `None` if a name of a source or a term cannot be read.
fn fields_of<'a>(held: &'a [Held<'_>], texts: &'a [Texts<'_>]) -> Option<(Vec<Field<'a>>, Vec<Known>)> {
    let mut fields = Vec::with_capacity(FIELDS * held.len());
    let mut known = Vec::with_capacity(held.len());
    let mut sources: HashMap<&[u8], u64> = HashMap::new();
    for (document, own) in held.iter().zip(texts) {
        let [mut head, mut rest, named] = [&own.head, &own.content, &own.named].map(|text| Field::Text(text));
        let Texts { titled, qualified, .. } = *own;
        let mut own = Known { exists: true, titled, qualified, ..Known::default() };
        match document {
            Held::Destroyed => own.exists = false,
            Held::Text { source, sequence, .. } => {
                own.sequence = *sequence;
                if let Some(source) = source {
                    let source = source.to_str().ok()?.as_bytes();
                    own.source = *sources.entry(source).or_insert_with(|| source_number(source));
                }
            }
            Held::Terms { terms, source, sequence, title } => {
                own = Known { source: *source, sequence: *sequence, title: *title, ..own };
                let terms: Option<Vec<&[u8]>> =
                    terms.iter().map(|term| term.to_str().ok().map(str::as_bytes)).collect();
                let (heads, texts): (Vec<&[u8]>, Vec<&[u8]>) =
                    terms?.into_iter().partition(|term| term.first() == Some(&HEAD));
                head = Field::Terms(heads.iter().map(|term| &term[1..]).collect());
                rest = Field::Terms(texts);
            }
        }
        fields.extend([head, rest, named]);
        known.push(own);
    }
    Some((fields, known))
}

/// The counted terms of consecutive documents.
#[derive(Default)]
struct Counted {
    /// The different terms of each text with their frequencies, document by document.
    texts: Vec<(TermId, u8)>,
    text_ends: Vec<usize>,
    heads: Vec<(TermId, u8)>,
    head_ends: Vec<usize>,
    lengths: Vec<u16>,
    titles: Vec<u64>,
    fingerprints: Vec<u64>,
}

fn count(table: &Table, found: &Analysis<'_>, known: &[Known]) -> Counted {
    let mut counted = Counted::default();
    let mut counts = vec![0_usize; table.terms.len()];
    let term = |id: &TermId| &table.terms[*id as usize];
    for (at, own) in known.iter().enumerate() {
        let head = found.field(FIELDS * at);
        let rest = found.field(FIELDS * at + 1);
        let named = if own.qualified { found.field(FIELDS * at + 2) } else { head };
        let titled = if own.titled { head } else { &[] };
        let all = || titled.iter().chain(rest);
        let before = counted.texts.len();
        tally(all(), &mut counts, &mut counted.texts);
        tally(head.iter(), &mut counts, &mut counted.heads);
        let distinct = counted.texts.len() - before;
        counted.text_ends.push(counted.texts.len());
        counted.head_ends.push(counted.heads.len());
        let length = all().filter(|id| !term(id).stop).count();
        counted.lengths.push(length.min(LENGTH_MAX) as u16);
        let print = if distinct < DISTINCT_MIN { 0 } else { fingerprint(all().map(|id| term(id).hash)) };
        counted.fingerprints.push(print);
        let title = if !own.titled {
            own.title
        } else if named.iter().all(|id| term(id).stop) {
            0
        } else {
            phrase(named.iter().map(|id| term(id).hash))
        };
        counted.titles.push(title);
    }
    counted
}

/// Append the different terms with their frequencies. `counts` holds zeros before and after the call.
fn tally<'a>(ids: impl Iterator<Item = &'a TermId>, counts: &mut [usize], tallied: &mut Vec<(TermId, u8)>) {
    let first = tallied.len();
    for &id in ids {
        let count = &mut counts[id as usize];
        if *count == 0 {
            tallied.push((id, 0));
        }
        *count += 1;
    }
    for (id, tf) in &mut tallied[first..] {
        *tf = counts[*id as usize].min(TF_MAX) as u8;
        counts[*id as usize] = 0;
    }
}

/// The content of a segment as columns, as in `engine.index.columns.Columns`.
#[derive(Default)]
pub struct Columns {
    /// The terms one after the other, those of heads with HEAD before them, and the end of each.
    pub terms: Vec<u8>,
    pub term_ends: Vec<usize>,
    /// The end of the postings of each term.
    pub ends: Vec<usize>,
    pub offsets: Vec<u8>,
    pub tfs: Vec<u8>,
    pub lengths: Vec<u8>,
    pub facts: Vec<u8>,
    pub documents: usize,
}

/// Return the columns of `documents`, or `None` if the twin must compute them.
pub fn columns_of(py: Python<'_>, own: &Terms, documents: &[Bound<'_, PyAny>]) -> PyResult<Option<Columns>> {
    if documents.len() > LARGEST {
        return Ok(None);
    }
    let Ok(held) = documents.iter().map(hold).collect::<PyResult<Vec<_>>>() else { return Ok(None) };
    let Some(texts) = texts_of(&held) else { return Ok(None) };
    let Some((fields, known)) = fields_of(&held, &texts) else { return Ok(None) };
    own.with_table(|table| {
        let threads = (known.len() / DOCUMENTS_PER_THREAD).clamp(1, cores());
        let share = known.len().div_ceil(threads).max(1);
        let found = analyse(py, own, table, &fields, FIELDS * share)?;
        let table = &*table;
        Ok(Some(py.detach(|| {
            let work: Vec<_> = found.iter().zip(known.chunks(share)).collect();
            let counted = map_chunks(&work, 1, |(found, known)| count(table, found, known));
            assemble(table, &known, &counted)
        })))
    })
}

/// Put the counted terms of all documents in the order of terms.
fn assemble(table: &Table, known: &[Known], counted: &[Counted]) -> Columns {
    let mut columns =
        Columns { documents: known.iter().filter(|own| own.exists).count(), ..Columns::default() };
    let heads = Ranks::new(table, counted.iter().flat_map(|part| &part.heads));
    let texts = Ranks::new(table, counted.iter().flat_map(|part| &part.texts));
    for (ranks, mark) in [(&heads, &[HEAD][..]), (&texts, &[])] {
        for &id in &ranks.order {
            columns.terms.extend_from_slice(mark);
            columns.terms.extend_from_slice(&table.terms[id as usize].text);
            columns.term_ends.push(columns.terms.len());
        }
    }
    let mut total = 0;
    let mut next = [Vec::new(), Vec::new()];
    for (ranks, next) in [&heads, &texts].into_iter().zip(&mut next) {
        for &df in &ranks.dfs {
            next.push(total);
            total += df as usize;
            columns.ends.push(total);
        }
    }
    columns.offsets = vec![0; 2 * total];
    columns.tfs = vec![0; total];
    let [next_heads, next_texts] = &mut next;
    let mut document = 0_usize;
    for part in counted {
        let (mut head, mut text) = (0, 0);
        for (&head_end, &text_end) in part.head_ends.iter().zip(&part.text_ends) {
            let offset = (document as u16).to_le_bytes();
            place(&part.heads[head..head_end], offset, &heads, next_heads, &mut columns);
            place(&part.texts[text..text_end], offset, &texts, next_texts, &mut columns);
            (head, text) = (head_end, text_end);
            document += 1;
        }
        part.lengths.iter().for_each(|length| columns.lengths.extend_from_slice(&length.to_le_bytes()));
    }
    columns.facts.reserve(32 * known.len());
    let mut put = |number: u64| columns.facts.extend_from_slice(&number.to_le_bytes());
    known.iter().for_each(|own| put(own.source));
    known.iter().for_each(|own| put(own.sequence));
    counted.iter().flat_map(|part| &part.titles).for_each(|&title| put(title));
    counted.iter().flat_map(|part| &part.fingerprints).for_each(|&print| put(print));
    columns
}

fn place(terms: &[(TermId, u8)], offset: [u8; 2], ranks: &Ranks, next: &mut [usize], columns: &mut Columns) {
    for &(id, tf) in terms {
        let at = &mut next[ranks.of[id as usize] as usize];
        columns.offsets[2 * *at..2 * *at + 2].copy_from_slice(&offset);
        columns.tfs[*at] = tf;
        *at += 1;
    }
}

/// The different terms of some documents in ascending order.
struct Ranks {
    order: Vec<TermId>,
    /// The number of documents of each term in `order`.
    dfs: Vec<u32>,
    /// The position in `order` of each term of the table that is in it.
    of: Vec<u32>,
}

impl Ranks {
    fn new<'a>(table: &Table, terms: impl Iterator<Item = &'a (TermId, u8)>) -> Self {
        let mut of = vec![0_u32; table.terms.len()];
        let mut used = Vec::new();
        for &(id, _) in terms {
            let df = &mut of[id as usize];
            if *df == 0 {
                used.push(id);
            }
            *df += 1;
        }
        // Most terms differ in the first eight bytes.
        let mut keyed: Vec<(u64, TermId)> = used.iter().map(|&id| (beginning(table, id), id)).collect();
        let text = |id: TermId| &table.terms[id as usize].text;
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1))));
        let order: Vec<TermId> = keyed.into_iter().map(|(_, id)| id).collect();
        let dfs = order.iter().map(|&id| of[id as usize]).collect();
        for (rank, &id) in order.iter().enumerate() {
            of[id as usize] = rank as u32;
        }
        Ranks { order, dfs, of }
    }
}

fn beginning(table: &Table, id: TermId) -> u64 {
    let mut first = [0; 8];
    let text = &table.terms[id as usize].text;
    let known = text.len().min(8);
    first[..known].copy_from_slice(&text[..known]);
    u64::from_be_bytes(first)
}

/// The items of `Columns` in Python: terms, dfs, offsets, tfs, lengths, facts and the number of documents.
type Items<'py> = (
    Bound<'py, PyList>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    usize,
);

/// The number of bytes of a label, which is the name of the row of a term (`proofs.labels`).
pub const LABEL_BYTES: usize = 16;
const TERMS: u8 = 0;

/// Return the label of a value in a group. The twin is `proofs.labels.label_of`.
fn label(label_key: &[u8; 32], group: u8, value: &[u8]) -> [u8; LABEL_BYTES] {
    let digest = blake3::Hasher::new_keyed(label_key).update(&[group]).update(value).finalize();
    let mut label = [0; LABEL_BYTES];
    label.copy_from_slice(&digest.as_bytes()[..LABEL_BYTES]);
    label[0] |= 0x80;
    label
}

/// Return the label of each of `values` in a group.
#[pyfunction]
fn labels<'py>(
    py: Python<'py>,
    label_key: [u8; 32],
    group: u8,
    values: Vec<Bound<'py, PyBytes>>,
) -> Vec<Bound<'py, PyBytes>> {
    values.iter().map(|value| PyBytes::new(py, &label(&label_key, group, value.as_bytes()))).collect()
}

/// Return columns with the labels of the terms in place of the terms, and in their order.
pub fn labelled(columns: &Columns, label_key: &[u8; 32]) -> Columns {
    let mut named = Vec::with_capacity(columns.ends.len());
    let (mut term_start, mut start) = (0, 0);
    for (&term_end, &end) in columns.term_ends.iter().zip(&columns.ends) {
        named.push((label(label_key, TERMS, &columns.terms[term_start..term_end]), start, end));
        (term_start, start) = (term_end, end);
    }
    named.sort_unstable();
    let mut found = Columns {
        lengths: columns.lengths.clone(),
        facts: columns.facts.clone(),
        documents: columns.documents,
        offsets: Vec::with_capacity(columns.offsets.len()),
        tfs: Vec::with_capacity(columns.tfs.len()),
        ..Columns::default()
    };
    for (name, start, end) in named {
        found.terms.extend_from_slice(&name);
        found.term_ends.push(found.terms.len());
        found.offsets.extend_from_slice(&columns.offsets[2 * start..2 * end]);
        found.tfs.extend_from_slice(&columns.tfs[start..end]);
        found.ends.push(found.tfs.len());
    }
    found
}

/// Return the columns of documents, or `None`. Numbers are little-endian. The twin is
/// `engine.index.columns.build`.
#[pyfunction]
fn build_columns<'py>(
    py: Python<'py>,
    terms: &Bound<'py, Terms>,
    label_key: [u8; 32],
    documents: Vec<Bound<'py, PyAny>>,
) -> PyResult<Option<Items<'py>>> {
    let Some(columns) = columns_of(py, terms.get(), &documents)? else { return Ok(None) };
    let columns = labelled(&columns, &label_key);
    let starts = |ends: &[usize]| [0].into_iter().chain(ends.to_vec()).collect::<Vec<usize>>();
    let term_starts = starts(&columns.term_ends);
    let named = term_starts.windows(2).map(|pair| PyBytes::new(py, &columns.terms[pair[0]..pair[1]]));
    let named: Vec<Bound<'py, PyBytes>> = named.collect();
    let posting_starts = starts(&columns.ends);
    let dfs: Vec<u8> =
        posting_starts.windows(2).flat_map(|pair| ((pair[1] - pair[0]) as i64).to_le_bytes()).collect();
    Ok(Some((
        PyList::new(py, named)?,
        PyBytes::new(py, &dfs),
        PyBytes::new(py, &columns.offsets),
        PyBytes::new(py, &columns.tfs),
        PyBytes::new(py, &columns.lengths),
        PyBytes::new(py, &columns.facts),
        columns.documents,
    )))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(labels, module)?)?;
    module.add_function(wrap_pyfunction!(build_columns, module)?)
}
