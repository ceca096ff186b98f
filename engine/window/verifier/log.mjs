// The log: its leaves and nodes (SPEC.md, section 6), paths of inclusion and consistency (RFC 9162, section 2.1).

import { equal, join } from "./bytes.mjs";
import { HASH_BYTES } from "./hashes.mjs";
import { check } from "./refusal.mjs";
import { sha256 } from "./sha256.mjs";

export const logLeaf = (header) => sha256(join(Uint8Array.of(0), header));
const logNode = (left, right) => sha256(join(Uint8Array.of(1), left, right));

function hashesOf(path) {
  check(path.length % HASH_BYTES === 0, "form", "the path is not of whole hashes");
  check(path.length <= 64 * HASH_BYTES, "form", "the path has more than 64 hashes");
  const hashes = [];
  for (let at = 0; at < path.length; at += HASH_BYTES) hashes.push(path.subarray(at, at + HASH_BYTES));
  return hashes;
}

/** A walk from one leaf of a log up to its root: where each hash of a path belongs. */
class Climb {
  constructor(index, size, reason) {
    this.index = index;
    this.last = size - 1n;
    this.reason = reason;
  }

  /** Take one step up; return whether the next hash stands on the left. */
  step() {
    check(this.last !== 0n, this.reason, "the path is too long");
    const left = (this.index & 1n) === 1n || this.index === this.last;
    // A node without a right sibling stands as it is on every level until it is a right sibling itself.
    if (left) while ((this.index & 1n) === 0n && this.index !== 0n) this.up();
    this.up();
    return left;
  }

  up() {
    this.index >>= 1n;
    this.last >>= 1n;
  }

  get done() {
    return this.last === 0n;
  }
}

/** Refuse unless `leaf` is at `index` of the log of this size and root (RFC 9162, section 2.1.3.2). */
export function checkInclusion(leaf, index, size, path, root) {
  const reason = "inclusion";
  check(index < size, reason, "the log has no such index");
  const climb = new Climb(index, size, reason);
  let hash = leaf;
  for (const sibling of hashesOf(path)) {
    hash = climb.step() ? logNode(sibling, hash) : logNode(hash, sibling);
  }
  check(climb.done && equal(hash, root), reason, "the path does not lead to the root");
}

/** Return the root of a log without its last leaf, of which `path` is the path. */
export function rootBefore(path) {
  const [smallest, ...larger] = hashesOf(path);
  return larger.reduce((root, left) => logNode(left, root), smallest ?? logRoot([]));
}

/** Refuse unless the log of `size` begins with that of `oldSize` (RFC 9162, section 2.1.4.2). */
export function checkConsistency(oldSize, oldRoot, size, root, path) {
  const reason = "consistency";
  check(oldSize >= 1n && oldSize <= size, reason, "the sizes do not allow a path");
  const hashes = hashesOf(path);
  if (oldSize === size) {
    check(hashes.length === 0 && equal(oldRoot, root), reason, "one size has two roots, or a path");
    return;
  }
  const climb = new Climb(oldSize - 1n, size, reason);
  while ((climb.index & 1n) === 1n) climb.up();
  const isPerfect = (oldSize & (oldSize - 1n)) === 0n;
  if (isPerfect) hashes.unshift(oldRoot);
  check(hashes.length > 0, reason, "the path is empty");
  let [oldHash] = hashes;
  let [hash] = hashes;
  for (const sibling of hashes.slice(1)) {
    if (climb.step()) {
      oldHash = logNode(sibling, oldHash);
      hash = logNode(sibling, hash);
    } else {
      hash = logNode(hash, sibling);
    }
  }
  check(climb.done && equal(oldHash, oldRoot) && equal(hash, root), reason, "the path does not lead to both roots");
}

/** Return the root over the leaves from `from` to `to`, as section 6 defines it. */
export function logRoot(leaves, from = 0, to = leaves.length) {
  if (from === to) return sha256(new Uint8Array(0));
  if (to - from === 1) return leaves[from];
  let left = 1;
  while (left * 2 < to - from) left *= 2;
  return logNode(logRoot(leaves, from, from + left), logRoot(leaves, from + left, to));
}
