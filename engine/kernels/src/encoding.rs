//! The journal rows of new events: headers, payloads and leaves. The twin is `engine.ledger.appender.encoded_twin`.

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::cbor;
use crate::hashing::leaf_hash;
use crate::limits::{
    ATOM_ADDED, ATOM_FIRST_FIELDS, ATOM_REVISED, ATOM_REVIVED, ATOM_TOMBSTONED, EDGE_ADDED, EDGE_REMOVED,
    FORMAT, FURTHER_OF_ATOM, FURTHER_OF_OTHERS, TAGS_ADDED, TAGS_REMOVED,
};
use crate::log::Frontier;
use crate::threads::map_chunks;

/// The number of items of a header, without the last field of a revision or of an event on an edge.
const HEADER_FIELDS: u64 = 9;
const COMMITMENT: &str = "memroot 3 commitment";
/// The number of events below which starting a second thread takes longer than it saves.
const EVENTS_PER_THREAD: usize = 256;
/// The number of fields of a draft, and of a detail of an atom or edge.
const DRAFT_FIELDS: usize = 5;
const ORIGIN_FIELDS: usize = 5;
const DETAIL_FIELDS: usize = 3;

/// Why a kernel does not compute a result: the arguments are unusual, or Python raised an error.
pub struct Declined;

impl From<PyErr> for Declined {
    fn from(_: PyErr) -> Self {
        Declined
    }
}

pub type Encoded<T> = Result<T, Declined>;

pub fn integer(value: &Bound<'_, PyAny>) -> Encoded<i64> {
    Ok(value.cast_exact::<PyInt>().map_err(|_| Declined)?.extract()?)
}

pub fn raw<'py>(value: &'py Bound<'_, PyAny>) -> Encoded<&'py [u8]> {
    Ok(value.cast_exact::<PyBytes>().map_err(|_| Declined)?.as_bytes())
}

pub fn sized<const N: usize>(value: &Bound<'_, PyAny>) -> Encoded<[u8; N]> {
    raw(value)?.try_into().map_err(|_| Declined)
}

/// Write a text. `PyString` refuses subclasses whose content may differ, and lone surrogates have no UTF-8.
pub fn put_text(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    cbor::text(out, value.cast_exact::<PyString>().map_err(|_| Declined)?.to_str()?);
    Ok(())
}

pub fn put_optional_text(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    if value.is_none() {
        cbor::null(out);
        return Ok(());
    }
    put_text(out, value)
}

pub fn put_optional_integer(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
    if value.is_none() {
        cbor::null(out);
    } else {
        cbor::int(out, integer(value)?);
    }
    Ok(())
}

pub fn put_texts(out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> Encoded<()> {
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

/// Write the canonical bytes of a body (`proofs.codec.encode_body`), whose first fields are those of its kind.
fn put_body(out: &mut Vec<u8>, kind: u64, body: &Bound<'_, PyTuple>) -> Encoded<()> {
    let (first, numbers): (usize, &[u64]) = match kind {
        ATOM_ADDED | ATOM_REVISED => (ATOM_FIRST_FIELDS, &FURTHER_OF_ATOM),
        EDGE_ADDED => (2, &FURTHER_OF_OTHERS),
        TAGS_ADDED | TAGS_REMOVED | ATOM_TOMBSTONED | ATOM_REVIVED | EDGE_REMOVED => (1, &FURTHER_OF_OTHERS),
        _ => return Err(Declined),
    };
    if body.len() != first + numbers.len() {
        return Err(Declined);
    }
    let field = |at: usize| body.get_item(at);
    let mut further = 0;
    for at in first..body.len() {
        further += u64::from(!field(at)?.is_none());
    }
    cbor::array(out, first as u64 + u64::from(further > 0));
    match kind {
        ATOM_ADDED | ATOM_REVISED => put_atom(out, body)?,
        EDGE_ADDED => {
            cbor::bytes(out, raw(&field(0)?)?);
            cbor::bytes(out, raw(&field(1)?)?);
        }
        TAGS_ADDED | TAGS_REMOVED => put_texts(out, &field(0)?)?,
        _ => put_text(out, &field(0)?)?,
    }
    if further == 0 {
        return Ok(());
    }
    cbor::map(out, further);
    for (number, at) in numbers.iter().zip(first..) {
        let value = field(at)?;
        if value.is_none() {
            continue;
        }
        cbor::uint(out, *number);
        match *number {
            2 => put_meta(out, &value)?,
            3 => put_texts(out, &value)?,
            _ => put_text(out, &value)?,
        }
    }
    Ok(())
}

/// Write the first fields of an `AtomBody`.
fn put_atom(out: &mut Vec<u8>, body: &Bound<'_, PyTuple>) -> Encoded<()> {
    let field = |at: usize| body.get_item(at);
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
    put_optional_integer(out, &field(10)?)?;
    put_optional_text(out, &field(11)?)
}

/// Write the fields of the detail of an event on an atom or an edge.
fn put_detail(out: &mut Vec<u8>, kind: u64, detail: &Bound<'_, PyTuple>) -> Encoded<()> {
    if detail.len() != DETAIL_FIELDS {
        return Err(Declined);
    }
    cbor::bytes(out, &sized::<16>(&detail.get_item(0)?)?);
    if kind == EDGE_ADDED || kind == EDGE_REMOVED {
        cbor::bytes(out, raw(&detail.get_item(1)?)?);
        cbor::bytes(out, &sized::<16>(&detail.get_item(2)?)?);
        return Ok(());
    }
    cbor::int(out, integer(&detail.get_item(1)?)?);
    if kind == ATOM_REVISED {
        cbor::int(out, integer(&detail.get_item(2)?)?);
    }
    Ok(())
}

/// One event, as far as it can be encoded before anything is hashed.
struct Event {
    kind: u64,
    seq: u64,
    time: u64,
    payload: Vec<u8>,
    /// The last fields of the header: `prev`, the detail and the origin, if there is one.
    rest: Vec<u8>,
    has_origin: bool,
}

/// What is computed for one event without Python.
struct Sealed {
    header: Vec<u8>,
    commitment: [u8; 32],
    leaf: [u8; 32],
}

/// Write the origin of an event: the store, its seq there, its kind, its commitment and its time.
fn put_origin(out: &mut Vec<u8>, origin: &Bound<'_, PyAny>) -> Encoded<()> {
    let origin = origin.cast::<PyTuple>().map_err(|_| Declined)?;
    if origin.len() != ORIGIN_FIELDS {
        return Err(Declined);
    }
    cbor::array(out, ORIGIN_FIELDS as u64);
    cbor::bytes(out, &sized::<16>(&origin.get_item(0)?)?);
    cbor::int(out, integer(&origin.get_item(1)?)?);
    cbor::int(out, integer(&origin.get_item(2)?)?);
    cbor::bytes(out, &sized::<32>(&origin.get_item(3)?)?);
    cbor::int(out, integer(&origin.get_item(4)?)?);
    Ok(())
}

/// Read a draft: the kind, the seq of the previous event on the subject, the detail, the body and the origin.
fn read_draft(draft: &Bound<'_, PyAny>, seq: u64, time: u64, salt: [u8; 32]) -> Encoded<Event> {
    let draft = draft.cast::<PyTuple>().map_err(|_| Declined)?;
    if draft.len() != DRAFT_FIELDS {
        return Err(Declined);
    }
    let kind: u64 = draft.get_item(0)?.extract()?;
    let (detail, body) = (draft.get_item(2)?, draft.get_item(3)?);
    let mut rest = Vec::with_capacity(64);
    put_optional_integer(&mut rest, &draft.get_item(1)?)?;
    let mut payload = Vec::with_capacity(512);
    payload.extend(salt);
    put_body(&mut payload, kind, body.cast::<PyTuple>().map_err(|_| Declined)?)?;
    put_detail(&mut rest, kind, detail.cast::<PyTuple>().map_err(|_| Declined)?)?;
    let origin = draft.get_item(4)?;
    let has_origin = !origin.is_none();
    if has_origin {
        put_origin(&mut rest, &origin)?;
    }
    Ok(Event { kind, seq, time, payload, rest, has_origin })
}

/// Read all drafts of a run, whose first event has the seq `first`.
fn read_drafts(
    drafts: &Bound<'_, PyList>,
    salts: &Bound<'_, PyList>,
    times: &Bound<'_, PyList>,
    first: u64,
) -> Encoded<Vec<Event>> {
    if salts.len() != drafts.len() || times.len() != drafts.len() {
        return Err(Declined);
    }
    let read = |(at, draft): (usize, Bound<'_, PyAny>)| {
        let time = u64::try_from(integer(&times.get_item(at)?)?).map_err(|_| Declined)?;
        read_draft(&draft, first + at as u64, time, sized(&salts.get_item(at)?)?)
    };
    drafts.iter().enumerate().map(read).collect()
}

/// Compute the commitment, the header and the leaf of an event.
fn seal(event: &Event, actor: &str, prepared: &Hasher) -> Sealed {
    let commitment: [u8; 32] = prepared.clone().update(&event.payload).finalize().into();
    let mut header = Vec::with_capacity(128 + actor.len());
    let longer = matches!(event.kind, ATOM_REVISED | EDGE_ADDED | EDGE_REMOVED);
    cbor::array(&mut header, HEADER_FIELDS + u64::from(longer) + u64::from(event.has_origin));
    for number in [FORMAT, event.seq, event.time, event.kind] {
        cbor::uint(&mut header, number);
    }
    cbor::text(&mut header, actor);
    cbor::bytes(&mut header, &commitment);
    header.extend_from_slice(&event.rest);
    let leaf = leaf_hash(&header);
    Sealed { header, commitment, leaf }
}

/// The rows, the commitments, the leaves, the new frontier, and the number of bytes of headers and payloads.
type Rows<'py> = (Bound<'py, PyDict>, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyBytes>, u64);

/// Return the rows of a run of events that continue the log with this frontier, or None to decline.
#[pyfunction]
fn encoded_events<'py>(
    py: Python<'py>,
    frontier: &[u8],
    actor: &str,
    drafts: &Bound<'py, PyList>,
    salts: &Bound<'py, PyList>,
    times: &Bound<'py, PyList>,
) -> PyResult<Option<Rows<'py>>> {
    let Some(mut frontier) = Frontier::from_bytes(frontier) else { return Ok(None) };
    if !frontier.has_room(drafts.len()) {
        return Ok(None);
    }
    let Ok(events) = read_drafts(drafts, salts, times, frontier.size) else { return Ok(None) };
    let (sealed, extended) = py.detach(|| {
        let prepared = Hasher::new_derive_key(COMMITMENT);
        let sealed = map_chunks(&events, EVENTS_PER_THREAD, |event| seal(event, actor, &prepared));
        let extended = sealed.iter().try_for_each(|one| frontier.append(one.leaf));
        (sealed, extended)
    });
    if extended.is_none() {
        return Ok(None);
    }
    let rows = PyDict::new(py);
    let (commitments, leaves) = (PyList::empty(py), PyList::empty(py));
    let mut size = 0;
    for (event, one) in events.iter().zip(&sealed) {
        let seq = event.seq.to_be_bytes();
        put(&rows, b"j/", &seq, &PyBytes::new(py, &one.header))?;
        put(&rows, b"p/", &seq, &PyBytes::new(py, &event.payload))?;
        commitments.append(PyBytes::new(py, &one.commitment))?;
        leaves.append(PyBytes::new(py, &one.leaf))?;
        size += (one.header.len() + event.payload.len()) as u64;
    }
    Ok(Some((rows, commitments, leaves, PyBytes::new(py, &frontier.to_bytes()), size)))
}

/// Put a row whose key has a prefix.
pub fn put(rows: &Bound<'_, PyDict>, prefix: &[u8], rest: &[u8], value: &Bound<'_, PyBytes>) -> PyResult<()> {
    rows.set_item(PyBytes::new(rows.py(), &[prefix, rest].concat()), value)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(encoded_events, module)?)
}
