// The hashes of SPEC.md, sections 3, 6 and 9.

import { contextKey, deriveKey } from "./blake3.mjs";
import { join, utf8 } from "./bytes.mjs";

export const EMPTY = new Uint8Array(32);
export const HASH_BYTES = 32;

const keys = new Map();

/** H(role; data) of section 3, the data in any number of parts. */
export function H(role, ...data) {
  if (!keys.has(role)) keys.set(role, contextKey(utf8(`memroot v1 ${role}`)));
  return deriveKey(keys.get(role), join(...data));
}

const inNamespace = (role, namespace, data) => {
  const name = utf8(namespace);
  return H(role, Uint8Array.of(name.length), name, data);
};

export const keyDigest = (namespace, key) => inNamespace("key", namespace, key);
export const valueDigest = (namespace, value) => inNamespace("value", namespace, value);
