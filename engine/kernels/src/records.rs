//! The rows that store atoms, and the default ids of atoms. The twins are in `engine/ledger/records.py`.

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::cbor::Reader;
use crate::encoding::{integer, Declined, Encoded};
use crate::limits::{
    ATOM_BODY_FIELDS, BUCKETS_MAX, CREATED_MIN, INTEGER_MAX, KEY_BYTES_MAX, LABEL_BYTES_MAX, ORDINAL_MAX,
    SEQ_MAX, SOURCE_BYTES_MAX, TAGS_MAX, TAG_BYTES_MAX, TITLE_BYTES_MAX, TRUST_MAX,
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

fn default_id(id_key: &[u8; 32], body: &Bound<'_, PyTuple>) -> Encoded<[u8; 16]> {
    let read = |at: usize| -> Encoded<Option<Bound<'_, PyString>>> {
        let value = body.get_item(at)?;
        if value.is_none() {
            return Ok(None);
        }
        value.cast_into_exact::<PyString>().map(Some).map_err(|_| Declined)
    };
    let (source, key, content) = (read(5)?, read(11)?, read(0)?.ok_or(Declined)?);
    let number = |at: usize| -> Encoded<Option<u64>> {
        let value = body.get_item(at)?;
        if value.is_none() {
            return Ok(None);
        }
        u64::try_from(integer(&value)?).map(Some).map_err(|_| Declined)
    };
    let (place, number) = match (&key, number(10)?) {
        (Some(_), _) => (1, 0),
        (None, Some(occurrence)) => (0, occurrence),
        (None, None) => number(6)?.map_or((0, 0), |sequence| (2, sequence)),
    };
    let raw_source = source.as_ref().map_or(Ok(""), |source| source.to_str())?;
    let length = u32::try_from(raw_source.len()).map_err(|_| Declined)?;
    let mut hasher = Hasher::new_keyed(id_key);
    hasher.update(&[place, u8::from(source.is_some())]);
    hasher.update(&length.to_be_bytes());
    hasher.update(raw_source.as_bytes());
    match &key {
        Some(key) => hasher.update(key.to_str()?.as_bytes()),
        None => hasher.update(&number.to_be_bytes()).update(content.to_str()?.as_bytes()),
    };
    let mut id = [0; 16];
    hasher.finalize_xof().fill(&mut id);
    id[6] = id[6] & 0x0F | 0x80;
    id[8] = id[8] & 0x3F | 0x80;
    Ok(id)
}

/// Return the default id of the atom of each body.
#[pyfunction]
fn default_ids<'py>(
    py: Python<'py>,
    id_key: &[u8],
    bodies: &Bound<'py, PyList>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    let Ok(id_key) = <&[u8; 32]>::try_from(id_key) else { return Ok(None) };
    let ids = PyList::empty(py);
    for body in bodies.iter() {
        let Ok(body) = body.cast::<PyTuple>() else { return Ok(None) };
        if body.len() != ATOM_BODY_FIELDS {
            return Ok(None);
        }
        let Ok(id) = default_id(id_key, body) else { return Ok(None) };
        ids.append(PyBytes::new(py, &id))?;
    }
    Ok(Some(ids))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_atoms, module)?)?;
    module.add_function(wrap_pyfunction!(default_ids, module)?)
}
