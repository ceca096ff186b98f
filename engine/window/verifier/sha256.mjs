// SHA-256 (FIPS 180-4). The browser's own is asynchronous, and missing where a page has no secure context.

const BLOCK_BYTES = 64;
const ROUNDS = 64;

/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
const START = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

/** The same of the cube roots of the first 64 primes. */
const CONSTANTS = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

const schedule = new Int32Array(ROUNDS);

const rotated = (word, bits) => (word >>> bits) | (word << (32 - bits));

/** Mix the block at `at` into the 8 words of `state`. */
function compress(state, view, at) {
  for (let round = 0; round < 16; round++) schedule[round] = view.getInt32(at + 4 * round);
  for (let round = 16; round < ROUNDS; round++) {
    const early = schedule[round - 15];
    const late = schedule[round - 2];
    const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    schedule[round] = schedule[round - 16] + first + schedule[round - 7] + second;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let round = 0; round < ROUNDS; round++) {
    const chosen = (e & f) ^ (~e & g);
    const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + chosen + CONSTANTS[round] + schedule[round]) | 0;
    const most = (a & b) ^ (a & c) ^ (b & c);
    const second = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + most) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] += word));
}

/** Return the 32 bytes of the hash of a byte string. */
export function sha256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const state = START.slice();
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) compress(state, view, at);
  const hash = new Uint8Array(32);
  const words = new DataView(hash.buffer);
  state.forEach((word, index) => words.setInt32(4 * index, word));
  return hash;
}
