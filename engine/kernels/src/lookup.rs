//! A map from words to numbers that finds short words without following a pointer.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Words below this length are packed into one number: their bytes, and their length in the last byte.
const PACKED: usize = 16;

/// A map from byte strings to small values. The order of its entries is never used.
#[derive(Default)]
pub struct Lookup<V> {
    short: HashMap<u128, V, Folding>,
    long: HashMap<Box<[u8]>, V>,
}

impl<V: Copy> Lookup<V> {
    /// Return the value of the word that is `text[start..end]`.
    pub fn get(&self, text: &[u8], start: usize, end: usize) -> Option<V> {
        if end - start < PACKED {
            return self.short.get(&packed(text, start, end)).copied();
        }
        self.long.get(&text[start..end]).copied()
    }

    pub fn insert(&mut self, word: &[u8], value: V) {
        if word.len() < PACKED {
            self.short.insert(packed(word, 0, word.len()), value);
        } else {
            self.long.insert(word.into(), value);
        }
    }

    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }
}

/// Return the number of a word of fewer than 16 bytes.
fn packed(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    let bytes = match text.get(start..start + PACKED).and_then(|window| window.try_into().ok()) {
        // One load and a mask are quicker than a copy of few bytes.
        Some(window) => u128::from_le_bytes(window) & ((1 << (8 * length)) - 1),
        None => text[start..end].iter().rev().fold(0, |bytes, &byte| bytes << 8 | u128::from(byte)),
    };
    bytes | (length as u128) << 120
}

/// Hashing by one multiplication with secret keys, so that texts with many equal hashes cannot be written.
struct Folding {
    keys: (u64, u64),
}

impl Default for Folding {
    fn default() -> Self {
        let random = RandomState::new();
        Folding { keys: (random.hash_one(0), random.hash_one(1)) }
    }
}

impl BuildHasher for Folding {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { keys: self.keys, state: 0 }
    }
}

struct Folded {
    keys: (u64, u64),
    state: u64,
}

impl Hasher for Folded {
    fn write_u128(&mut self, number: u128) {
        let low = u128::from(number as u64 ^ self.keys.0);
        let high = u128::from((number >> 64) as u64 ^ self.keys.1);
        let product = low.wrapping_mul(high);
        self.state = (product as u64) ^ (product >> 64) as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u128(u128::from(byte) ^ u128::from(self.state));
        }
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
