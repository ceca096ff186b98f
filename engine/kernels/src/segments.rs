//! The rows of index segments: checking stored rows, merging, encoding and hashing. The twins are
//! `engine.index.columns.merge`, `engine.index.postings.decode` and `encode`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::chunks::salt;
use crate::documents::{columns_of, labelled, Columns, LABEL_BYTES, LARGEST};
use crate::numbers;
use crate::packs::{self, HEAD_BYTES};
use crate::rows::{row_leaf, rows_root, Digest, BLOCK_ROWS};
use crate::text::Terms;
use crate::threads::{cores, map_chunks};

const LENGTHS: &[u8] = b"\x00";
const FACTS: &[u8] = b"\x00\x01";
/// The rows of a segment that are not rows of terms, the first ones: lengths and facts.
const COLUMN_ROWS: usize = 2;
const LENGTH_BYTES: usize = 2;
const FACT_BYTES: usize = 32;
/// The length of the name of the namespace `index`, and the name.
const INDEX: &[u8] = b"\x05index";
const SEQUENCE_MAX: u64 = 1 << 63;

/// The numbers of rows and of packs below which starting a second thread takes longer than it saves.
const ROWS_PER_THREAD: usize = 512;
const PACKS_PER_THREAD: usize = 8;

/// The postings of one term in one part.
#[derive(Clone, Copy)]
struct Postings<'a> {
    term: &'a [u8],
    max: u8,
    /// Two bytes for each document, little-endian.
    offsets: &'a [u8],
    tfs: &'a [u8],
}

/// A range of documents that becomes a part of a segment.
struct Part<'a> {
    /// The number of ordinals in the parts before this one.
    before: usize,
    size: usize,
    /// The offsets of the documents that are left out, ascending.
    removed: &'a [u16],
    postings: Vec<Postings<'a>>,
    lengths: &'a [u8],
    /// Four columns of eight bytes for each document.
    facts: &'a [u8],
}

/// A segment as it is stored: its rows, its size, and the values of its summary.
struct Stored<'py> {
    rows: Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>,
    prefix: usize,
    size: usize,
    documents: usize,
    total: u64,
    count: usize,
    removed: Vec<u16>,
}

/// Whether a row of a term can have this name. The twin is `engine.index.segments.is_name`.
fn is_name(name: &[u8]) -> bool {
    name.len() == LABEL_BYTES && name[0] >= 0x80
}

/// What the salts of the rows of a segment depend on besides the rows: the row key, and the segment's key.
struct Salting {
    row_key: [u8; 32],
    segment: Vec<u8>,
}

impl Salting {
    /// The leaf of a row, whose value is hashed behind its salt.
    fn leaf(&self, name: &[u8], value: &[u8]) -> Digest {
        let salt = salt(&self.row_key, INDEX, &[&self.segment[..], name].concat(), value);
        row_leaf(name, &salt, value)
    }
}

fn numbers(raw: &[u8]) -> impl Iterator<Item = usize> + use<'_> {
    raw.chunks_exact(2).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])))
}

fn columns_head(size: usize) -> [u8; HEAD_BYTES] {
    let [a, b, c, d] = (size as u32).to_be_bytes();
    [a, b, c, d, 0]
}

fn numbers_of(column: &[u8]) -> impl Iterator<Item = u64> + use<'_> {
    column.chunks_exact(8).map(|raw| raw.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The bytes of stored rows, borrowed from Python objects: pairs of a name and a value.
type Pairs<'a> = Vec<(&'a [u8], &'a [u8])>;

/// The postings of one pack.
#[derive(Default)]
struct Pack<'a> {
    /// Each term, its greatest frequency, and the number of postings up to and including its own.
    terms: Vec<(&'a [u8], u8, usize)>,
    offsets: Vec<u8>,
    tfs: Vec<u8>,
}

/// A stored segment as it was decoded.
struct Decoded<'a> {
    packs: Vec<Pack<'a>>,
    lengths: Vec<u8>,
    facts: Vec<u8>,
}

fn decode_pack<'a>(name: &[u8], raw: &'a [u8], size: usize) -> Option<Pack<'a>> {
    let mut pack = Pack::default();
    for pair in packs::split(raw)? {
        let (term, entry) = pair?;
        if !is_name(term) {
            return None;
        }
        let max = packs::decode(entry, size, &mut pack.offsets, &mut pack.tfs)?;
        pack.terms.push((term, max, pack.tfs.len()));
    }
    (pack.terms.first()?.0 == name).then_some(pack)
}

/// Decode and check all rows of a stored segment; return `None` if the twin must report an error.
fn decode<'a>(pairs: &Pairs<'a>, stored: &StoredInfo<'_>) -> Option<Decoded<'a>> {
    let [(lengths_key, lengths), (facts_key, facts), rows @ ..] = &pairs[..] else { return None };
    if *lengths_key != LENGTHS || *facts_key != FACTS {
        return None;
    }
    let mut decoded =
        Decoded { packs: Vec::with_capacity(rows.len()), lengths: Vec::new(), facts: Vec::new() };
    let mut rest = numbers::decode(lengths, stored.size, LENGTH_BYTES, &mut decoded.lengths)?;
    if !rest.is_empty() {
        return None;
    }
    rest = facts;
    for _ in 0..FACT_BYTES / 8 {
        rest = numbers::decode(rest, stored.size, 8, &mut decoded.facts)?;
    }
    let total: u64 = numbers(&decoded.lengths).map(|length| length as u64).sum();
    let sequences = &decoded.facts[8 * stored.size..16 * stored.size];
    if !rest.is_empty()
        || total != stored.total
        || numbers_of(sequences).any(|sequence| sequence > SEQUENCE_MAX)
        || stored.removed.windows(2).any(|pair| pair[0] >= pair[1])
        || stored.removed.last().is_some_and(|&last| usize::from(last) >= stored.size)
    {
        return None;
    }
    for pack in map_chunks(rows, PACKS_PER_THREAD, |(name, raw)| decode_pack(name, raw, stored.size)) {
        decoded.packs.push(pack?);
    }
    let terms = || decoded.packs.iter().flat_map(|pack| &pack.terms).map(|term| term.0);
    let ascending = terms().zip(terms().skip(1)).all(|(one, next)| one < next);
    (ascending && terms().count() + COLUMN_ROWS == stored.count).then_some(decoded)
}

/// Return the part that a decoded segment becomes.
fn part_of_stored<'a>(decoded: &'a Decoded<'a>, stored: &StoredInfo<'a>, before: usize) -> Part<'a> {
    let mut postings = Vec::with_capacity(stored.count);
    for pack in &decoded.packs {
        let mut start = 0;
        for &(term, max, end) in &pack.terms {
            let offsets = &pack.offsets[2 * start..2 * end];
            postings.push(Postings { term, max, offsets, tfs: &pack.tfs[start..end] });
            start = end;
        }
    }
    let (lengths, facts) = (&decoded.lengths[..], &decoded.facts[..]);
    Part { before, size: stored.size, removed: stored.removed, postings, lengths, facts }
}

/// The values of a stored segment that can be used without Python.
struct StoredInfo<'a> {
    size: usize,
    total: u64,
    count: usize,
    removed: &'a [u16],
}

/// The rows of terms of a segment, in ascending order, with their leaf hashes.
#[derive(Default)]
struct Merged<'a> {
    terms: Vec<&'a [u8]>,
    values: Vec<u8>,
    ends: Vec<usize>,
    leaves: Vec<Digest>,
}

/// Merge the postings of adjacent parts, of which there is one slice for each part.
fn merge<'a>(parts: &[Part<'a>], mut slices: Vec<&[Postings<'a>]>, salting: &Salting) -> Merged<'a> {
    let mut merged = Merged::default();
    let mut shared: Vec<(usize, Postings<'a>)> = Vec::with_capacity(parts.len());
    while let Some(term) = slices.iter().filter_map(|slice| slice.first()).map(|row| row.term).min() {
        shared.clear();
        for (at, slice) in slices.iter_mut().enumerate() {
            if let Some((first, rest)) = slice.split_first() {
                if first.term == term {
                    shared.push((at, *first));
                    *slice = rest;
                }
            }
        }
        let start = merged.values.len();
        if append_value(parts, &shared, &mut merged.values) {
            merged.leaves.push(salting.leaf(term, &merged.values[start..]));
            merged.terms.push(term);
            merged.ends.push(merged.values.len());
        } else {
            merged.values.truncate(start);
        }
    }
    merged
}

/// Append the value of the row of one term; return whether any document has the term.
fn append_value(parts: &[Part<'_>], shared: &[(usize, Postings<'_>)], values: &mut Vec<u8>) -> bool {
    let start = values.len();
    values.extend_from_slice(&[0; HEAD_BYTES]);
    for (at, row) in shared {
        let part = &parts[*at];
        if part.before == 0 && part.removed.is_empty() {
            values.extend_from_slice(row.offsets);
        } else {
            for offset in kept(part, row).map(|(offset, _)| (part.before + offset) as u16) {
                values.extend_from_slice(&offset.to_le_bytes());
            }
        }
    }
    let df = (values.len() - start - HEAD_BYTES) / 2;
    let mut max = 0;
    for (at, row) in shared {
        let part = &parts[*at];
        if part.removed.is_empty() {
            max = max.max(row.max);
            values.extend_from_slice(row.tfs);
        } else {
            for (_, tf) in kept(part, row) {
                max = max.max(tf);
                values.push(tf);
            }
        }
    }
    values[start..start + 4].copy_from_slice(&(df as u32).to_be_bytes());
    values[start + 4] = max;
    df > 0
}

fn kept<'a>(part: &'a Part<'_>, row: &'a Postings<'_>) -> impl Iterator<Item = (usize, u8)> + 'a {
    let removed =
        |offset: usize| !part.removed.is_empty() && part.removed.binary_search(&(offset as u16)).is_ok();
    numbers(row.offsets).zip(row.tfs.iter().copied()).filter(move |(offset, _)| !removed(*offset))
}

/// Merge all postings, on several cores if there are many: each core merges a range of terms.
fn merge_all<'a>(parts: &[Part<'a>], salting: &Salting) -> Vec<Merged<'a>> {
    let Some(longest) = parts.iter().max_by_key(|part| part.postings.len()) else { return Vec::new() };
    let ranges = (longest.postings.len() / ROWS_PER_THREAD).clamp(1, cores());
    let bound = |part: &Part<'a>, range: usize| {
        if range == 0 {
            return 0;
        }
        match longest.postings.get(range * longest.postings.len() / ranges) {
            Some(first) if range < ranges => part.postings.partition_point(|row| row.term < first.term),
            _ => part.postings.len(),
        }
    };
    let work: Vec<Vec<&[Postings<'a>]>> = (0..ranges)
        .map(|range| {
            parts.iter().map(|part| &part.postings[bound(part, range)..bound(part, range + 1)]).collect()
        })
        .collect();
    map_chunks(&work, 1, |slices| merge(parts, slices.clone(), salting))
}

/// The rows of lengths and facts of the whole range.
fn column_rows(parts: &[Part<'_>]) -> (Vec<u8>, Vec<u8>, u64) {
    let size: usize = parts.iter().map(|part| part.size).sum();
    let mut lengths = columns_head(size).to_vec();
    let mut total = 0;
    for part in parts {
        let start = lengths.len();
        lengths.extend_from_slice(part.lengths);
        blank(&mut lengths[start..], part.removed, 2);
        total += numbers(&lengths[start..]).map(|length| length as u64).sum::<u64>();
    }
    let mut facts = columns_head(size).to_vec();
    for column in 0..FACT_BYTES / 8 {
        for part in parts {
            let start = facts.len();
            facts.extend_from_slice(&part.facts[8 * part.size * column..8 * part.size * (column + 1)]);
            blank(&mut facts[start..], part.removed, 8);
        }
    }
    (lengths, facts, total)
}

/// Set the numbers of removed documents to 0.
fn blank(column: &mut [u8], removed: &[u16], width: usize) {
    for &offset in removed {
        let at = width * usize::from(offset);
        column[at..at + width].fill(0);
    }
}

/// A block of rows: its root, and its stored rows with the positions of their names among all rows.
struct Block {
    root: Digest,
    stored: Vec<(usize, Vec<u8>)>,
}

/// A segment in its stored form.
struct Encoded {
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    total: u64,
    count: usize,
    root: Digest,
    blocks: Vec<u8>,
}

fn finish(parts: &[Part<'_>], merged: &[Merged<'_>], salting: &Salting) -> Encoded {
    let (lengths, facts, total) = column_rows(parts);
    let size = parts.iter().map(|part| part.size).sum();
    let mut rows: Vec<(&[u8], &[u8])> = vec![(LENGTHS, &lengths), (FACTS, &facts)];
    let mut leaves = vec![salting.leaf(LENGTHS, &lengths), salting.leaf(FACTS, &facts)];
    for range in merged {
        leaves.extend(&range.leaves);
        let mut start = 0;
        for (term, &end) in range.terms.iter().zip(&range.ends) {
            rows.push((term, &range.values[start..end]));
            start = end;
        }
    }
    let starts: Vec<usize> = (0..rows.len()).step_by(BLOCK_ROWS).collect();
    let encoded = map_chunks(&starts, 4, |&start| {
        let end = rows.len().min(start + BLOCK_ROWS);
        let mut stored = Vec::new();
        if start == 0 {
            stored = vec![(0, encoded_columns(&lengths, 1)), (1, encoded_columns(&facts, FACT_BYTES / 8))];
        }
        let first = start + stored.len();
        let packed = packs::pack(&rows[first..end], size);
        stored.extend(packed.into_iter().map(|(at, raw)| (first + at, raw)));
        Block { root: rows_root(&leaves[start..end]), stored }
    });
    let roots: Vec<Digest> = encoded.iter().map(|block| block.root).collect();
    let blocks = blocks_row(&encoded, &rows);
    let stored = encoded.into_iter().flat_map(|block| block.stored);
    let named = stored.map(|(at, raw)| (rows[at].0.to_vec(), raw)).collect();
    Encoded { rows: named, total, count: rows.len(), root: rows_root(&roots), blocks }
}

/// The stored form of a row of columns, of which there are `columns`, from the row that is hashed.
fn encoded_columns(row: &[u8], columns: usize) -> Vec<u8> {
    let plain = &row[HEAD_BYTES..];
    let mut raw = Vec::new();
    let wide = if columns == 1 { LENGTH_BYTES } else { 8 };
    let size = plain.len() / columns;
    for at in 0..columns {
        numbers::encode(&plain[at * size..(at + 1) * size], wide, &mut raw);
    }
    raw
}

/// The row of blocks: the roots with the numbers of stored rows, and the names of these rows.
fn blocks_row(blocks: &[Block], rows: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut raw = Vec::new();
    for block in blocks {
        raw.extend_from_slice(&block.root);
        raw.extend_from_slice(&(block.stored.len() as u16).to_be_bytes());
    }
    let stored = || blocks.iter().flat_map(|block| &block.stored).map(|(at, _)| rows[*at].0);
    raw.extend(stored().map(|name| name.len() as u8));
    stored().for_each(|name| raw.extend_from_slice(name));
    raw
}

/// Read the postings of columns that were built in this call.
fn part_of(columns: &Columns, before: usize) -> Part<'_> {
    let size = columns.lengths.len() / 2;
    let mut postings = Vec::with_capacity(columns.ends.len());
    let (mut term_start, mut start) = (0, 0);
    for (&term_end, &end) in columns.term_ends.iter().zip(&columns.ends) {
        let tfs = &columns.tfs[start..end];
        postings.push(Postings {
            term: &columns.terms[term_start..term_end],
            max: tfs.iter().copied().max().unwrap_or(0),
            offsets: &columns.offsets[2 * start..2 * end],
            tfs,
        });
        (term_start, start) = (term_end, end);
    }
    Part { before, size, removed: &[], postings, lengths: &columns.lengths, facts: &columns.facts }
}

/// Put all stored rows into a dict, whose keys begin with `prefix`.
fn rows_dict<'py>(py: Python<'py>, prefix: &[u8], encoded: &Encoded) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyDict::new(py);
    for (name, value) in &encoded.rows {
        rows.set_item(PyBytes::new(py, &[prefix, name].concat()), PyBytes::new(py, value))?;
    }
    Ok(rows)
}

/// Rows by key, then the number of documents, their total length, the number of rows, the root of the rows,
/// and the value of the row of blocks.
type Items<'py> = (Bound<'py, PyDict>, usize, u64, usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn stored_of<'py>(part: &Bound<'py, PyTuple>) -> PyResult<Stored<'py>> {
    let (prefix, size, documents, total, count, rows, removed) = part.extract()?;
    Ok(Stored { rows, prefix, size, documents, total, count, removed })
}

/// Return the rows of a segment that consists of stored segments, which may be empty, and then of new
/// documents; `None` if the twin must do the work.
///
/// A stored segment is a tuple: the number of bytes before the terms in its keys, the number of its ordinals,
/// the three numbers of its summary (documents, total length, rows), its rows as pairs in key order, and the
/// offsets of documents to remove, ascending.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the keys and the names of one segment, from Python
fn build_segment<'py>(
    py: Python<'py>,
    terms: &Bound<'py, Terms>,
    prefix: Vec<u8>,
    segment: Vec<u8>,
    label_key: [u8; 32],
    row_key: [u8; 32],
    stored: Vec<Bound<'py, PyTuple>>,
    documents: Vec<Bound<'py, PyAny>>,
) -> PyResult<Option<Items<'py>>> {
    let salting = Salting { row_key, segment };
    let Ok(stored) = stored.iter().map(stored_of).collect::<PyResult<Vec<_>>>() else { return Ok(None) };
    let Some(columns) = columns_of(py, terms.get(), &documents)? else { return Ok(None) };
    let size: usize = stored.iter().map(|part| part.size.min(LARGEST)).sum::<usize>() + documents.len();
    let mut infos = Vec::new();
    let mut pairs: Vec<Pairs<'_>> = Vec::new();
    let mut kept_documents = columns.documents;
    for part in &stored {
        if part.size > LARGEST || part.documents < part.removed.len() {
            return Ok(None);
        }
        kept_documents += part.documents - part.removed.len();
        infos.push(StoredInfo {
            size: part.size,
            total: part.total,
            count: part.count,
            removed: &part.removed,
        });
        let borrowed: Option<Pairs<'_>> = part
            .rows
            .iter()
            .map(|(key, value)| Some((key.as_bytes().get(part.prefix..)?, value.as_bytes())))
            .collect();
        let Some(borrowed) = borrowed else { return Ok(None) };
        pairs.push(borrowed);
    }
    if size > LARGEST {
        return Ok(None);
    }
    let built = py.detach(|| {
        let decoded = pairs.iter().zip(&infos).map(|(pairs, info)| decode(pairs, info));
        let decoded: Vec<Decoded<'_>> = decoded.collect::<Option<_>>()?;
        let mut parts = Vec::with_capacity(pairs.len() + 1);
        let mut before = 0;
        for (one, info) in decoded.iter().zip(&infos) {
            parts.push(part_of_stored(one, info, before));
            before += info.size;
        }
        let columns = labelled(&columns, &label_key);
        if !columns.lengths.is_empty() {
            parts.push(part_of(&columns, before));
        }
        let merged = merge_all(&parts, &salting);
        Some(finish(&parts, &merged, &salting))
    });
    let Some(encoded) = built else { return Ok(None) };
    let rows = rows_dict(py, &prefix, &encoded)?;
    let (root, blocks) = (PyBytes::new(py, &encoded.root), PyBytes::new(py, &encoded.blocks));
    Ok(Some((rows, kept_documents, encoded.total, encoded.count, root, blocks)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(build_segment, module)?)
}
