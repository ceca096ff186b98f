// Sparse trees (SPEC.md, section 9): the root of a set of leaves.

import { compare } from "./bytes.mjs";
import { EMPTY, H } from "./hashes.mjs";

/** Bit `at` of a key digest; bit 0 is the most significant one of byte 0. */
export const bitOf = (digest, at) => (digest[at >> 3] >> (7 - (at & 7))) & 1;

/** Return the first place of `from` to `to` whose key has the bit at `depth`; the keys ascend. */
export function split(keys, from, to, depth) {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bitOf(keys[middle], depth)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Return the root of the tree of these leaves, pairs of a key digest and a value digest. */
export function treeRoot(leaves) {
  const sorted = [...leaves].sort(([a], [b]) => compare(a, b));
  const keys = sorted.map(([key]) => key);
  const root = (from, to, depth) => {
    if (from === to) return EMPTY;
    if (to - from === 1) return H("leaf", ...sorted[from]);
    const middle = split(keys, from, to, depth);
    return H("node", root(from, middle, depth + 1), root(middle, to, depth + 1));
  };
  return root(0, sorted.length, 0);
}
