// The verifier of proofs (SPEC.md, section 20): from a basis and claims to what is shown, or to a refusal.

import { equal } from "./bytes.mjs";
import { Calls, OPENED_NAMESPACES } from "./calls.mjs";
import { checkBasis, isLabelled, isList, isState, readClaims } from "./claims.mjs";
import { CHECKPOINT, readHeader } from "./events.mjs";
import { readProof, witnessFields } from "./file.mjs";
import { H } from "./hashes.mjs";
import { LEAF_CLAIMS } from "./leaf_claims.mjs";
import { LIST_CLAIMS } from "./list_claims.mjs";
import { checkInclusion, logLeaf, rootBefore } from "./log.mjs";
import { LOG_CLAIMS } from "./log_claims.mjs";
import { check, checkPresence } from "./refusal.mjs";
import { overallRoot } from "./roots.mjs";
import { checkSegments, indexRoot } from "./segments.mjs";

/**
 * Verify the bytes of a proof.
 *
 * Returns {size, shown, log}: the size of the log that the claims are about; what each claim shows, in the order given;
 * and the size and root of the log that belongs to the basis.
 * Throws Refused if the proof does not show it; see claims.mjs for the form of `basis` and `claims`.
 */
export function verify(proof, basis, claims) {
  checkBasis(basis);
  const sorted = readClaims(claims);
  const parts = readProof(proof, sorted);
  const hasState = sorted.some(({ number }) => isState(number));
  const hasLists = sorted.some(({ number }) => isList(number));
  checkPresence(parts.link, basis.kind === "log", "the link");
  checkPresence(parts.segments, hasLists, "the list of segments");
  const log = readLog(parts, basis);
  const index = hasLists ? readIndex(parts) : null;
  checkLabelKey(parts, sorted.some(({ number }) => isLabelled(number)));
  const calls = new Calls(parts.labelKey);
  const shown = new Array(sorted.length);
  sorted.forEach((claim, at) => {
    const witness = witnessFields(parts.witnesses[at], claim);
    shown[claim.place] = showClaim(claim, witness, { calls, index, log, storeId: basis.store });
  });
  checkTrees(parts, calls);
  return { size: hasState ? parts.opening.size : log.size, shown, log: { size: log.size, root: log.root } };
}

/** Return the log, {size, root}, that the basis stands for; refuse an opening that does not follow from the basis. */
function readLog({ link, opening }, basis) {
  if (basis.kind === "log") {
    checkLink(link, opening, basis);
    return basis;
  }
  check(equal(overallRoot(basis.store, opening), basis.root), "root", "the opening makes up another overall root");
  check(basis.size === null || basis.size === opening.size, "log-size", "the log has another size");
  return { size: opening.size, root: opening.log };
}

/** Refuse unless the last event of the log is a checkpoint of the opening, which opens this log and this store. */
function checkLink(link, opening, basis) {
  const header = readHeader(link.header);
  check(header.kind === CHECKPOINT, "header", "the link is not a checkpoint");
  checkInclusion(logLeaf(link.header), header.seq, basis.size, link.path, basis.root);
  check(header.seq === basis.size - 1n, "header", "the link is not the last event");
  check(opening.size === header.seq, "root", "the opening is not of the log before the checkpoint");
  check(equal(opening.log, rootBefore(link.path)), "root", "the opening is about another log");
  check(equal(overallRoot(basis.store, opening), header.detail.root), "root", "the checkpoint holds another root");
}

/** Refuse a label key that is missing, not needed, or not the one that the root commits to. */
function checkLabelKey({ labelKey, opening }, isNeeded) {
  checkPresence(labelKey, isNeeded, "the label key");
  const isRight = labelKey === null || equal(H("label-key", labelKey), opening.labels);
  check(isRight, "label", "the root commits to another label key");
}

function readIndex({ segments, opening }) {
  const index = checkSegments(segments);
  check(equal(indexRoot(index), opening.roots.get("index")), "index", "the segments lead to another root of the index");
  return index;
}

function showClaim(claim, witness, { calls, index, log, storeId }) {
  if (isList(claim.number)) return LIST_CLAIMS[claim.number](claim, witness, calls, index);
  if (isState(claim.number)) return LEAF_CLAIMS[claim.number](claim, witness, calls);
  return LOG_CLAIMS[claim.number](claim, witness, log, storeId);
}

function checkTrees(parts, calls) {
  for (const namespace of OPENED_NAMESPACES) {
    checkPresence(parts[namespace], calls.has(namespace), `the opening of ${namespace}`);
    if (calls.has(namespace)) calls.checkTree(namespace, parts[namespace], parts.opening.roots.get(namespace));
  }
}
