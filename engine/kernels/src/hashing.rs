//! Hashes of many byte strings at once.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

use crate::threads::map_chunks;

/// The number of leaves below which starting a second thread takes longer than it saves.
const LEAVES_PER_THREAD: usize = 512;

/// Return the leaf hash of RFC 6962: SHA-256 of a zero byte and the leaf.
pub fn leaf_hash(leaf: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(leaf);
    hasher.finalize().into()
}

/// Return the leaf hash of each of `leaves`. The twin is `proofs.log.leaf_hash`.
#[pyfunction]
fn leaf_hashes<'py>(py: Python<'py>, leaves: Vec<Bound<'py, PyBytes>>) -> Vec<Bound<'py, PyBytes>> {
    let raw: Vec<&[u8]> = leaves.iter().map(|leaf| leaf.as_bytes()).collect();
    let hashes = py.detach(|| map_chunks(&raw, LEAVES_PER_THREAD, |leaf| leaf_hash(leaf)));
    hashes.iter().map(|hash| PyBytes::new(py, hash)).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(leaf_hashes, module)?)
}
