//! The rows that store atoms. The twins are in `engine/ledger/records.py`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::cbor::Reader;
use crate::limits::{
    BUCKETS_MAX, CREATED_MIN, INTEGER_MAX, KEY_BYTES_MAX, LABEL_BYTES_MAX, ORDINAL_MAX, SEQ_MAX,
    SOURCE_BYTES_MAX, TAGS_MAX, TAG_BYTES_MAX, TITLE_BYTES_MAX, TRUST_MAX,
};

/// The labels that a row contains as their number in this list (`engine.ledger.records.LABELS`).
pub const LABELS: [&str; 7] = ["", "note", "inbox", "internal", "external", "quarantine", "entity"];
/// The number of fields of a row that are never left out, and of those that may be.
pub const FIELDS_MIN: usize = 12;
const FIELDS_MAX: usize = 20;

/// Read a label, or the number that stands for one.
fn label<'a>(raw: &mut Reader<'a>) -> Option<&'a str> {
    if raw.is_uint() {
        return LABELS.get(usize::try_from(raw.uint(SEQ_MAX)?).ok()?).copied();
    }
    raw.text(LABEL_BYTES_MAX).filter(|label| !LABELS.contains(label))
}

/// Read a field that may be left out or null. `left` is the number of fields that follow.
fn optional<'a, T>(
    raw: &mut Reader<'a>,
    left: &mut usize,
    read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Option<Option<T>> {
    if *left == 0 {
        return Some(None);
    }
    *left -= 1;
    if raw.null() {
        // The last field of a row is never null.
        return (*left > 0).then_some(None);
    }
    read(raw).map(Some)
}

fn decode<'py>(
    py: Python<'py>,
    raw: &[u8],
    atom: &Bound<'py, PyBytes>,
    states: &Bound<'py, PyTuple>,
) -> Option<Bound<'py, PyTuple>> {
    if atom.as_bytes().len() != 16 {
        return None;
    }
    let mut row = Reader::new(raw);
    let mut left = row.array(FIELDS_MAX)?.checked_sub(FIELDS_MIN)?;
    let text = |value: &str| PyString::new(py, value);
    let ordinal = row.uint(ORDINAL_MAX)?;
    let state = states.get_item(usize::try_from(row.uint(2)?).ok()?).ok()?;
    let version = row.uint(INTEGER_MAX)?;
    let payload_seq = row.uint(SEQ_MAX)?;
    let created_seq = payload_seq.checked_sub(row.uint(SEQ_MAX)?)?;
    let last_seq = payload_seq.checked_add(row.uint(SEQ_MAX)?).filter(|seq| *seq <= SEQ_MAX)?;
    let created = row.int(CREATED_MIN, i64::MAX)?;
    let updated = created.checked_add(row.int(i64::MIN, i64::MAX)?).filter(|time| *time >= 0)?;
    let kind = text(label(&mut row)?);
    let mut tags = Vec::with_capacity(8);
    for _ in 0..row.array(TAGS_MAX)? {
        tags.push(text(row.text(TAG_BYTES_MAX)?));
    }
    let mut buckets = Vec::with_capacity(2);
    for _ in 0..row.array(BUCKETS_MAX)? {
        buckets.push(text(label(&mut row)?));
    }
    let provenance = text(label(&mut row)?);
    let source = optional(&mut row, &mut left, |row| row.text(SOURCE_BYTES_MAX))?.map(text);
    let sequence = optional(&mut row, &mut left, |row| row.uint(INTEGER_MAX))?;
    let title = optional(&mut row, &mut left, |row| row.text(TITLE_BYTES_MAX))?.map(text);
    let key = optional(&mut row, &mut left, |row| row.text(KEY_BYTES_MAX))?.map(text);
    let trust = optional(&mut row, &mut left, |row| row.uint(TRUST_MAX))?;
    // Rows of hidden atoms are rare; the twin decodes them.
    if left > 0 || !row.at_end() {
        return None;
    }
    let first = (atom, ordinal, state, version, created_seq, payload_seq, last_seq, title, kind);
    let middle = (PyTuple::new(py, tags).ok()?, PyTuple::new(py, buckets).ok()?, source, sequence, key);
    let last = (provenance, trust, created, updated, py.None(), "", "");
    let mut items = Vec::with_capacity(21);
    for part in [first.into_pyobject(py).ok()?, middle.into_pyobject(py).ok()?, last.into_pyobject(py).ok()?]
    {
        items.extend(part.iter());
    }
    PyTuple::new(py, items).ok()
}

/// Return the values of the fields of the record of each atom, or None in place of a record that is not plain.
#[pyfunction]
fn decode_atoms<'py>(
    py: Python<'py>,
    rows: Vec<Bound<'py, PyBytes>>,
    atoms: Vec<Bound<'py, PyBytes>>,
    states: &Bound<'py, PyTuple>,
) -> Vec<Option<Bound<'py, PyTuple>>> {
    rows.iter().zip(&atoms).map(|(raw, atom)| decode(py, raw.as_bytes(), atom, states)).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_atoms, module)?)
}
