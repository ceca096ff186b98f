//! The records of atoms and edges that a run of events adds. The twin is `engine.ledger.fold.fold_twin`.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::cbor;
use crate::encoding::{
    integer, put, put_optional_integer, put_optional_text, put_texts, raw, sized, Declined, Encoded,
};
use crate::limits::{
    ATOM_ADDED, ATOM_BODY_FIELDS, ATOM_REVISED, EDGE_ADDED, EDGE_BODY_FIELDS, ERASED, ORIGIN, VERSION_NOTED,
};
use crate::records;

/// `State.LIVE`.
const LIVE: u64 = 0;
/// The number of fields of an edge's record.
const EDGE_RECORD_FIELDS: u64 = 14;

/// The keys of the new records, all rows of these records, and the positions of all other events.
type Records<'py> = (Bound<'py, PyList>, Bound<'py, PyDict>, Vec<usize>);

/// Return the records of the atoms and edges whose first event in the run adds them, if they were never recorded.
///
/// The events at the returned positions must be folded afterwards. None to decline: an event that was left out
/// assigns the ordinal of an atom that is added.
#[pyfunction]
fn added_records<'py>(py: Python<'py>, entries: &Bound<'py, PyList>) -> PyResult<Option<Records<'py>>> {
    let (keys, rows, mut rest) = (PyList::empty(py), PyDict::new(py), Vec::new());
    let (mut subjects, mut assigned) = (HashSet::with_capacity(entries.len()), HashSet::new());
    let mut record = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Ok(event) = Event::of(&entry) else { return Ok(None) };
        let Ok(subject) = event.subject() else { return Ok(None) };
        record.clear();
        // Only the first event on a subject can add it for the first time.
        if subjects.insert(subject) && event.put_record(&mut record).is_ok() {
            event.put_rows(&keys, &rows, &record)?;
        } else {
            rest.push(at);
            if let Some(ordinal) = event.assigned() {
                assigned.insert(ordinal);
            }
        }
    }
    for ordinal in assigned {
        let key = PyBytes::new(py, &[&b"o/"[..], &ordinal.to_be_bytes()].concat());
        if rows.contains(key)? {
            return Ok(None);
        }
    }
    Ok(Some((keys, rows, rest)))
}

/// An event with its parts.
struct Event<'py> {
    kind: u64,
    header: Bound<'py, PyTuple>,
    detail: Bound<'py, PyTuple>,
    body: Bound<'py, PyAny>,
}

impl<'py> Event<'py> {
    fn of(entry: &Bound<'py, PyAny>) -> Encoded<Self> {
        let entry = entry.cast::<PyTuple>().map_err(|_| Declined)?;
        let header = entry.get_item(0)?.cast_into::<PyTuple>().map_err(|_| Declined)?;
        let detail = header.get_item(6)?.cast_into::<PyTuple>().map_err(|_| Declined)?;
        Ok(Event { kind: header.get_item(2)?.extract()?, body: entry.get_item(1)?, header, detail })
    }

    /// Return the bytes in the detail, which tell the atom, edge or predicate from all others.
    fn subject(&self) -> Encoded<Vec<u8>> {
        let mut subject = Vec::with_capacity(34);
        for part in self.detail.iter_borrowed() {
            if let Ok(part) = part.cast_exact::<PyBytes>() {
                subject.extend_from_slice(part.as_bytes());
            }
        }
        Ok(subject)
    }

    /// Return the ordinal that the event assigns, if it assigns one.
    fn assigned(&self) -> Option<u32> {
        let assigns = matches!(self.kind, ATOM_ADDED | ATOM_REVISED | VERSION_NOTED | ERASED);
        self.detail.get_item(1).ok().filter(|_| assigns)?.extract().ok()
    }

    /// Return the time at which the change happened: that of the origin, if there is one.
    fn time(&self) -> Encoded<u64> {
        let origin = self.header.get_item(ORIGIN)?;
        let time = match origin.cast::<PyTuple>() {
            Ok(origin) => origin.get_item(4)?,
            Err(_) if origin.is_none() => self.header.get_item(1)?,
            Err(_) => return Err(Declined),
        };
        u64::try_from(integer(&time)?).map_err(|_| Declined)
    }

    /// Write the record of the new atom or edge; decline if the event adds none, or an unusual one.
    fn put_record(&self, out: &mut Vec<u8>) -> Encoded<()> {
        let is_edge = self.kind == EDGE_ADDED;
        if (!is_edge && self.kind != ATOM_ADDED)
            || !self.header.get_item(5)?.is_none()
            || self.detail.len() != 3
        {
            return Err(Declined);
        }
        let body = self.body.cast::<PyTuple>().map_err(|_| Declined)?;
        let (seq, time) = (self.header.get_item(0)?.extract()?, self.time()?);
        sized::<16>(&self.detail.get_item(0)?)?;
        if is_edge && body.len() == EDGE_BODY_FIELDS {
            let actor = self.header.get_item(3)?;
            let actor = actor.cast_exact::<PyString>().map_err(|_| Declined)?.to_str()?;
            return put_edge(out, seq, time, actor, &self.detail, body);
        }
        if is_edge || body.len() != ATOM_BODY_FIELDS {
            return Err(Declined);
        }
        let ordinal: u32 = self.detail.get_item(1)?.extract()?;
        put_atom(out, seq, time, u64::from(ordinal), body)
    }

    /// Put the rows of a record that `put_record` wrote, and the key that must not be in the store.
    fn put_rows(&self, keys: &Bound<'_, PyList>, rows: &Bound<'_, PyDict>, record: &[u8]) -> PyResult<()> {
        let py = rows.py();
        let record = PyBytes::new(py, record);
        let parts = [self.detail.get_item(0)?, self.detail.get_item(1)?, self.detail.get_item(2)?];
        if self.kind == ATOM_ADDED {
            let (id, ordinal) = (parts[0].cast::<PyBytes>()?, parts[1].extract::<u32>()?);
            let key = PyBytes::new(py, &[b"a/", id.as_bytes()].concat());
            rows.set_item(&key, record)?;
            keys.append(key)?;
            return put(rows, b"o/", &ordinal.to_be_bytes(), id);
        }
        let (src, code, dst) =
            (parts[0].cast::<PyBytes>()?, parts[1].cast::<PyBytes>()?, parts[2].cast::<PyBytes>()?);
        let (src, code, dst) = (src.as_bytes(), code.as_bytes(), dst.as_bytes());
        let key = PyBytes::new(py, &[b"e/from/", src, b"/", code, b"/", dst].concat());
        rows.set_item(&key, &record)?;
        keys.append(key)?;
        put(rows, b"e/to/", &[dst, b"/", code, b"/", src].concat(), &record)
    }
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
fn put_atom(out: &mut Vec<u8>, seq: u64, time: u64, ordinal: u64, body: &Bound<'_, PyTuple>) -> Encoded<()> {
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

/// Write the record of a new edge (`engine.ledger.records.encode_edge`).
fn put_edge(
    out: &mut Vec<u8>,
    seq: u64,
    time: u64,
    actor: &str,
    detail: &Bound<'_, PyTuple>,
    body: &Bound<'_, PyTuple>,
) -> Encoded<()> {
    cbor::array(out, EDGE_RECORD_FIELDS);
    cbor::bytes(out, &sized::<16>(&detail.get_item(0)?)?);
    cbor::bytes(out, raw(&detail.get_item(1)?)?);
    cbor::bytes(out, &sized::<16>(&detail.get_item(2)?)?);
    for number in [LIVE, seq, seq, seq] {
        cbor::uint(out, number);
    }
    cbor::bytes(out, raw(&body.get_item(0)?)?);
    cbor::bytes(out, raw(&body.get_item(1)?)?);
    cbor::uint(out, time);
    cbor::text(out, actor);
    cbor::null(out);
    cbor::text(out, "");
    cbor::text(out, "");
    Ok(())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(added_records, module)?)
}
