//! Events that add edges: their headers, payloads and records. The twin is in `engine/ledger/linking.py`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::cbor;
use crate::limits::EDGE_ADDED;
use crate::runs::{put, raw, rows_of, sized, Declined, Encoded, Inputs, Rows, Subject, LIVE};

/// The length of the bodies that `EdgeBody` describes: weight, data, request and origin.
const BODY_FIELDS: usize = 4;
/// The number of fields of a record.
const RECORD_FIELDS: u64 = 14;

/// An edge that is added.
struct NewEdge {
    src: [u8; 16],
    code: Vec<u8>,
    dst: [u8; 16],
    record: Vec<u8>,
}

impl Subject for NewEdge {
    const KIND: u64 = EDGE_ADDED;

    fn put_detail(&self, out: &mut Vec<u8>) {
        cbor::bytes(out, &self.src);
        cbor::bytes(out, &self.code);
        cbor::bytes(out, &self.dst);
    }

    fn put_rows(&self, rows: &Bound<'_, PyDict>) -> PyResult<()> {
        let record = PyBytes::new(rows.py(), &self.record);
        put(rows, b"e/from/", &key(&self.src, &self.code, &self.dst), &record)?;
        put(rows, b"e/to/", &key(&self.dst, &self.code, &self.src), &record)
    }

    fn read(at: usize, seq: u64, time: u64, inputs: &Inputs<'_>, payload: &mut Vec<u8>) -> Encoded<Self> {
        let (edge, body) = (inputs.subjects.get_item(at)?, inputs.bodies.get_item(at)?);
        let edge = edge.cast::<PyTuple>().map_err(|_| Declined)?;
        let body = body.cast::<PyTuple>().map_err(|_| Declined)?;
        if edge.len() != 3 || body.len() != BODY_FIELDS {
            return Err(Declined);
        }
        let weight: [u8; 4] = sized(&body.get_item(0)?)?;
        let data = body.get_item(1)?;
        let data = raw(&data)?;
        let further = [body.get_item(2)?, body.get_item(3)?];
        let given = further.iter().filter(|field| !field.is_none()).count() as u64;
        cbor::array(payload, 2 + u64::from(given > 0));
        cbor::bytes(payload, &weight);
        cbor::bytes(payload, data);
        if given > 0 {
            cbor::map(payload, given);
        }
        for (number, field) in (0..).zip(&further).filter(|(_, field)| !field.is_none()) {
            cbor::uint(payload, number);
            let field = field.cast_exact::<PyString>().map_err(|_| Declined)?;
            cbor::text(payload, field.to_str().map_err(|_| Declined)?);
        }
        let mut new = NewEdge {
            src: sized(&edge.get_item(0)?)?,
            code: raw(&edge.get_item(1)?)?.to_vec(),
            dst: sized(&edge.get_item(2)?)?,
            record: Vec::new(),
        };
        new.record = new.encoded(seq, time, &weight, data, inputs.actor);
        Ok(new)
    }
}

impl NewEdge {
    /// Return the record (`engine.ledger.records.encode_edge`).
    fn encoded(&self, seq: u64, time: u64, weight: &[u8; 4], data: &[u8], actor: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(96 + data.len());
        cbor::array(&mut out, RECORD_FIELDS);
        self.put_detail(&mut out);
        for number in [LIVE, seq, seq, seq] {
            cbor::uint(&mut out, number);
        }
        cbor::bytes(&mut out, weight);
        cbor::bytes(&mut out, data);
        cbor::uint(&mut out, time);
        cbor::text(&mut out, actor);
        cbor::null(&mut out);
        cbor::text(&mut out, "");
        cbor::text(&mut out, "");
        out
    }
}

/// Return the key of an edge without its prefix: the parts with slashes between them.
fn key(near: &[u8; 16], code: &[u8], far: &[u8; 16]) -> Vec<u8> {
    [near, &b"/"[..], code, b"/", far].concat()
}

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
    rows_of::<NewEdge>(py, frontier, &Inputs { actor, ordinal: 0, subjects: edges, bodies, salts, times })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(linked_rows, module)?)
}
