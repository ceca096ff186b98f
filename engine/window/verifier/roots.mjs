// The opening of an overall root, and the root it makes up (SPEC.md, sections 13 and 20).

import { bigEndian, compare, utf8 } from "./bytes.mjs";
import { bytes, integer, list, record, text } from "./fields.mjs";
import { FORMAT, H } from "./hashes.mjs";
import { check } from "./refusal.mjs";

const NAMESPACES = ["atoms", "edges", "index", "tags"];

const readParts = record([
  ["rules", integer(255n, 1n)],
  ["labels", bytes(32)],
  ["size", integer()],
  ["log", bytes(32)],
  ["namespaces", list(record([["name", text(255, 1)], ["root", bytes(32)]]), 64)],
]);

/** Return the parts of an overall root; `roots` maps the name of each namespace to its root. */
export function readOpening(item, reason) {
  const parts = readParts(item, reason);
  const names = parts.namespaces.map(({ name }) => utf8(name));
  const ascending = names.every((name, at) => at === 0 || compare(names[at - 1], name) < 0);
  check(ascending, reason, "the names of the namespaces are not in ascending order");
  const roots = new Map(parts.namespaces.map(({ name, root }) => [name, root]));
  check(NAMESPACES.every((name) => roots.has(name)), reason, "a namespace is missing");
  return { ...parts, roots };
}

export function overallRoot(storeId, { rules, labels, size, log, namespaces }) {
  const pairs = namespaces.flatMap(({ name, root }) => [Uint8Array.of(utf8(name).length), utf8(name), root]);
  return H(
    "overall",
    bigEndian(FORMAT, 4),
    storeId,
    bigEndian(rules, 4),
    labels,
    bigEndian(size, 8),
    log,
    bigEndian(namespaces.length, 2),
    ...pairs,
  );
}
