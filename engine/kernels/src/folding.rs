//! The records of atoms that a run of events adds. The twin is `engine.ledger.fold.fold`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::commit::{put_atom_rows, put_record};
use crate::limits::{ATOM_ADDED, ATOM_BODY_FIELDS as BODY_FIELDS};
use crate::runs::{Declined, Encoded};

/// Return (position of each event that adds an atom → id of the atom, rows of the records and ordinals).
///
/// The records are those of atoms that were never recorded; events whose prev is not null are left out.
#[pyfunction]
fn added_records<'py>(
    py: Python<'py>,
    entries: &Bound<'py, PyList>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let (ids, rows) = (PyDict::new(py), PyDict::new(py));
    let mut record = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        record.clear();
        let Ok(Some((id, ordinal))) = added_record(&entry, &mut record) else { continue };
        put_atom_rows(&rows, &id, ordinal, &record)?;
        ids.set_item(at, PyBytes::new(py, &id))?;
    }
    Ok((ids, rows))
}

/// Write the record of the atom that an entry adds; return its id and ordinal, or None if it adds no new atom.
fn added_record(entry: &Bound<'_, PyAny>, record: &mut Vec<u8>) -> Encoded<Option<([u8; 16], u64)>> {
    let entry = entry.cast::<PyTuple>().map_err(|_| Declined)?;
    let (header, body) = (entry.get_item(0)?, entry.get_item(1)?);
    let header = header.cast::<PyTuple>().map_err(|_| Declined)?;
    let kind: u64 = header.get_item(2)?.extract()?;
    if kind != ATOM_ADDED || !header.get_item(5)?.is_none() {
        return Ok(None);
    }
    let body = body.cast::<PyTuple>().map_err(|_| Declined)?;
    let detail = header.get_item(6)?;
    let detail = detail.cast::<PyTuple>().map_err(|_| Declined)?;
    if body.len() != BODY_FIELDS || detail.len() != 3 {
        return Err(Declined);
    }
    let id = detail.get_item(0)?;
    let id = id.cast::<PyBytes>().map_err(|_| Declined)?.as_bytes().try_into().map_err(|_| Declined)?;
    let ordinal: u32 = detail.get_item(1)?.extract()?;
    let (seq, time) = (header.get_item(0)?.extract()?, header.get_item(1)?.extract()?);
    put_record(record, seq, time, u64::from(ordinal), body)?;
    Ok(Some((id, u64::from(ordinal))))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(added_records, module)?)
}
