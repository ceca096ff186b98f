// The hashes of SPEC.md, sections 3, 6 and 9.

import { contextKey, deriveKey } from "./blake3.mjs";
import { join, utf8 } from "./bytes.mjs";

/** The number of the format, which is in headers, contexts, the overall root and proof files. */
export const FORMAT = 3;
export const EMPTY = new Uint8Array(32);
export const HASH_BYTES = 32;

const keys = new Map();

/** H(role; data) of section 3, the data in any number of parts. */
export function H(role, ...data) {
  if (!keys.has(role)) keys.set(role, contextKey(utf8(`memroot ${FORMAT} ${role}`)));
  return deriveKey(keys.get(role), join(...data));
}

const inNamespace = (role, namespace, data) => {
  const name = utf8(namespace);
  return H(role, Uint8Array.of(name.length), name, data);
};

const digest = (namespace, key) => inNamespace("key", namespace, key);
const EDGES = "edges";
const END = 17;
const OTHER = 16;

/** Return the first bytes of the key digests of all edges of an atom in a direction, and of a type unless it is empty. */
export function edgesBeginning(directionAndEnd, code) {
  const listed = digest(EDGES, directionAndEnd).subarray(0, 3);
  return code.length === 0 ? listed : join(listed, digest(EDGES, code).subarray(0, 1));
}

/** Return the place of a key in the tree of a namespace. Edges of one atom stand together (SPEC.md, section 3.7). */
export function keyDigest(namespace, key) {
  const whole = digest(namespace, key);
  if (namespace !== EDGES) return whole;
  const beginning = edgesBeginning(key.subarray(0, END), key.subarray(END, key.length - OTHER));
  return join(beginning, whole.subarray(0, HASH_BYTES - beginning.length));
}

export const valueDigest = (namespace, value) => inNamespace("value", namespace, value);
