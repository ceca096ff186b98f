// Claims and the basis, as the caller gives them (SPEC.md, section 20). What cannot be verified at all is `input`.
//
// A claim is {number, subject, state, opened}: `state` is given for claims 1, 3, 5, 6 and 16, `opened` for 1, 3, 11.
// A basis is {kind, store, size, root}: `kind` is "root" or "log", and `size` may be null for an overall root.

import { compare, equal, fromBigEndian, fromUtf8, isBytes, isZero } from "./bytes.mjs";
import { INTEGER_MAX, SEQ_MAX, code } from "./fields.mjs";
import { check } from "./refusal.mjs";
import { ERASED } from "./values.mjs";

export const ATOM = 1;
export const EDGE = 3;
export const TAG = 5;
export const NO_TAG = 6;
export const TAGGED = 7;
export const NO_TERM = 10;
export const EVENT = 11;
export const EDGES_OF = 15;
export const TAGS_OF = 16;
export const CLAIMS = 17;
const ID_BYTES = 16;
const IDENTITY_BYTES_MAX = 1024;
const TERM_BYTES_MAX = 64;
const ROOT_BYTES = 32;
const SEQ_BYTES = 8;

// White space of section 11, the control characters U+0000-001F and 007F-009F, and A to Z.
const NEVER_IN_WORDS =
  /[\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000A-Z]/u;

/** The states that a claim of each number can have; the claims that are not listed have none. */
const STATES = { [ATOM]: [0, 1, 2], [EDGE]: [0, 1, 2], [TAG]: [0, 1], [NO_TAG]: [0, 1], [TAGS_OF]: [0, 1] };
const PAYLOADS = [ATOM, EDGE, EVENT];

export const isState = (number) => number <= NO_TERM || number === EDGES_OF || number === TAGS_OF;
export const isList = (number) => number >= TAGGED && number <= NO_TERM;
/** Tell whether a claim is about sets or terms, for which a proof holds the label key. */
export const isLabelled = (number) => (number >= TAG && number <= NO_TERM) || number === TAGS_OF;

function checkWidth(bytes, width) {
  check(bytes.length === width, "input", `the subject does not have ${width} bytes`);
}

function checkId(bytes) {
  checkWidth(bytes, ID_BYTES);
  check(!isZero(bytes), "input", "the id is all zero");
}

function checkEdge(bytes) {
  check(bytes.length > 2 * ID_BYTES, "input", "the subject is too short for an edge");
  const end = bytes.length - ID_BYTES;
  const source = bytes.subarray(0, ID_BYTES);
  const target = bytes.subarray(end);
  checkId(source);
  code(bytes.subarray(ID_BYTES, end), "input");
  checkId(target);
  check(!equal(source, target), "input", "the ends of the edge are one atom");
}

function checkWord(bytes, most) {
  check(bytes.length >= 1 && bytes.length <= most, "input", `the word does not have 1 to ${most} bytes`);
  const text = fromUtf8(bytes);
  check(text !== null, "input", "the word is not UTF-8");
  check(!NEVER_IN_WORDS.test(text), "input", "the word has white space, a control character or one of A to Z");
}

function checkIdentity(bytes) {
  checkWord(bytes, IDENTITY_BYTES_MAX);
  check(bytes[0] !== "#".charCodeAt(0), "input", "the identity of a tag begins with #");
}

const LABEL = /^[a-z0-9._-]{1,32}$/;
const TAG_GROUP = 2;
/** The values of the groups of sets, by the number of the group; a tag is given by its identity. */
const VALUES = {
  3: LABEL,
  4: LABEL,
  5: LABEL,
  6: /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/u,
  7: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/,
};
const VALUE_BYTES_MAX = 512;

/** Check a group and a value of it, which name a set. */
function checkSet(bytes) {
  check(bytes.length > 1, "input", "the subject names no set");
  const value = bytes.subarray(1);
  if (bytes[0] === TAG_GROUP) return checkIdentity(value);
  const form = VALUES[bytes[0]];
  const text = fromUtf8(value);
  const isValue = form !== undefined && text !== null && value.length <= VALUE_BYTES_MAX && form.test(text);
  check(isValue, "input", "the group has no such value");
}

function checkSetOfAtom(bytes) {
  checkId(bytes.subarray(0, ID_BYTES));
  checkSet(bytes.subarray(ID_BYTES));
}

/** Return a check of a range of ordinals, 8 bytes, and of what follows. */
function ranged(checkRest) {
  return (bytes) => {
    check(bytes.length > 8, "input", "the subject is too short for a list");
    check(compare(bytes.subarray(0, 4), bytes.subarray(4, 8)) <= 0, "input", "the range ends before it begins");
    checkRest(bytes.subarray(8));
  };
}

function checkEdgesOf(bytes) {
  check(bytes.length >= 1 + ID_BYTES && bytes[0] <= 1, "input", "the subject is no direction and id");
  checkId(bytes.subarray(1, 1 + ID_BYTES));
  if (bytes.length > 1 + ID_BYTES) code(bytes.subarray(1 + ID_BYTES), "input");
}

function checkSeen(bytes) {
  checkWidth(bytes, ID_BYTES + SEQ_BYTES + ROOT_BYTES);
  const size = fromBigEndian(bytes.subarray(ID_BYTES, ID_BYTES + SEQ_BYTES));
  check(size >= 1n && size <= SEQ_MAX + 1n, "input", "no log has this size");
}

function checkPrefix(bytes) {
  checkWidth(bytes, SEQ_BYTES + ROOT_BYTES);
  const size = fromBigEndian(bytes.subarray(0, SEQ_BYTES));
  check(size >= 1n && size <= INTEGER_MAX, "input", "no prefix has this size");
}

function checkSeq(bytes) {
  checkWidth(bytes, SEQ_BYTES);
  check(fromBigEndian(bytes) <= SEQ_MAX, "input", "no event has this seq");
}

const checkTerm = (bytes) => checkWord(bytes, TERM_BYTES_MAX);
const checkRoot = (bytes) => checkWidth(bytes, ROOT_BYTES);

/** The check of the subject of each claim, by its number. */
const SUBJECTS = [
  null,
  checkId,
  checkId,
  checkEdge,
  checkEdge,
  checkSetOfAtom,
  checkSetOfAtom,
  ranged(checkSet),
  ranged(checkSet),
  ranged(checkTerm),
  ranged(checkTerm),
  checkSeq,
  checkPrefix,
  checkRoot,
  checkRoot,
  checkEdgesOf,
  checkId,
  checkSeen,
];

function checkClaim({ number, subject, state, opened }) {
  check(Number.isInteger(number) && number >= 1 && number <= CLAIMS, "input", "there is no claim of this number");
  check(isBytes(subject), "input", "the subject is not a byte string");
  SUBJECTS[number](subject);
  const states = STATES[number];
  check(states ? states.includes(state) : (state ?? null) === null, "input", "the state is wrong");
  check(!opened || PAYLOADS.includes(number), "input", "the claim has no payload");
  check(!opened || state !== ERASED, "input", "an erased atom or edge has no payload to open");
  check(!opened || number !== EVENT || !isZero(subject), "input", "event 0 holds the keys of the store");
}

const order = (a, b) => a.number - b.number || compare(a.subject, b.subject);

/** Return the claims in the order of their witnesses, each with its place among those given. */
export function readClaims(given) {
  check(Array.isArray(given) && given.length > 0, "input", "there are no claims");
  given.forEach(checkClaim);
  const sorted = given.map((claim, place) => ({ ...claim, opened: Boolean(claim.opened), place })).sort(order);
  sorted.slice(1).forEach((claim, at) => check(order(sorted[at], claim) !== 0, "input", "a claim is made twice"));
  return sorted;
}

export function checkBasis({ kind, store, size, root }) {
  check(kind === "root" || kind === "log", "input", "the basis is neither an overall root nor a log head");
  check(isBytes(store) && store.length === ID_BYTES, "input", "the store id does not have 16 bytes");
  check(isBytes(root) && root.length === ROOT_BYTES, "input", "the root does not have 32 bytes");
  if (size === null && kind === "root") return;
  const least = kind === "log" ? 1n : 0n;
  check(typeof size === "bigint" && size >= least && size <= INTEGER_MAX, "input", "no log has this size");
}
