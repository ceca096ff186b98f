//! BLAKE3 in its derive_key mode, with the roles of `proofs.hashing`, for many short inputs.

use blake3::hazmat::{hash_derive_key_context, ContextKey, HasherExt};
use blake3::platform::{le_bytes_from_words_32, words_from_le_bytes_32, Platform};
use blake3::{Hasher, IncrementCounter};

pub const DIGEST: usize = 32;
pub const BLOCK: usize = 64;
const CHUNK: usize = 1024;
pub type Digest = [u8; DIGEST];

/// The root of an empty tree.
pub const EMPTY: Digest = [0; DIGEST];

// The flags of BLAKE3's compression function (BLAKE3 specification, table 3).
const CHUNK_START: u8 = 1;
const CHUNK_END: u8 = 2;
const ROOT: u8 = 8;
const DERIVE_KEY_MATERIAL: u8 = 64;

/// The number of blocks that are gathered for one call of the hash function. Any multiple of its lanes will do.
const GATHERED: usize = 64;

/// One role of a hash.
pub struct Role {
    key: ContextKey,
    words: [u32; 8],
    platform: Platform,
}

impl Role {
    /// Return the role with this name, as in `proofs.hashing.CONTEXTS`.
    pub fn new(name: &str) -> Self {
        let key = hash_derive_key_context(&format!("memroot 3 {name}"));
        Role { key, words: words_from_le_bytes_32(&key), platform: Platform::detect() }
    }

    /// Return the digest of the concatenation of `parts`.
    pub fn digest(&self, parts: &[&[u8]]) -> Digest {
        if parts.iter().map(|part| part.len()).sum::<usize>() <= CHUNK {
            return self.digest_chunk(parts);
        }
        let mut hasher = Hasher::new_from_context_key(&self.key);
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// Return the digest of `parts`, which have at most one chunk together. A `Hasher` takes twice the time.
    fn digest_chunk(&self, parts: &[&[u8]]) -> Digest {
        let mut chunk = [0; CHUNK];
        let mut length = 0;
        for part in parts {
            chunk[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        let count = length.div_ceil(BLOCK).max(1);
        let mut state = self.words;
        for at in 0..count {
            let mut block = [0; BLOCK];
            block.copy_from_slice(&chunk[at * BLOCK..(at + 1) * BLOCK]);
            let start = if at == 0 { CHUNK_START } else { 0 };
            let end = if at + 1 == count { CHUNK_END | ROOT } else { 0 };
            let used = (length - at * BLOCK).min(BLOCK) as u8;
            self.platform.compress_in_place(&mut state, &block, used, 0, DERIVE_KEY_MATERIAL | start | end);
        }
        le_bytes_from_words_32(&state)
    }

    /// Return the digest of each of `inputs`, which have one block each. Several are computed at once.
    pub fn digest_blocks(&self, inputs: &[[u8; BLOCK]]) -> Vec<Digest> {
        let mut raw = vec![0; inputs.len() * DIGEST];
        for (blocks, out) in inputs.chunks(GATHERED).zip(raw.chunks_mut(GATHERED * DIGEST)) {
            let gathered: Vec<&[u8; BLOCK]> = blocks.iter().collect();
            // An input of one block is the only block of the only chunk.
            self.platform.hash_many(
                &gathered,
                &self.words,
                0,
                IncrementCounter::No,
                DERIVE_KEY_MATERIAL,
                CHUNK_START,
                CHUNK_END | ROOT,
                out,
            );
        }
        raw.chunks_exact(DIGEST).map(digest_of).collect()
    }
}

const EDGES: &[u8] = b"edges";
const END: usize = 17;
const OTHER: usize = 16;
const LISTED: usize = 3;

/// Return the place of `key` in the tree of a namespace; the twin is `proofs.hashing.position`. `role` is "key".
pub fn position(role: &Role, namespace: &[u8], key: &[u8]) -> Digest {
    let length = [namespace.len() as u8];
    let digest = |part: &[u8]| role.digest(&[&length, namespace, part]);
    let whole = digest(key);
    if namespace != EDGES || key.len() < END + OTHER {
        return whole;
    }
    let (listed, typed) = (digest(&key[..END]), digest(&key[END..key.len() - OTHER]));
    let mut place = EMPTY;
    place[..LISTED].copy_from_slice(&listed[..LISTED]);
    place[LISTED] = typed[0];
    place[LISTED + 1..].copy_from_slice(&whole[..DIGEST - LISTED - 1]);
    place
}

/// Return the first 32 bytes of `raw`, which has at least as many.
pub fn digest_of(raw: &[u8]) -> Digest {
    let mut digest = EMPTY;
    digest.copy_from_slice(&raw[..DIGEST]);
    digest
}
