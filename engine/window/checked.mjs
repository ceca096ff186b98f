// Whether what the service shows is what its proofs show: the claims to ask for, and the comparison.

import { moment } from "./facts.mjs";
import { tagIdentity } from "./tags.mjs";
import { toHex } from "./verifier/bytes.mjs";
import { Refused } from "./verifier/index.mjs";

const FIELDS = ["title", "source", "key", "provenance"];
const LIVE = "live";

/** Return the claims about an atom, or about the atom of a hit, and about its tags. */
export function claimsOf({ id, state = LIVE, tags }) {
  const ofTags = state === LIVE ? [...new Set(tags.map(tagIdentity))].map((tag) => `tag ${id} ${tag}`) : [];
  return [`atom ${id} ${state}`, ...ofTags];
}

const flat = (text) => text.replaceAll(/\s+/gu, " ").trim();

/** Refuse a hit unless its fields and every piece of its snippet are in the proven body. */
export function compareHit(hit, body) {
  compareFields(hit, body);
  const whole = flat(`${body.title ?? ""} ${body.content}`);
  const pieces = flat(hit.snippet).split("…").map(flat);
  const strange = pieces.some((piece) => !whole.includes(piece));
  if (strange) throw new Refused("changed", "the snippet is not in the text that is recorded");
}

/** Refuse an atom unless what it says is the proven body. */
export function compareAtom(atom, { body, value }) {
  if (atom.version !== Number(value.version)) throw new Refused("changed", "the version is another one than is recorded");
  if (body === undefined || body === null) return;
  compareFields(atom, body);
  if (atom.content !== body.content) throw new Refused("changed", "the text is not the one that is recorded");
  if (atom.kind !== body.kind) throw new Refused("changed", "the kind is not the one that is recorded");
}

function compareFields(shown, body) {
  for (const name of FIELDS) {
    const different = (shown[name] ?? null) !== body[name];
    if (different) throw new Refused("changed", `the ${name} is not the one that is recorded`);
  }
  const sequence = shown.sequence ?? null;
  const same = sequence === null ? body.sequence === null : BigInt(sequence) === body.sequence;
  if (!same) throw new Refused("changed", "the place in the page is not the one that is recorded");
}

/** Refuse an event of a history unless its time, actor, atom and content are the proven ones. */
export function compareEvent(event, { header, body }, id) {
  const same = {
    atom: toHex(header.detail.id ?? new Uint8Array(0)) === id.replaceAll("-", ""),
    actor: header.actor === event.actor,
    time: moment(header.time) === moment(BigInt(Date.parse(event.time)) * 1000n + BigInt(event.time.slice(23, 26) || 0)),
    text: body?.content === undefined || body.content === event.detail.content,
  };
  const different = Object.keys(same).find((name) => !same[name]);
  if (different !== undefined) throw new Refused("changed", `the ${different} of event ${event.seq} is not the recorded one`);
}

/** Refuse proven events unless they are a chain without a gap, up to the last one that the record of their atom names. */
export function compareChain(facts, value) {
  const chain = facts.map(({ header }) => header);
  const last = chain.at(-1)?.seq;
  const gap = chain.some(({ prev }, at) => prev !== (at === 0 ? null : chain[at - 1].seq));
  if (gap || last !== value.last_seq) throw new Refused("changed", "the history has a gap");
}
