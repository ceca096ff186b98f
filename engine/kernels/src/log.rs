//! The log: the Merkle tree of RFC 6962. The twins are in `proofs.log` and `engine.followers.log`.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

use crate::limits::INTEGER_MAX;

type Hash = [u8; 32];

const LONG_UINT: u8 = 0x18;
const LONGEST_UINT: u8 = 0x1B;

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

/// The roots of the perfect subtrees of a log, largest first. The twin is `proofs.log.Frontier`.
pub struct Frontier {
    pub size: u64,
    subtrees: Vec<Hash>,
}

impl Frontier {
    /// Decode u64 size, big-endian ‖ one hash for each 1 bit of the size, or return None.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        let (size, hashes) = raw.split_first_chunk::<8>()?;
        let size = u64::from_be_bytes(*size);
        if hashes.len() != 32 * size.count_ones() as usize {
            return None;
        }
        let subtrees = hashes.chunks_exact(32).map(|hash| hash.try_into().ok()).collect::<Option<_>>()?;
        Some(Frontier { size, subtrees })
    }

    /// Return whether `count` leaves can be appended before the log is full.
    pub fn has_room(&self, count: usize) -> bool {
        self.size.checked_add(count as u64).is_some_and(|size| size <= INTEGER_MAX)
    }

    /// Append a leaf, for which there must be room. Return None if there are too few subtrees.
    pub fn append(&mut self, leaf: Hash) -> Option<()> {
        let (mut hash, mut size) = (leaf, self.size);
        while size & 1 == 1 {
            hash = node_hash(&self.subtrees.pop()?, &hash);
            size >>= 1;
        }
        self.subtrees.push(hash);
        self.size += 1;
        Some(())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.size.to_be_bytes()[..], &self.subtrees.concat()].concat()
    }
}

/// Return a frontier, in bytes, to which leaves are appended, or None to decline.
#[pyfunction]
fn extended_frontier<'py>(
    py: Python<'py>,
    frontier: &[u8],
    leaves: Vec<Bound<'py, PyBytes>>,
) -> Option<Bound<'py, PyBytes>> {
    let leaves: Vec<Hash> =
        leaves.iter().map(|leaf| leaf.as_bytes().try_into().ok()).collect::<Option<_>>()?;
    let mut frontier = Frontier::from_bytes(frontier).filter(|frontier| frontier.has_room(leaves.len()))?;
    py.detach(|| leaves.iter().try_for_each(|leaf| frontier.append(*leaf)))?;
    Some(PyBytes::new(py, &frontier.to_bytes()))
}

/// Return the positions of the headers whose event kind, if they have one, is among `kinds`.
///
/// The twin is `proofs.codec.kind_of`.
#[pyfunction]
fn headers_of_kinds(headers: Vec<Bound<'_, PyBytes>>, kinds: Vec<u64>) -> Vec<usize> {
    let kind_at = |at: &usize| kind_of(headers[*at].as_bytes()).is_some_and(|kind| kinds.contains(&kind));
    (0..headers.len()).filter(kind_at).collect()
}

/// Return the fourth item of an array of unsigned integers. Like the twin, accept any head before the second.
fn kind_of(raw: &[u8]) -> Option<u64> {
    let (mut at, mut value) = (2, 0);
    for _ in 0..3 {
        let first = *raw.get(at).filter(|first| **first <= LONGEST_UINT)?;
        (at, value) = (at + 1, u64::from(first));
        if first >= LONG_UINT {
            let end = raw.len().min(at + (1 << (first - LONG_UINT)));
            value = raw[at.min(end)..end].iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            at += 1 << (first - LONG_UINT);
        }
    }
    Some(value)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(extended_frontier, module)?)?;
    module.add_function(wrap_pyfunction!(headers_of_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(complete_roots, module)?)
}
