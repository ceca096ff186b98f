// The verifier of proofs (SPEC.md, section 20): from a basis and claims to what is shown, or to a refusal.

import { equal, isBytes } from "./bytes.mjs";
import { Calls, OPENED_NAMESPACES } from "./calls.mjs";
import { readItem } from "./cbor.mjs";
import { checkBasis, isList, isState, readClaims } from "./claims.mjs";
import { CHECKPOINT, readHeader } from "./events.mjs";
import { anyBytes, record } from "./fields.mjs";
import { LEAF_CLAIMS, checkPresence } from "./leaf_claims.mjs";
import { LIST_CLAIMS } from "./list_claims.mjs";
import { checkInclusion, logLeaf } from "./log.mjs";
import { LOG_CLAIMS } from "./log_claims.mjs";
import { check } from "./refusal.mjs";
import { overallRoot, readOpening } from "./roots.mjs";
import { indexRoot, readSegments } from "./segments.mjs";

const MAGIC = "memroot-proof";
const VERSION = 2n;
const PARTS = ["magic", "version", "link", "opening", "segments", "atoms", "edges", "tags", "witnesses"];
const PROOF_BYTES_MAX = 65_536;
const BUNDLE_BYTES_MAX = 16_777_216;
/** How many fields the witness of each claim has, its number included. */
const WITNESS_FIELDS = [0, 3, 1, 3, 1, 3, 3, 3, 2, 4, 3, 4, 2, 3, 3];

const LINK = record([
  ["header", anyBytes],
  ["path", anyBytes],
]);

/**
 * Verify the bytes of a proof.
 *
 * Returns {size, shown}: the size of the log that the claims are about, and what each claim shows, in the order given.
 * Throws Refused if the proof does not show it; see claims.mjs for the form of `basis` and `claims`.
 */
export function verify(proof, basis, claims) {
  checkBasis(basis);
  const sorted = readClaims(claims);
  const parts = readParts(proof, sorted);
  const wants = {
    state: sorted.some(({ number }) => isState(number)),
    lists: sorted.some(({ number }) => isList(number)),
  };
  checkParts(parts, basis, wants);
  checkWitnesses(parts.witnesses, sorted);
  const { opening, log } = readBasis(parts, basis);
  const index = wants.lists ? readIndex(parts.segments, opening) : null;
  const calls = new Calls();
  const shown = new Array(sorted.length);
  sorted.forEach((claim, at) => {
    const [, ...witness] = parts.witnesses[at];
    shown[claim.place] = showClaim(claim, witness, { calls, index, log, storeId: basis.store });
  });
  checkTrees(parts, calls, opening);
  return { size: wants.state ? opening.size : log.size, shown };
}

function readParts(proof, claims) {
  check(isBytes(proof), "input", "the proof is not a byte string");
  const [first] = claims;
  const small = claims.length === 1 && !isList(first.number) && !first.opened;
  check(proof.length <= (small ? PROOF_BYTES_MAX : BUNDLE_BYTES_MAX), "size", "the proof is too large");
  const items = readItem(proof, "encoding");
  check(Array.isArray(items), "form", "the proof is not an array");
  check(items[0] === MAGIC && items[1] === VERSION, "version", "not a proof of version 2");
  check(items.length === PARTS.length, "form", "the proof has more or fewer parts");
  return Object.fromEntries(PARTS.map((name, at) => [name, items[at]]));
}

function checkParts(parts, basis, wants) {
  checkPresence(parts.link, basis.kind === "log" && wants.state, "the link");
  checkPresence(parts.opening, basis.kind === "root" || wants.state, "the opening");
  checkPresence(parts.segments, wants.lists, "the list of segments");
}

function checkWitnesses(witnesses, claims) {
  check(Array.isArray(witnesses), "form", "the witnesses are not an array");
  check(witnesses.length === claims.length, "kind", "not one witness for each claim");
  witnesses.forEach((witness, at) => {
    const { number } = claims[at];
    check(Array.isArray(witness) && typeof witness[0] === "bigint", "form", "a witness does not begin with a number");
    check(witness[0] === BigInt(number), "kind", "a witness is of another claim");
    check(witness.length === WITNESS_FIELDS[number], "form", "a witness has more or fewer fields");
  });
}

/** Return the opening, null without one, and the log, {size, root}, that the basis stands for. */
function readBasis(parts, basis) {
  if (parts.opening === null) return { opening: null, log: basis };
  const opening = readOpening(parts.opening, "form");
  if (basis.kind === "log") {
    checkLink(parts.link, opening, basis);
    return { opening, log: basis };
  }
  check(equal(overallRoot(basis.store, opening), basis.root), "root", "the opening makes up another overall root");
  check(basis.size === null || basis.size === opening.size, "log-size", "the log has another size");
  return { opening, log: { size: opening.size, root: opening.log } };
}

/** Refuse unless the last event of the log is a checkpoint that holds the root of the opening. */
function checkLink(item, opening, basis) {
  const link = LINK(item, "form");
  const header = readHeader(link.header);
  check(header.kind === CHECKPOINT, "header", "the link is not a checkpoint");
  check(header.seq === basis.size - 1n, "header", "the link is not the last event");
  checkInclusion(logLeaf(link.header), header.seq, basis.size, link.path, basis.root);
  check(opening.size === header.seq, "log-size", "the opening is not of the log before the checkpoint");
  check(equal(overallRoot(basis.store, opening), header.detail.root), "root", "the checkpoint holds another root");
}

function readIndex(item, opening) {
  const index = readSegments(item);
  check(equal(indexRoot(index), opening.index), "index", "the segments lead to another root of the index");
  return index;
}

function showClaim(claim, witness, { calls, index, log, storeId }) {
  if (isList(claim.number)) return LIST_CLAIMS[claim.number](claim, witness, calls, index);
  if (isState(claim.number)) return LEAF_CLAIMS[claim.number](claim, witness, calls);
  return LOG_CLAIMS[claim.number](claim, witness, log, storeId);
}

function checkTrees(parts, calls, opening) {
  for (const namespace of OPENED_NAMESPACES) {
    checkPresence(parts[namespace], calls.has(namespace), `the opening of ${namespace}`);
    if (calls.has(namespace)) calls.checkTree(namespace, parts[namespace], opening[namespace]);
  }
}
