// The envelope: one file with a proof, its basis and its claims (SPEC.md, section 20.12).

import { equal, isBytes, utf8 } from "./bytes.mjs";
import { readItem } from "./cbor.mjs";
import { checkBasis, readClaims } from "./claims.mjs";
import { bytes, bytesUpTo, list, record, text } from "./fields.mjs";
import { FORMAT } from "./hashes.mjs";
import { noteBasis } from "./notes.mjs";
import { Refused, check } from "./refusal.mjs";
import { parseClaim } from "./words.mjs";

const MAGIC = "memroot-envelope";
export const ENVELOPE_BYTES_MAX = 33_554_432;
const PROOF_BYTES_MAX = 16_777_216;
const CLAIM_BYTES_MAX = 4096;
const CLAIMS_MAX = 2 ** 20;
/** The head of an array of six items and of a text of 16 bytes, and the text. */
const BEGINNING = Uint8Array.of(0x86, 0x70, ...utf8(MAGIC));

const any = (item) => item;
const PARTS = record([
  ["magic", any],
  ["version", any],
  ["store", bytes(16)],
  ["head", any],
  ["claims", list(text(CLAIM_BYTES_MAX, 1), CLAIMS_MAX, 1)],
  ["proof", bytesUpTo(PROOF_BYTES_MAX)],
]);

/** Tell whether a file begins as an envelope does. */
export const startsEnvelope = (file) => equal(file.subarray(0, BEGINNING.length), BEGINNING);

/**
 * Return {basis, note, claims, proof} of an envelope, in bytes; nothing of it is verified.
 *
 * `note` is the text of a checkpoint, or null if the basis is an overall root. `claims` are texts.
 */
export function readEnvelope(file) {
  check(isBytes(file), "input", "the envelope is not a byte string");
  check(file.length <= ENVELOPE_BYTES_MAX, "size", "the envelope is too large");
  const items = readItem(file);
  check(Array.isArray(items), "form", "the envelope is not an array");
  check(items[0] === MAGIC && items[1] === BigInt(FORMAT), "version", `not an envelope of format ${FORMAT}`);
  const { store, head, claims, proof } = PARTS(items, "form");
  const note = typeof head === "string" ? head : null;
  const basis = asForm(() => {
    const found = note === null ? { kind: "root", store, size: null, root: head } : noteBasis(utf8(note));
    checkBasis(found);
    readClaims(claims.map((claim) => parseClaim(claim.split(" "))));
    return found;
  });
  check(equal(basis.store, store), "origin", "the checkpoint is of a different store");
  return { basis, note, claims, proof };
}

/** Return what `read` returns; a file has no caller whose input could be wrong, so `input` becomes `form`. */
function asForm(read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof Refused && error.reason === "input" ? new Refused("form", error.detail) : error;
  }
}
