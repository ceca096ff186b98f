//! The hashes of index rows and the tree over them. The twins are `proofs.hashing` and `proofs.rows`.

use std::sync::LazyLock;

use blake3::hazmat::{hash_derive_key_context, ContextKey, HasherExt};
use blake3::Hasher;

pub type Digest = [u8; 32];

pub const BLOCK_ROWS: usize = 256;

// The keys of constant contexts, prepared once.
static ROW: LazyLock<ContextKey> = LazyLock::new(|| hash_derive_key_context("memroot 3 row"));
static ROW_INNER: LazyLock<ContextKey> = LazyLock::new(|| hash_derive_key_context("memroot 3 row-inner"));
static ROWS_NODE: LazyLock<ContextKey> = LazyLock::new(|| hash_derive_key_context("memroot 3 rows-node"));
static SOURCE: LazyLock<ContextKey> = LazyLock::new(|| hash_derive_key_context("memroot 3 source"));
static TERM: LazyLock<ContextKey> = LazyLock::new(|| hash_derive_key_context("memroot 3 term"));

/// Return the leaf hash of a row, whose value is behind a salt. `term` has at most 65,535 bytes.
pub fn row_leaf(term: &[u8], salt: &[u8], value: &[u8]) -> Digest {
    let inner = Hasher::new_from_context_key(&ROW_INNER).update(salt).update(value).finalize();
    let mut hasher = Hasher::new_from_context_key(&ROW);
    hasher.update(&(term.len() as u16).to_be_bytes()).update(term).update(inner.as_bytes());
    hasher.finalize().into()
}

fn rows_node(left: &Digest, right: &Digest) -> Digest {
    Hasher::new_from_context_key(&ROWS_NODE).update(left).update(right).finalize().into()
}

/// Return the root over the leaves, of which there must be at least one. Without leaves it is 32 zero bytes.
pub fn rows_root(leaves: &[Digest]) -> Digest {
    let mut level = leaves.to_vec();
    while level.len() > 1 {
        let pairs = level.chunks(2).map(|pair| match pair {
            [left, right] => rows_node(left, right),
            _ => pair[0],
        });
        level = pairs.collect();
    }
    level.first().copied().unwrap_or_default()
}

/// Return the number that stands for a term. The twin is `proofs.hashing.term_number`.
pub fn term_number(term: &[u8]) -> u64 {
    number(&TERM, term)
}

/// Return the number that stands for a source. The twin is `proofs.hashing.source_number`.
pub fn source_number(source: &[u8]) -> u64 {
    number(&SOURCE, source).max(1)
}

/// Return the first 8 bytes of the hash of `text` in a context, as a little-endian number.
fn number(context: &ContextKey, text: &[u8]) -> u64 {
    let digest = Hasher::new_from_context_key(context).update(text).finalize();
    digest.as_bytes().iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
