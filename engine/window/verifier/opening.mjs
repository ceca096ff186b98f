// The opening of a tree at some keys: the walk of SPEC.md, section 20. It is at most 256 calls deep.

import { equal } from "./bytes.mjs";
import { EMPTY, H, HASH_BYTES } from "./hashes.mjs";
import { check } from "./refusal.mjs";
import { bitOf, split } from "./trees.mjs";

const NODE = 0;
const OWN_LEAF = 1;
const OTHER_LEAF = 2;
const NOTHING = 3;
const HASH_OF_THE_PROOF = 4;
const DEPTH_MAX = 256;

const isLeaf = (origin) => origin === OWN_LEAF || origin === OTHER_LEAF;

class Walk {
  /** `digests` are key digests, ascending, each once; `values` their value digests, null of keys that are absent. */
  constructor(digests, values, shape, hashes, complete) {
    this.digests = digests;
    this.values = values;
    this.shape = shape;
    this.hashes = hashes;
    this.complete = complete;
    this.shapeAt = 0;
    this.hashesAt = 0;
  }

  hash() {
    const end = this.hashesAt + HASH_BYTES;
    check(end <= this.hashes.length, "shape", "there are too few hashes");
    this.hashesAt = end;
    return this.hashes.subarray(end - HASH_BYTES, end);
  }

  /** Return the hash of the subtree that holds the keys from `from` to `to`, and which case it came from. */
  subtree(from, to, depth) {
    check(this.shapeAt < this.shape.length, "shape", "the shape ends too early");
    const origin = this.shape[this.shapeAt++];
    switch (origin) {
      case NODE:
        return [this.node(from, to, depth), origin];
      case OWN_LEAF:
        return [this.ownLeaf(from, to), origin];
      case OTHER_LEAF:
        return [this.otherLeaf(from, to, depth), origin];
      default:
        check(origin === NOTHING, "shape", "the shape has a byte that no case has");
        this.allAbsent(from, to);
        return [EMPTY, origin];
    }
  }

  side(from, to, depth, isComplete) {
    if (from !== to) return this.subtree(from, to, depth);
    const hash = this.hash();
    check(!isComplete || equal(hash, EMPTY), "list", "the list leaves out leaves of the tree");
    return [hash, HASH_OF_THE_PROOF];
  }

  /** Tell whether the keys hold every leaf below a node on the path of key `at`. */
  isComplete(at, depth) {
    return this.complete.some((begin) => 8 * begin.length <= depth && startsWith(this.digests[at], begin));
  }

  node(from, to, depth) {
    check(depth < DEPTH_MAX, "shape", "the walk is too deep");
    const middle = split(this.digests, from, to, depth);
    const isComplete = this.isComplete(from, depth);
    const [left, leftOrigin] = this.side(from, middle, depth + 1, isComplete);
    const [right, rightOrigin] = this.side(middle, to, depth + 1, isComplete);
    const leftEmpty = equal(left, EMPTY);
    const rightEmpty = equal(right, EMPTY);
    check(!leftEmpty || !(rightEmpty || isLeaf(rightOrigin)), "shape", "a node has fewer than two leaves");
    check(!rightEmpty || !isLeaf(leftOrigin), "shape", "a node has fewer than two leaves");
    return H("node", left, right);
  }

  ownLeaf(from, to) {
    const present = [];
    for (let at = from; at < to; at++) if (this.values[at] !== null) present.push(at);
    check(present.length === 1, "shape", "a leaf is not of exactly one key");
    return H("leaf", this.digests[present[0]], this.values[present[0]]);
  }

  otherLeaf(from, to, depth) {
    this.allAbsent(from, to);
    const key = this.hash();
    const value = this.hash();
    for (let at = 0; at < depth; at++) {
      check(bitOf(key, at) === bitOf(this.digests[from], at), "other-leaf", "the leaf does not belong in this place");
    }
    for (let at = from; at < to; at++) {
      check(!equal(key, this.digests[at]), "other-leaf", "the leaf is that of the key itself");
    }
    check(!this.complete.some((begin) => startsWith(key, begin)), "list", "the list leaves out a leaf of the tree");
    return H("leaf", key, value);
  }

  allAbsent(from, to) {
    for (let at = from; at < to; at++) check(this.values[at] === null, "absent", "a key of the claims is not there");
  }
}

export const startsWith = (bytes, begin) => equal(bytes.subarray(0, begin.length), begin);

/**
 * Return the root that `shape` and `hashes` lead to; both must be used up.
 *
 * `complete` holds beginnings of key digests: `digests` has every leaf with such a beginning, and the beginning itself,
 * filled up with zeros, as a key that is absent.
 */
export function openedRoot(digests, values, shape, hashes, complete = []) {
  const walk = new Walk(digests, values, shape, hashes, complete);
  const [root] = walk.subtree(0, digests.length, 0);
  check(walk.shapeAt === shape.length, "shape", "a part of the shape is left over");
  check(walk.hashesAt === hashes.length, "shape", "some hashes are left over");
  return root;
}
