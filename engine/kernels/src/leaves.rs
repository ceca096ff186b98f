//! The leaves of the trees `atoms` and `edges`. The twin is `engine.followers.trees.added_leaves`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::cbor;
use crate::digests::{position, Digest, Role};
use crate::limits::{ATOM_ADDED, CODE_BYTES, EDGE_ADDED, HEADER_FIELDS, ID_BYTES};

/// The directions in the keys of edges (`proofs.leaves.Direction`).
const FROM: u8 = 0;
const TO: u8 = 1;

/// The event that created an atom or an edge.
struct Created {
    is_edge: bool,
    key: Vec<u8>,
    ordinal: u64,
    seq: u64,
    commitment: Digest,
}

/// Return the leaves of created atoms and of created edges, and the positions of all other entries.
#[pyfunction]
fn added_leaves<'py>(
    py: Python<'py>,
    entries: &Bound<'py, PyList>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<usize>)> {
    let (mut found, mut rest) = (Vec::with_capacity(entries.len()), Vec::new());
    for (at, entry) in entries.iter().enumerate() {
        match created(&entry) {
            Some(one) => found.push(one),
            None => rest.push(at),
        }
    }
    let digests = py.detach(|| digests_of(&found));
    let (atoms, edges) = (PyDict::new(py), PyDict::new(py));
    for (one, (places, value)) in found.iter().zip(&digests) {
        let leaves = if one.is_edge { &edges } else { &atoms };
        let value = PyBytes::new(py, value);
        for place in places {
            leaves.set_item(PyBytes::new(py, place), &value)?;
        }
    }
    Ok((atoms, edges, rest))
}

/// Read an entry that is the first on its atom or edge; return None if it is not, or is unusual.
fn created(entry: &Bound<'_, PyAny>) -> Option<Created> {
    let header = entry.cast::<PyTuple>().ok()?.get_item(0).ok()?;
    let header = header.cast::<PyTuple>().ok()?;
    if header.len() != HEADER_FIELDS || !header.get_item(5).ok()?.is_none() {
        return None;
    }
    let kind: u64 = header.get_item(2).ok()?.extract().ok()?;
    let detail = header.get_item(6).ok()?;
    let detail = detail.cast::<PyTuple>().ok()?;
    if detail.len() != 3 || (kind != ATOM_ADDED && kind != EDGE_ADDED) {
        return None;
    }
    let is_edge = kind == EDGE_ADDED;
    let mut key = bytes_in(&detail.get_item(0).ok()?)?;
    let mut ordinal = 0;
    if is_edge {
        let code = bytes_in(&detail.get_item(1).ok()?)?;
        let target = bytes_in(&detail.get_item(2).ok()?)?;
        if key.len() != ID_BYTES || code.is_empty() || code.len() > CODE_BYTES || target.len() != ID_BYTES {
            return None;
        }
        key.extend_from_slice(&code);
        key.extend_from_slice(&target);
    } else {
        ordinal = detail.get_item(1).ok()?.extract().ok()?;
    }
    let commitment = bytes_in(&header.get_item(4).ok()?)?.try_into().ok()?;
    Some(Created { is_edge, key, ordinal, seq: header.get_item(0).ok()?.extract().ok()?, commitment })
}

fn bytes_in(value: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    Some(value.cast::<PyBytes>().ok()?.as_bytes().to_vec())
}

/// Return the keys of an edge, source ‖ code ‖ target, in the tree: with its source first, and with its target first.
fn ends(edge: &[u8]) -> [Vec<u8>; 2] {
    let code = &edge[ID_BYTES..edge.len() - ID_BYTES];
    let (source, target) = (&edge[..ID_BYTES], &edge[edge.len() - ID_BYTES..]);
    [[&[FROM], source, code, target].concat(), [&[TO], target, code, source].concat()]
}

/// Return the places and the digest of the value of each leaf; an edge has a leaf at two places.
fn digests_of(created: &[Created]) -> Vec<(Vec<Digest>, Digest)> {
    let (keys, values) = (Role::new("key"), Role::new("value"));
    let mut raw = Vec::new();
    created
        .iter()
        .map(|one| {
            let namespace: &[u8] = if one.is_edge { b"edges" } else { b"atoms" };
            raw.clear();
            cbor::array(&mut raw, 7);
            for number in [0, one.ordinal, 1, one.seq, one.seq, one.seq] {
                cbor::uint(&mut raw, number);
            }
            cbor::bytes(&mut raw, &one.commitment);
            let places = if one.is_edge {
                ends(&one.key).iter().map(|key| position(&keys, namespace, key)).collect()
            } else {
                vec![position(&keys, namespace, &one.key)]
            };
            (places, values.digest(&[&[namespace.len() as u8], namespace, &raw]))
        })
        .collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(added_leaves, module)?)
}
