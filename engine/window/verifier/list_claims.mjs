// Claims 7 to 10: the complete list of live atoms of a set or term, or that no atom has it; claim 15: all edges of an atom
// (SPEC.md, section 20).
//
// Each function takes a claim, its witness without the number, the proof's Calls and its index, and returns what is
// shown.

import { compare, equal, fromBigEndian, toHex } from "./bytes.mjs";
import { CHUNK_ORDINALS, GROUP_LIVE, termLabel } from "./chunks.mjs";
import { anyBytes, bytes, code, list, optional, optionalBytes, record } from "./fields.mjs";
import { edgesBeginning, keyDigest } from "./hashes.mjs";
import { check } from "./refusal.mjs";
import { readRows } from "./rows.mjs";
import { LIVE, readValue } from "./values.mjs";

const SETS = list(
  optional(
    record([
      ["tagged", anyBytes],
      ["live", optionalBytes],
    ]),
  ),
);
const LIVES = list(optionalBytes);
const ATOMS = list(
  record([
    ["id", bytes(16)],
    ["value", anyBytes],
  ]),
);

const EDGES = list(
  record([
    ["key", anyBytes],
    ["value", anyBytes],
  ]),
);

const chunkOf = (ordinal) => Math.floor(ordinal / CHUNK_ORDINALS);

const LIVE_VALUE = new Uint8Array(0);
const RANGE_BYTES = 8;
const ORDINAL_BYTES = 4;
const END = 17;
const ID_BYTES = 16;
const EDGE_BYTES_MIN = END + 1 + ID_BYTES;

/** Return the ordinals that a list claim is about, and the rest of its subject. */
function ranged({ subject }) {
  return {
    first: Number(fromBigEndian(subject.subarray(0, ORDINAL_BYTES))),
    last: Number(fromBigEndian(subject.subarray(ORDINAL_BYTES, RANGE_BYTES))),
    named: subject.subarray(RANGE_BYTES),
  };
}

/** Return the ordinals of the members of chunk `number`. */
function ordinalsOf(members, number, count) {
  const ordinals = members.map((member) => number * CHUNK_ORDINALS + member);
  check(ordinals.length === 0 || ordinals.at(-1) < count, "chunk", "a member is not an ordinal of the index");
  return ordinals;
}

function checkLength(chunks, length) {
  check(chunks.length === length, "form", "there are more or fewer chunks than follow from the index");
}

/** Return the live ordinals of a set that a claim is about, ascending. */
function taggedOrdinals(item, claim, calls, { count }) {
  const { first, last, named } = ranged(claim);
  const end = Math.min(last, count - 1);
  const sets = SETS(item, "form");
  const from = chunkOf(first);
  checkLength(sets, first <= end ? chunkOf(end) - from + 1 : 0);
  return sets.flatMap((set, at) => {
    const tagged = calls.members(named[0], named.subarray(1), from + at, set && set.tagged);
    if (set === null) return [];
    const live = calls.members(GROUP_LIVE, LIVE_VALUE, from + at, set.live);
    const ordinals = ordinalsOf(tagged, from + at, count);
    const alive = new Set(ordinalsOf(live, from + at, count));
    return ordinals.filter((ordinal) => first <= ordinal && ordinal <= last && alive.has(ordinal));
  });
}

/** Return those of the documents with a term that are live, by ordinal, ascending. */
function liveOrdinals(item, { frequencies, starts }, calls, { count }) {
  const lives = LIVES(item, "form");
  const numbers = [...new Set(starts.map(chunkOf))];
  checkLength(lives, numbers.length);
  const alive = new Set();
  numbers.forEach((number, at) => {
    const live = calls.members(GROUP_LIVE, LIVE_VALUE, number, lives[at]);
    for (const ordinal of ordinalsOf(live, number, count)) alive.add(ordinal);
  });
  return [...frequencies.keys()].filter((ordinal) => alive.has(ordinal));
}

/** Return the listed atoms, one for each of the ordinals; `frequencies` is null in a list by tag. */
function listedAtoms(item, ordinals, frequencies, calls) {
  const atoms = ATOMS(item, "form");
  check(atoms.length === ordinals.length, "list", "there are more or fewer atoms than live ordinals");
  const ids = new Set();
  return atoms.map((listed, at) => {
    const value = readValue(listed.value, false);
    check(value.ordinal === ordinals[at], "list", "an atom has another ordinal");
    check(value.state === LIVE, "list", "an atom is not live");
    check(!ids.has(toHex(listed.id)), "list", "an atom is listed twice");
    ids.add(toHex(listed.id));
    calls.add("atoms", listed.id, listed.value);
    return { id: listed.id, value, tf: frequencies && frequencies.get(ordinals[at]) };
  });
}

function someTagged(claim, [sets, atoms], calls, index) {
  const ordinals = taggedOrdinals(sets, claim, calls, index);
  check(ordinals.length > 0, "list", "no live atom is in the set");
  return { shows: "AllTagged", atoms: listedAtoms(atoms, ordinals, null, calls), ordinals: index.count };
}

function noneTagged(claim, [sets], calls, index) {
  check(taggedOrdinals(sets, claim, calls, index).length === 0, "list", "a live atom is in the set");
  return { shows: "TagUnused", ordinals: index.count };
}

/** Return what the rows of a witness show for the term of a claim. */
function documentsOf(claim, rows, calls, index) {
  const range = ranged(claim);
  return readRows(rows, termLabel(calls.labelKey, range.named), range, index);
}

function someMentioning(claim, [rows, lives, atoms], calls, index) {
  const documents = documentsOf(claim, rows, calls, index);
  const ordinals = liveOrdinals(lives, documents, calls, index);
  check(ordinals.length > 0, "list", "no live atom has the term");
  return { shows: "AllMentioning", atoms: listedAtoms(atoms, ordinals, documents.frequencies, calls), ordinals: index.count };
}

function noneMentioning(claim, [rows, lives], calls, index) {
  const documents = documentsOf(claim, rows, calls, index);
  check(liveOrdinals(lives, documents, calls, index).length === 0, "list", "a live atom has the term");
  return { shows: "TermUnused", ordinals: index.count };
}

export const LIST_CLAIMS = { 7: someTagged, 8: noneTagged, 9: someMentioning, 10: noneMentioning };

/** Claim 15: all edges of an atom in a direction, and of a type if one is given. */
export function allEdges({ subject }, [item], calls) {
  const directionAndEnd = subject.subarray(0, END);
  const wantedCode = subject.subarray(END);
  const beginning = edgesBeginning(directionAndEnd, wantedCode);
  const listed = EDGES(item, "form");
  calls.addComplete(beginning, listed.length);
  let before = new Uint8Array(0);
  const edges = [];
  for (const { key, value } of listed) {
    check(key.length >= EDGE_BYTES_MIN && compare(before, key) < 0, "list", "the edges are not in the order of keys");
    const type = code(key.subarray(END, key.length - ID_BYTES), "list");
    check(equal(keyDigest("edges", key).subarray(0, beginning.length), beginning), "list", "an edge of another list");
    const read = readValue(value, true);
    calls.add("edges", key, value);
    before = key;
    const isWanted = equal(key.subarray(0, END), directionAndEnd) && (wantedCode.length === 0 || equal(type, wantedCode));
    if (isWanted) edges.push({ type, other: key.subarray(key.length - ID_BYTES), value: read });
  }
  return { shows: "AllEdges", edges };
}
