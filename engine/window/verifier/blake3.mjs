// BLAKE3 in the modes `derive_key` and `keyed_hash`, with 32 bytes of output.
// Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, "BLAKE3: one function, fast everywhere" (2020), section 2.

const BLOCK_BYTES = 64;
const CHUNK_BYTES = 1024;
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;
const KEYED_HASH = 16;
const DERIVE_KEY_CONTEXT = 32;
const DERIVE_KEY_MATERIAL = 64;

const IV = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS = 7;

/** The order in which each round reads the words of a block. */
const SCHEDULE = [[...Array(16).keys()]];
for (let round = 1; round < ROUNDS; round++) {
  SCHEDULE.push(PERMUTATION.map((from) => SCHEDULE[round - 1][from]));
}

const state = new Int32Array(16);

const rotated = (word, bits) => (word >>> bits) | (word << (32 - bits));

function mix(a, b, c, d, x, y) {
  state[a] = state[a] + state[b] + x;
  state[d] = rotated(state[d] ^ state[a], 16);
  state[c] = state[c] + state[d];
  state[b] = rotated(state[b] ^ state[c], 12);
  state[a] = state[a] + state[b] + y;
  state[d] = rotated(state[d] ^ state[a], 8);
  state[c] = state[c] + state[d];
  state[b] = rotated(state[b] ^ state[c], 7);
}

/** Return the new chaining value, 8 words, after a block of 16 words. */
function compress(chaining, block, counter, length, flags) {
  state.set(chaining);
  state.set(IV.subarray(0, 4), 8);
  state[12] = counter;
  state[13] = Math.floor(counter / 2 ** 32);
  state[14] = length;
  state[15] = flags;
  for (const order of SCHEDULE) {
    mix(0, 4, 8, 12, block[order[0]], block[order[1]]);
    mix(1, 5, 9, 13, block[order[2]], block[order[3]]);
    mix(2, 6, 10, 14, block[order[4]], block[order[5]]);
    mix(3, 7, 11, 15, block[order[6]], block[order[7]]);
    mix(0, 5, 10, 15, block[order[8]], block[order[9]]);
    mix(1, 6, 11, 12, block[order[10]], block[order[11]]);
    mix(2, 7, 8, 13, block[order[12]], block[order[13]]);
    mix(3, 4, 9, 14, block[order[14]], block[order[15]]);
  }
  const next = new Int32Array(8);
  for (let at = 0; at < 8; at++) next[at] = state[at] ^ state[at + 8];
  return next;
}

/** Return the 16 little-endian words of a block, which zeros fill up. */
function wordsOf(bytes) {
  const words = new Int32Array(16);
  for (let at = 0; at < bytes.length; at++) words[at >> 2] |= bytes[at] << (8 * (at & 3));
  return words;
}

function chunk(input, key, counter, flags, last) {
  let chaining = key;
  const blocks = Math.max(1, Math.ceil(input.length / BLOCK_BYTES));
  for (let at = 0; at < blocks; at++) {
    const bytes = input.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES);
    const start = at === 0 ? CHUNK_START : 0;
    const end = at === blocks - 1 ? CHUNK_END | last : 0;
    chaining = compress(chaining, wordsOf(bytes), counter, bytes.length, flags | start | end);
  }
  return chaining;
}

/** Return the chaining value of the tree over `input`, whose first chunk has the number `counter`. */
function tree(input, key, counter, flags, last) {
  if (input.length <= CHUNK_BYTES) return chunk(input, key, counter, flags, last);
  let left = 1;
  while (left * 2 * CHUNK_BYTES < input.length) left *= 2;
  const block = new Int32Array(16);
  block.set(tree(input.subarray(0, left * CHUNK_BYTES), key, counter, flags, 0), 0);
  block.set(tree(input.subarray(left * CHUNK_BYTES), key, counter + left, flags, 0), 8);
  return compress(key, block, 0, BLOCK_BYTES, flags | PARENT | last);
}

/** Return the key, 8 words, that belongs to a context string. */
export const contextKey = (context) => tree(context, IV, 0, DERIVE_KEY_CONTEXT, ROOT);

/** Return the 32 bytes derived from `material` under a context's key. */
export const deriveKey = (key, material) => bytesOf(tree(material, key, 0, DERIVE_KEY_MATERIAL, ROOT));

/** Return the 32 bytes of the keyed hash of `input`; `key` has 32 bytes. */
export const keyedHash = (key, input) => bytesOf(tree(input, wordsOf(key).subarray(0, 8), 0, KEYED_HASH, ROOT));

function bytesOf(words) {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  words.forEach((word, at) => view.setInt32(4 * at, word, true));
  return bytes;
}
