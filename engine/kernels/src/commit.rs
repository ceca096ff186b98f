//! Events that add atoms: their ids, headers, payloads and records. The twins are in `engine/ledger/adding.py`.

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};
use sha2::{Digest, Sha256};

use crate::cbor;
use crate::hashing::leaf_hash;
use crate::records;
use crate::threads::map_chunks;

/// The format version in a header (`proofs.hashing.FORMAT`).
pub const FORMAT: u64 = 2;
/// `EventKind.ATOM_ADDED`.
const ATOM_ADDED: u64 = 1;
/// `State.LIVE`.
pub const LIVE: u64 = 0;
/// The length of the bodies that `AtomBody` describes, and the number of fields that are not further fields.
const BODY_FIELDS: usize = 17;
const FIRST_FIELDS: usize = 12;
pub const COMMITMENT: &str = "memroot v1 commitment";
/// The number of events below which starting a second thread takes longer than it saves.
pub const EVENTS_PER_THREAD: usize = 256;
const INTEGER_MAX: u64 = i64::MAX as u64;

/// Why a kernel does not compute a result: the arguments are unusual, or Python raised an error.
pub struct Declined;

impl From<PyErr> for Declined {
    fn from(_: PyErr) -> Self {
        Declined
    }
}

pub type Encoded<T> = Result<T, Declined>;

/// One event that adds an atom, as far as it can be encoded before anything is hashed.
pub struct Event {
    pub seq: u64,
    pub time: u64,
    pub ordinal: u64,
    pub id: [u8; 16],
    pub payload: Vec<u8>,
    pub record: Vec<u8>,
}

struct Sealed {
    header: Vec<u8>,
    commitment: [u8; 32],
    leaf: [u8; 32],
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

pub fn integer(value: &Bound<'_, PyAny>) -> Encoded<i64> {
    Ok(value.cast_exact::<PyInt>().map_err(|_| Declined)?.extract()?)
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
pub fn put_record(out: &mut Vec<u8>, event: &Event, body: &Bound<'_, PyTuple>) -> Encoded<()> {
    let field = |at: usize| body.get_item(at);
    // The source, the sequence, the title, the key and the trust are left out from the last None on.
    let last = [field(5)?, field(6)?, field(1)?, field(11)?, field(8)?];
    let given = last.iter().rposition(|value| !value.is_none()).map_or(0, |at| at + 1);
    cbor::array(out, (records::FIELDS_MIN + given) as u64);
    for number in [event.ordinal, LIVE, 1, event.seq, 0, 0] {
        cbor::uint(out, number);
    }
    let (created, time) = (field(9)?, i64::try_from(event.time).map_err(|_| Declined)?);
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

/// Compute the commitment, the header and the leaf of an event.
fn seal(event: &Event, actor: &str, prepared: &Hasher) -> Sealed {
    let mut hasher = prepared.clone();
    hasher.update(&event.payload);
    let commitment: [u8; 32] = hasher.finalize().into();
    let mut header = Vec::with_capacity(96 + actor.len());
    cbor::array(&mut header, 10);
    for number in [FORMAT, event.seq, event.time, ATOM_ADDED] {
        cbor::uint(&mut header, number);
    }
    cbor::text(&mut header, actor);
    cbor::bytes(&mut header, &commitment);
    cbor::null(&mut header);
    cbor::bytes(&mut header, &event.id);
    cbor::uint(&mut header, event.ordinal);
    cbor::null(&mut header);
    let leaf = leaf_hash(&header);
    Sealed { header, commitment, leaf }
}

/// The frontier of the log (`proofs.log.Frontier`).
pub struct Frontier {
    pub size: u64,
    subtrees: Vec<[u8; 32]>,
}

impl Frontier {
    pub fn from_bytes(raw: &[u8]) -> Encoded<Self> {
        let (size, hashes) = raw.split_first_chunk::<8>().ok_or(Declined)?;
        let size = u64::from_be_bytes(*size);
        let subtrees: Vec<[u8; 32]> =
            hashes.chunks_exact(32).filter_map(|hash| hash.try_into().ok()).collect();
        if size > INTEGER_MAX || hashes.len() != 32 * size.count_ones() as usize {
            return Err(Declined);
        }
        Ok(Frontier { size, subtrees })
    }

    pub fn append(&mut self, leaf: [u8; 32]) {
        let (mut node, mut size) = (leaf, self.size);
        while size & 1 == 1 {
            let Some(left) = self.subtrees.pop() else { break };
            let mut hasher = Sha256::new();
            hasher.update([1]);
            hasher.update(left);
            hasher.update(node);
            node = hasher.finalize().into();
            size >>= 1;
        }
        self.subtrees.push(node);
        self.size += 1;
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut raw = self.size.to_be_bytes().to_vec();
        raw.extend(self.subtrees.iter().flatten());
        raw
    }
}

fn encode_events(
    first: u64,
    ordinal: u64,
    ids: &Bound<'_, PyList>,
    bodies: &Bound<'_, PyList>,
    salts: &Bound<'_, PyList>,
    times: &Bound<'_, PyList>,
) -> Encoded<Vec<Event>> {
    let count = ids.len();
    if bodies.len() != count || salts.len() != count || times.len() != count {
        return Err(Declined);
    }
    let last = ordinal.checked_add(count as u64).ok_or(Declined)?;
    if last > u64::from(u32::MAX) || first.checked_add(count as u64).ok_or(Declined)? > INTEGER_MAX {
        return Err(Declined);
    }
    let mut events = Vec::with_capacity(count);
    for at in 0..count {
        let id = ids.get_item(at)?;
        let id = id.cast_exact::<PyBytes>().map_err(|_| Declined)?.as_bytes();
        let salt = salts.get_item(at)?;
        let salt = salt.cast_exact::<PyBytes>().map_err(|_| Declined)?.as_bytes();
        let body = bodies.get_item(at)?;
        let body = body.cast::<PyTuple>().map_err(|_| Declined)?;
        let time = u64::try_from(integer(&times.get_item(at)?)?).map_err(|_| Declined)?;
        if salt.len() != 32 {
            return Err(Declined);
        }
        let mut event = Event {
            seq: first + at as u64,
            time,
            ordinal: ordinal + at as u64,
            id: id.try_into().map_err(|_| Declined)?,
            payload: Vec::with_capacity(512),
            record: Vec::new(),
        };
        event.payload.extend_from_slice(salt);
        put_body(&mut event.payload, body)?;
        let mut record = Vec::with_capacity(192);
        put_record(&mut record, &event, body)?;
        event.record = record;
        events.push(event);
    }
    Ok(events)
}

fn key(prefix: &[u8; 2], rest: &[u8]) -> Vec<u8> {
    [prefix.as_slice(), rest].concat()
}

type Rows<'py> = (Bound<'py, PyDict>, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyBytes>, u64);

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
    let Ok(mut frontier) = Frontier::from_bytes(frontier) else { return Ok(None) };
    let Ok(events) = encode_events(frontier.size, ordinal, ids, bodies, salts, times) else {
        return Ok(None);
    };
    let sealed = py.detach(|| {
        let prepared = Hasher::new_derive_key(COMMITMENT);
        let sealed = map_chunks(&events, EVENTS_PER_THREAD, |event| seal(event, actor, &prepared));
        for one in &sealed {
            frontier.append(one.leaf);
        }
        sealed
    });
    let rows = PyDict::new(py);
    let (commitments, leaves) = (PyList::empty(py), PyList::empty(py));
    let mut size = 0;
    for (at, (event, one)) in events.iter().zip(&sealed).enumerate() {
        let put = |key: &[u8], value: &[u8]| rows.set_item(PyBytes::new(py, key), PyBytes::new(py, value));
        let seq = event.seq.to_be_bytes();
        put(&key(b"j/", &seq), &one.header)?;
        put(&key(b"p/", &seq), &event.payload)?;
        put(&key(b"a/", &event.id), &event.record)?;
        rows.set_item(
            PyBytes::new(py, &key(b"o/", &(event.ordinal as u32).to_be_bytes())),
            ids.get_item(at)?,
        )?;
        commitments.append(PyBytes::new(py, &one.commitment))?;
        leaves.append(PyBytes::new(py, &one.leaf))?;
        size += (one.header.len() + event.payload.len()) as u64;
    }
    Ok(Some((rows, commitments, leaves, PyBytes::new(py, &frontier.to_bytes()), size)))
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
