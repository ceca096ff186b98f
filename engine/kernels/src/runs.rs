//! Runs of new events of one kind: their headers, payloads and leaves, and the rows of their records.

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList};

use crate::cbor;
use crate::hashing::leaf_hash;
use crate::limits::FORMAT;
use crate::log::Frontier;
use crate::threads::map_chunks;

/// `State.LIVE`.
pub const LIVE: u64 = 0;
const HEADER_FIELDS: u64 = 10;
const COMMITMENT: &str = "memroot v1 commitment";
/// The number of events below which starting a second thread takes longer than it saves.
const EVENTS_PER_THREAD: usize = 256;

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

/// The atom or edge that an event adds, with its record.
pub trait Subject: Sync + Sized {
    /// The number of the event kind.
    const KIND: u64;

    /// Write the three fields of the detail of the header.
    fn put_detail(&self, out: &mut Vec<u8>);

    /// Put the rows of the record.
    fn put_rows(&self, rows: &Bound<'_, PyDict>) -> PyResult<()>;

    /// Read the subject of the event at `at`, and write the canonical bytes of its body.
    fn read(at: usize, seq: u64, time: u64, inputs: &Inputs<'_>, payload: &mut Vec<u8>) -> Encoded<Self>;
}

/// The values from which a run is made. The lists have one item for each event.
pub struct Inputs<'a> {
    pub actor: &'a str,
    /// The first ordinal; 0 for edges.
    pub ordinal: u64,
    pub subjects: &'a Bound<'a, PyList>,
    pub bodies: &'a Bound<'a, PyList>,
    pub salts: &'a Bound<'a, PyList>,
    pub times: &'a Bound<'a, PyList>,
}

/// One event, as far as it can be encoded before anything is hashed.
struct Event<S> {
    seq: u64,
    time: u64,
    payload: Vec<u8>,
    subject: S,
}

struct Sealed {
    header: Vec<u8>,
    commitment: [u8; 32],
    leaf: [u8; 32],
}

fn read_events<S: Subject>(first: u64, inputs: &Inputs<'_>) -> Encoded<Vec<Event<S>>> {
    let count = inputs.subjects.len();
    if [inputs.bodies, inputs.salts, inputs.times].iter().any(|list| list.len() != count) {
        return Err(Declined);
    }
    let read = |at: usize| {
        let seq = first + at as u64;
        let time = u64::try_from(integer(&inputs.times.get_item(at)?)?).map_err(|_| Declined)?;
        let mut payload = Vec::with_capacity(512);
        payload.extend(sized::<32>(&inputs.salts.get_item(at)?)?);
        let subject = S::read(at, seq, time, inputs, &mut payload)?;
        Ok(Event { seq, time, payload, subject })
    };
    (0..count).map(read).collect()
}

/// Compute the commitment, the header and the leaf of an event.
fn seal<S: Subject>(event: &Event<S>, actor: &str, prepared: &Hasher) -> Sealed {
    let commitment: [u8; 32] = prepared.clone().update(&event.payload).finalize().into();
    let mut header = Vec::with_capacity(128 + actor.len());
    cbor::array(&mut header, HEADER_FIELDS);
    for number in [FORMAT, event.seq, event.time, S::KIND] {
        cbor::uint(&mut header, number);
    }
    cbor::text(&mut header, actor);
    cbor::bytes(&mut header, &commitment);
    cbor::null(&mut header);
    event.subject.put_detail(&mut header);
    let leaf = leaf_hash(&header);
    Sealed { header, commitment, leaf }
}

/// The rows, the commitments, the leaves, the new frontier, and the number of bytes of headers and payloads.
pub type Rows<'py> = (Bound<'py, PyDict>, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyBytes>, u64);

/// Return the rows of a run of events that continue the log with this frontier, or None to decline.
pub fn rows_of<'py, S: Subject + Send>(
    py: Python<'py>,
    frontier: &[u8],
    inputs: &Inputs<'_>,
) -> PyResult<Option<Rows<'py>>> {
    let Some(mut frontier) = Frontier::from_bytes(frontier) else { return Ok(None) };
    if !frontier.has_room(inputs.subjects.len()) {
        return Ok(None);
    }
    let Ok(events) = read_events::<S>(frontier.size, inputs) else { return Ok(None) };
    let actor = inputs.actor;
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
        event.subject.put_rows(&rows)?;
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
