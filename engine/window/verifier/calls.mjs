// The keys that witnesses call for in the trees of `atoms`, `edges` and `tags` (SPEC.md, section 20).

import { compare, equal, toHex } from "./bytes.mjs";
import { keyDigest, valueDigest } from "./hashes.mjs";
import { openedRoot } from "./opening.mjs";
import { check } from "./refusal.mjs";

export const OPENED_NAMESPACES = ["atoms", "edges", "tags"];

const sameValue = (a, b) => (a === null || b === null ? a === b : equal(a, b));

export class Calls {
  constructor() {
    this.namespaces = new Map(OPENED_NAMESPACES.map((name) => [name, new Map()]));
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
    return this.namespaces.get(namespace).size > 0;
  }

  /** Refuse unless the opening, {shape, hashes}, leads from the keys called for to `root`. */
  checkTree(namespace, { shape, hashes }, root) {
    const leaves = [...this.namespaces.get(namespace).values()]
      .map(({ key, value }) => ({
        key: keyDigest(namespace, key),
        value: value === null ? null : valueDigest(namespace, value),
      }))
      .sort((a, b) => compare(a.key, b.key));
    const keys = leaves.map(({ key }) => key);
    const values = leaves.map(({ value }) => value);
    const found = openedRoot(keys, values, shape, hashes);
    check(equal(found, root), "tree", `the opening leads to another root of ${namespace}`);
  }
}
