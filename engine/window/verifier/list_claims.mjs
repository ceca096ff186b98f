// Claims 7 to 10: complete lists of live atoms by tag or term, and that there is none (SPEC.md, section 20).
//
// Each function takes a claim, its witness without the number, the proof's Calls and its index, and returns what is
// shown.

import { toHex } from "./bytes.mjs";
import { CHUNK_ORDINALS, liveRow, readChunk, tagRow } from "./chunks.mjs";
import { anyBytes, bytes, list, optional, optionalBytes, record } from "./fields.mjs";
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

const chunkOf = (ordinal) => Math.floor(ordinal / CHUNK_ORDINALS);

/** Return the ordinals in a chunk; null is a chunk without members. */
function ordinalsOf(chunk, number, count) {
  const ordinals = chunk === null ? [] : readChunk(chunk).map((member) => number * CHUNK_ORDINALS + member);
  check(ordinals.length === 0 || ordinals.at(-1) < count, "chunk", "a member is not an ordinal of the index");
  return ordinals;
}

function checkLength(chunks, length) {
  check(chunks.length === length, "form", "there are more or fewer chunks than follow from the index");
}

/** Return the live ordinals of a tag, ascending. */
function taggedOrdinals(item, identity, calls, { count }) {
  const sets = SETS(item, "form");
  checkLength(sets, Math.ceil(count / CHUNK_ORDINALS));
  return sets.flatMap((set, number) => {
    calls.add("tags", tagRow(identity, number), set && set.tagged);
    if (set === null) return [];
    calls.add("tags", liveRow(number), set.live);
    const ordinals = ordinalsOf(set.tagged, number, count);
    const alive = new Set(ordinalsOf(set.live, number, count));
    return ordinals.filter((ordinal) => alive.has(ordinal));
  });
}

/** Return those of the ordinals that are live; `ordinals` ascend. */
function liveOrdinals(item, ordinals, calls, { count }) {
  const lives = LIVES(item, "form");
  const numbers = [...new Set(ordinals.map(chunkOf))];
  checkLength(lives, numbers.length);
  const alive = new Set();
  numbers.forEach((number, at) => {
    calls.add("tags", liveRow(number), lives[at]);
    for (const ordinal of ordinalsOf(lives[at], number, count)) alive.add(ordinal);
  });
  return ordinals.filter((ordinal) => alive.has(ordinal));
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

function someTagged({ subject }, [sets, atoms], calls, index) {
  const ordinals = taggedOrdinals(sets, subject, calls, index);
  check(ordinals.length > 0, "list", "no live atom has the tag");
  return { shows: "AllTagged", atoms: listedAtoms(atoms, ordinals, null, calls), ordinals: index.count };
}

function noneTagged({ subject }, [sets], calls, index) {
  check(taggedOrdinals(sets, subject, calls, index).length === 0, "list", "a live atom has the tag");
  return { shows: "TagUnused", ordinals: index.count };
}

function someMentioning({ subject }, [rows, lives, atoms], calls, index) {
  const frequencies = readRows(rows, subject, index);
  const ordinals = liveOrdinals(lives, [...frequencies.keys()], calls, index);
  check(ordinals.length > 0, "list", "no live atom has the term");
  return { shows: "AllMentioning", atoms: listedAtoms(atoms, ordinals, frequencies, calls), ordinals: index.count };
}

function noneMentioning({ subject }, [rows, lives], calls, index) {
  const ordinals = [...readRows(rows, subject, index).keys()];
  check(liveOrdinals(lives, ordinals, calls, index).length === 0, "list", "a live atom has the term");
  return { shows: "TermUnused", ordinals: index.count };
}

export const LIST_CLAIMS = { 7: someTagged, 8: noneTagged, 9: someMentioning, 10: noneMentioning };
