//! Events that add atoms: their ids, headers, payloads and records. The twins are in `engine/ledger/adding.py`.

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::cbor;
use crate::limits::{
    ATOM_ADDED, ATOM_BODY_FIELDS as BODY_FIELDS, ATOM_FIRST_FIELDS as FIRST_FIELDS, ORDINAL_MAX,
};
use crate::records;
use crate::runs::{integer, put, rows_of, sized, Declined, Encoded, Inputs, Rows, Subject, LIVE};

/// An atom that is added.
struct NewAtom {
    id: [u8; 16],
    ordinal: u64,
    record: Vec<u8>,
}

/// Write a text. `PyString` refuses subclasses whose content may differ, and lone surrogates have no UTF-8.
fn put_text(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    cbor::text(out, value.cast_exact::<PyString>().map_err(|_| Declined)?.to_str()?);
    Ok(())
}

fn put_optional_text(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    if value.is_none() {
        cbor::null(out);
        return Ok(());
    }
    put_text(out, value)
}

fn put_optional_integer(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    if value.is_none() {
        cbor::null(out);
    } else {
        cbor::int(out, integer(value)?);
    }
    Ok(())
}

fn put_texts(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    let items = value.cast_exact::<PyTuple>().map_err(|_| Declined)?;
    cbor::array(out, items.len() as u64);
    for item in items.iter_borrowed() {
        put_text(out, &item)?;
    }
    Ok(())
}

/// Write the map `meta`. Its keys must be in canonical order already; floats are left to the twin.
fn put_meta(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    let map = value.cast_exact::<PyDict>().map_err(|_| Declined)?;
    cbor::map(out, map.len() as u64);
    let mut before: Option<String> = None;
    for (key, item) in map.iter() {
        let key = key.cast_exact::<PyString>().map_err(|_| Declined)?.to_str()?.to_owned();
        if before.as_ref().is_some_and(|before| (before.len(), before) >= (key.len(), &key)) {
            return Err(Declined);
        }
        cbor::text(out, &key);
        before = Some(key);
        if let Ok(flag) = item.cast_exact::<PyBool>() {
            cbor::boolean(out, flag.is_true());
        } else if item.cast_exact::<PyInt>().is_ok() {
            cbor::int(out, integer(&item)?);
        } else {
            put_text(out, &item)?;
        }
    }
    Ok(())
}

/// Write the canonical bytes of an `AtomBody` (`proofs.codec.encode_body`).
fn put_body(out: &mut Vec<u8>, body: &Bound<'_, PyTuple>) -> Encoded<()> {
    if body.len() != BODY_FIELDS {
        return Err(Declined);
    }
    let field = |at: usize| body.get_item(at);
    let mut further = 0;
    for at in FIRST_FIELDS..BODY_FIELDS {
        further += usize::from(!field(at)?.is_none());
    }
    cbor::array(out, FIRST_FIELDS as u64 + u64::from(further > 0));
    put_text(out, &field(0)?)?;
    put_optional_text(out, &field(1)?)?;
    put_text(out, &field(2)?)?;
    put_texts(out, &field(3)?)?;
    put_texts(out, &field(4)?)?;
    put_optional_text(out, &field(5)?)?;
    put_optional_integer(out, &field(6)?)?;
    put_text(out, &field(7)?)?;
    put_optional_integer(out, &field(8)?)?;
    put_optional_integer(out, &field(9)?)?;
    cbor::int(out, integer(&field(10)?)?);
    put_optional_text(out, &field(11)?)?;
    if further == 0 {
        return Ok(());
    }
    cbor::map(out, further as u64);
    for (number, at) in (FIRST_FIELDS..BODY_FIELDS).enumerate() {
        let value = field(at)?;
        if value.is_none() {
            continue;
        }
        cbor::uint(out, number as u64);
        match number {
            2 => put_meta(out, &value)?,
            3 => put_texts(out, &value)?,
            _ => put_text(out, &value)?,
        }
    }
    Ok(())
}

/// Write a label of a record, as its number if it has one.
fn put_label(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    let value = value.cast_exact::<PyString>().map_err(|_| Declined)?.to_str()?;
    match records::LABELS.iter().position(|label| *label == value) {
        Some(number) => cbor::uint(out, number as u64),
        None => cbor::text(out, value),
    }
    Ok(())
}

/// Write the record of a new atom (`engine.ledger.records.encode_atom`).
pub fn put_record(
    out: &mut Vec<u8>,
    seq: u64,
    time: u64,
    ordinal: u64,
    body: &Bound<'_, PyTuple>,
) -> Encoded<()> {
    let field = |at: usize| body.get_item(at);
    // The source, the sequence, the title, the key and the trust are left out from the last None on.
    let last = [field(5)?, field(6)?, field(1)?, field(11)?, field(8)?];
    let given = last.iter().rposition(|value| !value.is_none()).map_or(0, |at| at + 1);
    cbor::array(out, (records::FIELDS_MIN + given) as u64);
    for number in [ordinal, LIVE, 1, seq, 0, 0] {
        cbor::uint(out, number);
    }
    let (created, time) = (field(9)?, i64::try_from(time).map_err(|_| Declined)?);
    let created = if created.is_none() { time } else { integer(&created)? };
    cbor::int(out, created);
    cbor::int(out, time.checked_sub(created).ok_or(Declined)?);
    put_label(out, &field(2)?)?;
    put_texts(out, &field(3)?)?;
    let buckets = field(4)?;
    let buckets = buckets.cast_exact::<PyTuple>().map_err(|_| Declined)?;
    cbor::array(out, buckets.len() as u64);
    for bucket in buckets.iter_borrowed() {
        put_label(out, &bucket)?;
    }
    put_label(out, &field(7)?)?;
    for (at, value) in last[..given].iter().enumerate() {
        if at == 1 || at == 4 {
            put_optional_integer(out, value)?;
        } else {
            put_optional_text(out, value)?;
        }
    }
    Ok(())
}

impl Subject for NewAtom {
    const KIND: u64 = ATOM_ADDED;

    fn put_detail(&self, out: &mut Vec<u8>) {
        cbor::bytes(out, &self.id);
        cbor::uint(out, self.ordinal);
        cbor::null(out);
    }

    fn put_rows(&self, rows: &Bound<'_, PyDict>) -> PyResult<()> {
        put_atom_rows(rows, &self.id, self.ordinal, &self.record)
    }

    fn read(at: usize, seq: u64, time: u64, inputs: &Inputs<'_>, payload: &mut Vec<u8>) -> Encoded<Self> {
        let body = inputs.bodies.get_item(at)?;
        let body = body.cast::<PyTuple>().map_err(|_| Declined)?;
        let ordinal = inputs.ordinal + at as u64;
        put_body(payload, body)?;
        let mut record = Vec::with_capacity(192);
        put_record(&mut record, seq, time, ordinal, body)?;
        Ok(NewAtom { id: sized(&inputs.subjects.get_item(at)?)?, ordinal, record })
    }
}

/// Put the rows of an atom's record and of its ordinal, which is at most `ORDINAL_MAX`.
pub fn put_atom_rows(rows: &Bound<'_, PyDict>, id: &[u8; 16], ordinal: u64, record: &[u8]) -> PyResult<()> {
    let py = rows.py();
    put(rows, b"a/", id, &PyBytes::new(py, record))?;
    put(rows, b"o/", &(ordinal as u32).to_be_bytes(), &PyBytes::new(py, id))
}

/// Return the rows, the commitments, the leaves, the new frontier and the size of events that add atoms.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn added_rows<'py>(
    py: Python<'py>,
    frontier: &[u8],
    ordinal: u64,
    actor: &str,
    ids: &Bound<'py, PyList>,
    bodies: &Bound<'py, PyList>,
    salts: &Bound<'py, PyList>,
    times: &Bound<'py, PyList>,
) -> PyResult<Option<Rows<'py>>> {
    if ordinal.checked_add(ids.len() as u64).is_none_or(|last| last > ORDINAL_MAX) {
        return Ok(None);
    }
    rows_of::<NewAtom>(py, frontier, &Inputs { actor, ordinal, subjects: ids, bodies, salts, times })
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
    let occurrence = u64::try_from(integer(&body.get_item(10)?)?).map_err(|_| Declined)?;
    let raw_source = source.as_ref().map_or(Ok(""), |source| source.to_str())?;
    let length = u32::try_from(raw_source.len()).map_err(|_| Declined)?;
    let mut hasher = Hasher::new_keyed(id_key);
    hasher.update(&[u8::from(key.is_some()), u8::from(source.is_some())]);
    hasher.update(&length.to_be_bytes());
    hasher.update(raw_source.as_bytes());
    match &key {
        Some(key) => hasher.update(key.to_str()?.as_bytes()),
        None => hasher.update(&occurrence.to_be_bytes()).update(content.to_str()?.as_bytes()),
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
        if body.len() != BODY_FIELDS {
            return Ok(None);
        }
        let Ok(id) = default_id(id_key, body) else { return Ok(None) };
        ids.append(PyBytes::new(py, &id))?;
    }
    Ok(Some(ids))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(added_rows, module)?)?;
    module.add_function(wrap_pyfunction!(default_ids, module)?)
}
