// The keys that witnesses call for in the trees of `atoms`, `edges` and `tags` (SPEC.md, section 20).

import { compare, equal, join, toHex } from "./bytes.mjs";
import { membersOf, setRow } from "./chunks.mjs";
import { HASH_BYTES, keyDigest, valueDigest } from "./hashes.mjs";
import { openedRoot, startsWith } from "./opening.mjs";
import { check } from "./refusal.mjs";

export const OPENED_NAMESPACES = ["atoms", "edges", "tags"];

const EDGES = "edges";
const padded = (beginning) => join(beginning, new Uint8Array(HASH_BYTES - beginning.length));

const sameValue = (a, b) => (a === null || b === null ? a === b : equal(a, b));

export class Calls {
  constructor(labelKey) {
    this.labelKey = labelKey;
    this.namespaces = new Map(OPENED_NAMESPACES.map((name) => [name, new Map()]));
    this.lists = [];
  }

  /** Call for a chunk of a set, given behind its salt, or null; return its members. */
  members(group, value, number, committed) {
    this.add("tags", setRow(this.labelKey, group, value, number), committed);
    return membersOf(committed);
  }

  /** Require that the tree of edges has no leaf with this beginning but the `count` leaves of a list. */
  addComplete(beginning, count) {
    this.lists.push({ beginning, count });
  }

  /** Call for a key: `value` is what the witness says its leaf holds, or null if it says that the key is absent. */
  add(namespace, key, value) {
    const called = this.namespaces.get(namespace);
    const name = toHex(key);
    const before = called.get(name);
    if (before === undefined) called.set(name, { key, value });
    else check(sameValue(before.value, value), "contradiction", "two witnesses say different things of one key");
  }

  has(namespace) {
    return this.namespaces.get(namespace).size > 0 || (namespace === EDGES && this.lists.length > 0);
  }

  /** Refuse unless the opening, {shape, hashes}, leads from the keys called for to `root`. */
  checkTree(namespace, { shape, hashes }, root) {
    const lists = namespace === EDGES ? this.lists : [];
    const complete = lists.map(({ beginning }) => beginning);
    const wanted = new Map(complete.map(padded).map((key) => [toHex(key), { key, value: null }]));
    for (const { key, value } of this.namespaces.get(namespace).values()) {
      const leaf = keyDigest(namespace, key);
      wanted.set(toHex(leaf), { key: leaf, value: value === null ? null : valueDigest(namespace, value) });
    }
    const leaves = [...wanted.values()].sort((a, b) => compare(a.key, b.key));
    const present = leaves.filter(({ value }) => value !== null);
    for (const { beginning, count } of lists) {
      const below = present.filter(({ key }) => startsWith(key, beginning));
      check(below.length === count, "list", "a list leaves out an edge that another claim is about");
    }
    const keys = leaves.map(({ key }) => key);
    const values = leaves.map(({ value }) => value);
    const found = openedRoot(keys, values, shape, hashes, complete);
    check(equal(found, root), "tree", `the opening leads to another root of ${namespace}`);
  }
}
