// Claims 1 to 6, 15 and 16: about one atom or edge, the sets of an atom, and its edges and tags (SPEC.md, section 20).
//
// Each function takes a claim, its witness without the number, and the proof's Calls, and returns what is shown.

import { compare, join, utf8 } from "./bytes.mjs";
import { readItem } from "./cbor.mjs";
import { CHUNK_ORDINALS, GROUP_LIVE, tagsRow, unsalted } from "./chunks.mjs";
import { ATOM_ADDED, EDGE_ADDED, readPayload } from "./events.mjs";
import { anyBytes, list, optionalBytes, text } from "./fields.mjs";
import { allEdges } from "./list_claims.mjs";
import { check, checkPresence } from "./refusal.mjs";
import { ERASED, LIVE, readValue } from "./values.mjs";

const FROM = Uint8Array.of(0);
const TAGS = list(text(Infinity));
const ID_BYTES = 16;
const STATE_NAMES = ["Live", "Tombstoned", "Erased"];

/** Return the key of an atom, or of an edge where it stands with its source. */
const leafKey = (namespace, subject) => (namespace === "edges" ? join(FROM, subject) : subject);

function recorded(namespace, kind, noun) {
  return (claim, [rawValue, rawPayload], calls) => {
    const bytes = anyBytes(rawValue, "form");
    const payload = optionalBytes(rawPayload, "form");
    const value = readValue(bytes, namespace === "edges");
    check(value.state === claim.state, "state", "in another state than the claim says");
    checkPresence(payload, claim.opened, "the payload");
    calls.add(namespace, leafKey(namespace, claim.subject), bytes);
    const shown = { shows: STATE_NAMES[claim.state] + noun, value };
    if (claim.state === ERASED) return shown;
    return { ...shown, body: payload === null ? null : readPayload(payload, value.commitment, kind) };
  };
}

function absent(namespace, noun) {
  return (claim, _, calls) => {
    calls.add(namespace, leafKey(namespace, claim.subject), null);
    return { shows: `Absent${noun}` };
  };
}

/** Return the value of an atom in the claimed state, about which the set of live ordinals agrees. */
function keptAtom({ subject, state }, rawValue, rawLive, calls) {
  const bytes = anyBytes(rawValue, "form");
  const live = optionalBytes(rawLive, "form");
  const value = readValue(bytes, false);
  check(value.state === state, "state", "in another state than the claim says");
  calls.add("atoms", subject.subarray(0, ID_BYTES), bytes);
  const isLive = isMember(value, GROUP_LIVE, new Uint8Array(0), live, calls);
  check(isLive === (state === LIVE), "state", "the live atoms and the value disagree about the state");
  return value;
}

function isMember({ ordinal }, group, value, committed, calls) {
  const members = calls.members(group, value, Math.floor(ordinal / CHUNK_ORDINALS), committed);
  return members.includes(ordinal % CHUNK_ORDINALS);
}

function memberOf(isIn) {
  return (claim, [rawValue, rawLive, rawChunk], calls) => {
    const chunk = optionalBytes(rawChunk, "form");
    const value = keptAtom(claim, rawValue, rawLive, calls);
    const named = claim.subject.subarray(ID_BYTES);
    const found = isMember(value, named[0], named.subarray(1), chunk, calls);
    check(found === isIn, "tagged", isIn ? "the atom is not in the set" : "the atom is in the set");
    return { shows: isIn ? "Tagged" : "Untagged", value };
  };
}

/** Claim 16: all tags of an atom, by their identities. */
function allTags(claim, [rawValue, rawLive, rawTags], calls) {
  const committed = optionalBytes(rawTags, "form");
  const value = keptAtom(claim, rawValue, rawLive, calls);
  calls.add("tags", tagsRow(value.ordinal), committed);
  const tags = committed === null ? [] : TAGS(readItem(unsalted(committed)), "chunk");
  const ascending = tags.every((tag, at) => at === 0 || compare(utf8(tags[at - 1]), utf8(tag)) < 0);
  check(ascending && (committed === null || tags.length > 0), "chunk", "the tags are not in ascending order");
  return { shows: "AllTags", value, tags };
}

export const LEAF_CLAIMS = {
  1: recorded("atoms", ATOM_ADDED, "Atom"),
  2: absent("atoms", "Atom"),
  3: recorded("edges", EDGE_ADDED, "Edge"),
  4: absent("edges", "Edge"),
  5: memberOf(true),
  6: memberOf(false),
  15: allEdges,
  16: allTags,
};
