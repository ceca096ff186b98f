// The opening of an overall root, and the root it makes up (SPEC.md, sections 13 and 20).

import { bigEndian, utf8 } from "./bytes.mjs";
import { bytes, integer, record } from "./fields.mjs";
import { H } from "./hashes.mjs";

const FORMAT = 2;
const NAMESPACES = ["atoms", "edges", "index", "tags"];

export const readOpening = record([
  ["size", integer()],
  ["log", bytes(32)],
  ...NAMESPACES.map((name) => [name, bytes(32)]),
]);

export function overallRoot(storeId, opening) {
  const namespaces = NAMESPACES.flatMap((name) => [Uint8Array.of(name.length), utf8(name), opening[name]]);
  return H(
    "overall",
    bigEndian(FORMAT, 4),
    storeId,
    bigEndian(opening.size, 8),
    opening.log,
    bigEndian(NAMESPACES.length, 2),
    ...namespaces,
  );
}
