// The form of a proof: its parts and their types (SPEC.md, section 20, "File").

import { isBytes } from "./bytes.mjs";
import { readItem } from "./cbor.mjs";
import { EDGES_OF, TAGS_OF, isList } from "./claims.mjs";
import { anyBytes, bytes, list, optional, record } from "./fields.mjs";
import { FORMAT } from "./hashes.mjs";
import { check } from "./refusal.mjs";
import { readOpening } from "./roots.mjs";
import { readSegments } from "./segments.mjs";

const MAGIC = "memroot-proof";
const PROOF_BYTES_MAX = 65_536;
const BUNDLE_BYTES_MAX = 16_777_216;
/** How many fields follow the number in the witness of each claim. */
const WITNESS_FIELDS = [null, 2, 0, 2, 0, 3, 3, 2, 1, 3, 2, 3, 1, 2, 2, 1, 3, 2];

const isListOfAtom = (number) => number === EDGES_OF || number === TAGS_OF;
const any = (item) => item;
const LINK = record([
  ["header", anyBytes],
  ["path", anyBytes],
]);
const TREE = record([
  ["shape", anyBytes],
  ["hashes", anyBytes],
]);

const PARTS = record([
  ["magic", any],
  ["version", any],
  ["link", optional(LINK)],
  ["opening", readOpening],
  ["labelKey", optional(bytes(32))],
  ["segments", optional(readSegments)],
  ["atoms", optional(TREE)],
  ["edges", optional(TREE)],
  ["tags", optional(TREE)],
  ["witnesses", list(list(any))],
]);

/** Return the parts of a proof by name, null where a part is absent, and one witness for each claim. */
export function readProof(proof, claims) {
  check(isBytes(proof), "input", "the proof is not a byte string");
  const [first] = claims;
  const small = claims.length === 1 && !isList(first.number) && !isListOfAtom(first.number) && !first.opened;
  check(proof.length <= (small ? PROOF_BYTES_MAX : BUNDLE_BYTES_MAX), "size", "the proof is too large");
  const items = readItem(proof);
  check(Array.isArray(items), "form", "the proof is not an array");
  check(items[0] === MAGIC && items[1] === BigInt(FORMAT), "version", `not a proof of format ${FORMAT}`);
  const parts = PARTS(items, "form");
  checkWitnesses(parts.witnesses, claims);
  return parts;
}

function checkWitnesses(witnesses, claims) {
  check(witnesses.length === claims.length, "kind", "not one witness for each claim");
  witnesses.forEach(([number], at) => {
    check(number === BigInt(claims[at].number), "kind", "a witness is of another claim");
  });
}

/** Return the fields of a claim's witness, without the number. */
export function witnessFields([, ...fields], { number }) {
  check(fields.length === WITNESS_FIELDS[number], "form", "a witness has more or fewer fields");
  return fields;
}
