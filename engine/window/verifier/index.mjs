// The verifier of memroot proofs, for pages and other programs. It does no input or output and keeps nothing.
//
//   import { consistency, readEnvelope, trustCheckpoint, trustRoot, verify } from "./verifier/index.mjs";
//
//   const trusted = trustRoot({ root: "fb3a…", store: "4a70a9f9-4e80-…" });   // or
//   const trusted = await trustCheckpoint(note, ["name+keyid+key"]);
//   const { facts, size, log } = verify(proof, trusted, ["atom 1f0c0000-… live", "none-tagged kitchen"]);
//   const { size, into } = consistency(older, newer, proof);
//   const { basis, note, claims, proof } = readEnvelope(file);
//
// All five throw Refused: `reason` is a word of SPEC.md, section 20.9 (or `rollback` or `fork`), `detail` says more.
// No other error is thrown for any bytes.
//
// `trusted` is what the person trusts, and must not come from whoever made the proof. It is a frozen object:
//   kind        "root": an overall root; "log": the log root of a checkpoint
//   store       the 16 bytes of the store's id
//   root        32 bytes
//   size        how many events the root covers, as a BigInt; null if a root was given without it
//   signatures  of a checkpoint: {name, key_id, known, time, unchecked} of each line. `unchecked` says why the line was
//               not verified (no key for it was given, or there is no Ed25519 here); it is null of a valid signature
//
// A fact is {claim, ...shown}: the claim as it was given, and what the proof shows of it. `shows` names its kind, which
// decides the other fields: LiveAtom, TombstonedAtom, ErasedAtom, LiveEdge, TombstonedEdge, ErasedEdge (value, body),
// AbsentAtom, AbsentEdge, Tagged, Untagged (value), AllTagged, AllMentioning (atoms, ordinals), TagUnused, TermUnused
// (ordinals), LoggedEvent (header, body), RecordedRoot (header), LogPrefix (size, into).
//
// Which root or checkpoint to trust, and where to keep it, is for the caller to decide.

import { equal, toHex, utf8 } from "./bytes.mjs";
import { checkBasis } from "./claims.mjs";
import { noteBasis, readNote } from "./notes.mjs";
import { check } from "./refusal.mjs";
import { checkSignatures } from "./signatures.mjs";
import { verify as verifyClaims } from "./verifier.mjs";
import { parseClaim, parseId, parseNumber, parseRoot, splitWords } from "./words.mjs";

export { readEnvelope, startsEnvelope } from "./envelope.mjs";
export { Refused } from "./refusal.mjs";

/** Trust an overall root, in hex, of the store with this id; `size` is the number of events, if it is known. */
export function trustRoot({ root, store, size = null }) {
  const basis = {
    kind: "root",
    store: parseId(store),
    size: size === null ? null : parseNumber(String(size)),
    root: parseRoot(root),
    signatures: [],
  };
  checkBasis(basis);
  return Object.freeze(basis);
}

/**
 * Trust the log root in a checkpoint note, given as text or bytes.
 *
 * With `keys`, verifier keys as texts, the note is refused if a line of one of these keys does not verify, or if none of
 * the keys has signed.
 */
export async function trustCheckpoint(note, keys = []) {
  const raw = typeof note === "string" ? utf8(note) : note;
  const basis = noteBasis(raw);
  const signatures = await checkSignatures(readNote(raw), keys);
  const signed = keys.length === 0 || signatures.some(({ known }) => known);
  check(signed, "signature", "none of the given keys has signed the checkpoint");
  checkBasis(basis);
  return Object.freeze({ ...basis, signatures });
}

/**
 * Verify a proof, in bytes, of claims in words.
 *
 * Returns {facts, size, log}: `size` is the number of events that the facts are about, and `log` is the log that belongs
 * to what is trusted, itself an object to trust: its root is what later logs are compared with.
 */
export function verify(proof, trusted, claims) {
  const { shown, size, log } = verifyClaims(proof, trusted, claims.map((claim) => parseClaim(splitWords(claim))));
  return {
    facts: shown.map((one, at) => ({ claim: claims[at], ...one })),
    size,
    log: Object.freeze({ kind: "log", store: trusted.store, ...log, signatures: [] }),
  };
}

/**
 * Verify that the log of `older` is the beginning of the log of `newer`; both are trusted as above.
 *
 * `proof` is a proof, for `newer`, of what `consistencyClaim(older)` returns. It may be null if both are the same.
 * Returns {size, into}. Refuses with `rollback` if the newer log is shorter, and with `fork` if one size has two roots.
 */
export function consistency(older, newer, proof) {
  check(equal(older.store, newer.store), "origin", "the two are of different stores");
  const counted = older.size !== null && newer.size !== null;
  if (counted) {
    const least = `the log has ${newer.size} events, but ${older.size} were seen before`;
    check(newer.size >= older.size, "rollback", least);
  }
  if (counted && older.kind === newer.kind && newer.size === older.size) {
    check(equal(older.root, newer.root), "fork", `the log of ${newer.size} events has two roots`);
    return { size: older.size, into: newer.size };
  }
  const [{ size, into }] = verify(proof, newer, [consistencyClaim(older)]).facts;
  return { size, into };
}

/** Return, in words, the claim that a log begins with the one that is trusted. */
export function consistencyClaim({ kind, size, root }) {
  return kind === "root" ? `prefix-root ${toHex(root)}` : `prefix ${size} ${toHex(root)}`;
}
