// Claims 1 to 6: about one atom or edge, and about one tag of an atom (SPEC.md, section 20).
//
// Each function takes a claim, its witness without the number, and the proof's Calls, and returns what is shown.

import { CHUNK_ORDINALS, readChunk, tagRow } from "./chunks.mjs";
import { ATOM_ADDED, EDGE_ADDED, readPayload } from "./events.mjs";
import { anyBytes, optionalBytes } from "./fields.mjs";
import { check, checkPresence } from "./refusal.mjs";
import { ERASED, LIVE, readValue } from "./values.mjs";

const ID_BYTES = 16;
const STATE_NAMES = ["Live", "Tombstoned", "Erased"];

function recorded(namespace, kind, noun) {
  return (claim, [rawValue, rawPayload], calls) => {
    const bytes = anyBytes(rawValue, "form");
    const payload = optionalBytes(rawPayload, "form");
    const value = readValue(bytes, namespace === "edges");
    check(value.state === claim.state, "state", "in another state than the claim says");
    checkPresence(payload, claim.opened, "the payload");
    calls.add(namespace, claim.subject, bytes);
    const shown = { shows: STATE_NAMES[claim.state] + noun, value };
    if (claim.state === ERASED) return shown;
    return { ...shown, body: payload === null ? null : readPayload(payload, value.commitment, kind) };
  };
}

function absent(namespace, noun) {
  return (claim, _, calls) => {
    calls.add(namespace, claim.subject, null);
    return { shows: `Absent${noun}` };
  };
}

function tagOfAtom(hasTag) {
  return (claim, [rawValue, rawChunk], calls) => {
    const bytes = anyBytes(rawValue, "form");
    const chunk = (hasTag ? anyBytes : optionalBytes)(rawChunk, "form");
    const value = readValue(bytes, false);
    check(value.state === LIVE, "state", "the atom is not live");
    const members = chunk === null ? [] : readChunk(chunk);
    const isMember = members.includes(value.ordinal % CHUNK_ORDINALS);
    check(isMember === hasTag, "tagged", isMember ? "the atom has the tag" : "the atom lacks the tag");
    const number = Math.floor(value.ordinal / CHUNK_ORDINALS);
    calls.add("atoms", claim.subject.subarray(0, ID_BYTES), bytes);
    calls.add("tags", tagRow(claim.subject.subarray(ID_BYTES), number), chunk);
    return { shows: hasTag ? "Tagged" : "Untagged", value };
  };
}

export const LEAF_CLAIMS = {
  1: recorded("atoms", ATOM_ADDED, "Atom"),
  2: absent("atoms", "Atom"),
  3: recorded("edges", EDGE_ADDED, "Edge"),
  4: absent("edges", "Edge"),
  5: tagOfAtom(true),
  6: tagOfAtom(false),
};
