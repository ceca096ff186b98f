//! The log: the Merkle tree of RFC 6962. The twins are in `proofs.log` and `engine.followers.log`.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

type Hash = [u8; 32];

/// Return an inner node: SHA-256 of a one byte and the two hashes below it.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([1]);
    hasher.update(left);
    hasher.update(right);
    hasher.finalize().into()
}

/// Return the root over each `width` consecutive hashes, or None to decline. `width` must be a power of two.
///
/// Hashes after the last complete group are ignored.
#[pyfunction]
fn complete_roots<'py>(
    py: Python<'py>,
    hashes: Vec<Bound<'py, PyBytes>>,
    width: usize,
) -> Option<Vec<Bound<'py, PyBytes>>> {
    let leaves: Option<Vec<Hash>> = hashes.iter().map(|hash| hash.as_bytes().try_into().ok()).collect();
    let leaves = leaves.filter(|_| width.is_power_of_two())?;
    let roots = py.detach(|| leaves.chunks_exact(width).map(complete_root).collect::<Vec<_>>());
    Some(roots.iter().map(|root| PyBytes::new(py, root)).collect())
}

fn complete_root(hashes: &[Hash]) -> Hash {
    let mut level = hashes.to_vec();
    while level.len() > 1 {
        level = level.chunks_exact(2).map(|pair| node_hash(&pair[0], &pair[1])).collect();
    }
    level[0]
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(complete_roots, module)?)
}
