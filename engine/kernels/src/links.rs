//! Events that add edges: their headers, payloads and records. The twin is in `engine/ledger/linking.py`.

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::cbor;
use crate::commit::{integer, Declined, Encoded, Frontier, COMMITMENT, EVENTS_PER_THREAD, FORMAT, LIVE};
use crate::hashing::leaf_hash;
use crate::threads::map_chunks;

/// `EventKind.EDGE_ADDED`.
const EDGE_ADDED: u64 = 8;
/// The length of the bodies that `EdgeBody` describes: weight, data, request and origin.
const BODY_FIELDS: usize = 4;

/// One event that adds an edge.
struct Event {
    seq: u64,
    time: u64,
    src: [u8; 16],
    code: Vec<u8>,
    dst: [u8; 16],
    weight: [u8; 4],
    data: Vec<u8>,
    payload: Vec<u8>,
}

struct Sealed {
    header: Vec<u8>,
    record: Vec<u8>,
    commitment: [u8; 32],
    leaf: [u8; 32],
}

fn raw<'py>(value: &'py Bound<'_, PyAny>) -> Encoded<&'py [u8]> {
    Ok(value.cast_exact::<PyBytes>().map_err(|_| Declined)?.as_bytes())
}

fn sized<const N: usize>(value: &Bound<'_, PyAny>) -> Encoded<[u8; N]> {
    raw(value)?.try_into().map_err(|_| Declined)
}

fn read_event(
    seq: u64,
    edge: &Bound<'_, PyAny>,
    body: &Bound<'_, PyAny>,
    salt: &Bound<'_, PyAny>,
    time: &Bound<'_, PyAny>,
) -> Encoded<Event> {
    let edge = edge.cast::<PyTuple>().map_err(|_| Declined)?;
    let body = body.cast::<PyTuple>().map_err(|_| Declined)?;
    if edge.len() != 3 || body.len() != BODY_FIELDS {
        return Err(Declined);
    }
    // Bodies with further fields are rare and left to the twin.
    if !body.get_item(2)?.is_none() || !body.get_item(3)?.is_none() {
        return Err(Declined);
    }
    let weight = sized(&body.get_item(0)?)?;
    let data = raw(&body.get_item(1)?)?.to_vec();
    let mut payload = sized::<32>(salt)?.to_vec();
    cbor::array(&mut payload, 2);
    cbor::bytes(&mut payload, &weight);
    cbor::bytes(&mut payload, &data);
    Ok(Event {
        seq,
        time: u64::try_from(integer(time)?).map_err(|_| Declined)?,
        src: sized(&edge.get_item(0)?)?,
        code: raw(&edge.get_item(1)?)?.to_vec(),
        dst: sized(&edge.get_item(2)?)?,
        weight,
        data,
        payload,
    })
}

/// Write the source, the type and the target of an edge.
fn put_edge(out: &mut Vec<u8>, event: &Event) {
    cbor::bytes(out, &event.src);
    cbor::bytes(out, &event.code);
    cbor::bytes(out, &event.dst);
}

/// Return the record of a new edge (`engine.ledger.records.encode_edge`).
fn record_of(event: &Event, actor: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(96 + event.data.len());
    cbor::array(&mut out, 14);
    put_edge(&mut out, event);
    for number in [LIVE, event.seq, event.seq, event.seq] {
        cbor::uint(&mut out, number);
    }
    cbor::bytes(&mut out, &event.weight);
    cbor::bytes(&mut out, &event.data);
    cbor::uint(&mut out, event.time);
    cbor::text(&mut out, actor);
    cbor::null(&mut out);
    cbor::text(&mut out, "");
    cbor::text(&mut out, "");
    out
}

/// Compute the commitment, the header, the record and the leaf of an event.
fn seal(event: &Event, actor: &str, prepared: &Hasher) -> Sealed {
    let commitment: [u8; 32] = prepared.clone().update(&event.payload).finalize().into();
    let mut header = Vec::with_capacity(128 + actor.len());
    cbor::array(&mut header, 10);
    for number in [FORMAT, event.seq, event.time, EDGE_ADDED] {
        cbor::uint(&mut header, number);
    }
    cbor::text(&mut header, actor);
    cbor::bytes(&mut header, &commitment);
    cbor::null(&mut header);
    put_edge(&mut header, event);
    let leaf = leaf_hash(&header);
    Sealed { header, record: record_of(event, actor), commitment, leaf }
}

/// Return the key of an edge: the prefix, and the parts with slashes between them.
fn edge_key(prefix: &[u8], near: &[u8; 16], code: &[u8], far: &[u8; 16]) -> Vec<u8> {
    [prefix, near, b"/", code, b"/", far].concat()
}

type Rows<'py> = (Bound<'py, PyDict>, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyBytes>, u64);

/// Return the rows, the commitments, the leaves, the new frontier and the size of events that add edges.
#[pyfunction]
fn linked_rows<'py>(
    py: Python<'py>,
    frontier: &[u8],
    actor: &str,
    edges: &Bound<'py, PyList>,
    bodies: &Bound<'py, PyList>,
    salts: &Bound<'py, PyList>,
    times: &Bound<'py, PyList>,
) -> PyResult<Option<Rows<'py>>> {
    let Ok(mut frontier) = Frontier::from_bytes(frontier) else { return Ok(None) };
    let count = edges.len();
    if bodies.len() != count || salts.len() != count || times.len() != count {
        return Ok(None);
    }
    let mut events = Vec::with_capacity(count);
    for at in 0..count {
        let (edge, body) = (edges.get_item(at)?, bodies.get_item(at)?);
        let (salt, time) = (salts.get_item(at)?, times.get_item(at)?);
        let Ok(event) = read_event(frontier.size + at as u64, &edge, &body, &salt, &time) else {
            return Ok(None);
        };
        events.push(event);
    }
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
    for (event, one) in events.iter().zip(&sealed) {
        let seq = event.seq.to_be_bytes();
        let record = PyBytes::new(py, &one.record);
        rows.set_item(PyBytes::new(py, &[b"j/", &seq[..]].concat()), PyBytes::new(py, &one.header))?;
        rows.set_item(PyBytes::new(py, &[b"p/", &seq[..]].concat()), PyBytes::new(py, &event.payload))?;
        let from = edge_key(b"e/from/", &event.src, &event.code, &event.dst);
        let to = edge_key(b"e/to/", &event.dst, &event.code, &event.src);
        rows.set_item(PyBytes::new(py, &from), &record)?;
        rows.set_item(PyBytes::new(py, &to), &record)?;
        commitments.append(PyBytes::new(py, &one.commitment))?;
        leaves.append(PyBytes::new(py, &one.leaf))?;
        size += (one.header.len() + event.payload.len()) as u64;
    }
    Ok(Some((rows, commitments, leaves, PyBytes::new(py, &frontier.to_bytes()), size)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(linked_rows, module)?)
}
