// What proofs opened: atoms with their tags and times, edges, events and complete lists.
//
// The service names ids here, and nothing else: every value comes from a fact that the verifier returned. What is made
// here may stand under a mark, and nothing else may.

import { CallFailed } from "./client.mjs";
import { KINDS, uuid } from "./facts.mjs";
import { tagIdentity } from "./tags.mjs";
import { toHex } from "./verifier/bytes.mjs";
import { Refused } from "./verifier/index.mjs";

/** So many atoms or events are opened by one proof, and so many sealed events. */
const AT_ONCE = 50;
const SEALED_AT_ONCE = 500;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LIVE = "live";
const ERASED = "erased";
const ABSENT = "never recorded";
const STATES = [LIVE, "tombstoned", ERASED];
/** How a service says in which state an atom is. It only decides for what a proof is asked next. */
const HELD = /^this claim holds instead: (?:(no-atom)|atom|tags) (\S+)(?: (\w+))?/;

/** Why something that the service names is not proved: it is no id. */
const NO_ID = new Refused("form", "the service names something that is no id");

/** Return an error that the service or a proof caused; another one is a fault of this page. */
export function expected(error) {
  if (!(error instanceof Refused || error instanceof CallFailed)) throw error;
  return error;
}

/** Return what is made of each key; if it is refused together, of each alone. An error is what a key is refused for. */
async function together(trust, keys, open) {
  try {
    return await open(keys);
  } catch (error) {
    expected(error);
    const isOfAll = keys.length === 1 || error instanceof CallFailed || trust.refused !== null;
    if (isOfAll) return new Map(keys.map((key) => [key, error]));
    const alone = new Map();
    for (const key of keys) for (const [one, made] of await together(trust, [key], open)) alone.set(one, made);
    return alone;
  }
}

async function inParts(trust, keys, open, most = AT_ONCE) {
  const found = new Map();
  for (let at = 0; at < keys.length; at += most) {
    for (const [key, made] of await together(trust, keys.slice(at, at + most), open)) found.set(key, made);
  }
  return found;
}

/** Verify claims, and return their facts by claim. */
async function factsOf(trust, claims) {
  return new Map((await trust.check(claims)).map((fact) => [fact.claim, fact]));
}

/**
 * Return a map from each of `ids` to its atom, in whatever state it is, or to the error that refuses it.
 *
 * An atom is {id, state, version, created_seq, last_seq, tags} and the fields of its newest body, which are null where
 * nothing is left of it. Its tags are all that it has if `withTags`; otherwise they are null.
 */
export async function openAtoms(trust, ids, withTags = false) {
  const wanted = [...new Set(ids)];
  const found = await inParts(trust, wanted.filter((id) => ID.test(id)), (some) => inStates(trust, some, withTags));
  for (const id of wanted) if (!found.has(id)) found.set(id, NO_ID);
  return found;
}

const claimsOf = (id, state, withTags) => {
  if (state === ABSENT) return [`no-atom ${id}`];
  return [`atom ${id} ${state}`, ...(withTags && state !== ERASED ? [`tags ${id} ${state}`] : [])];
};

/** Open atoms by one proof. Most are live; each may turn out once to be in another state. */
async function inStates(trust, ids, withTags) {
  const states = new Map(ids.map((id) => [id, LIVE]));
  for (;;) {
    try {
      const facts = await factsOf(trust, [...states].flatMap(([id, state]) => claimsOf(id, state, withTags)));
      return new Map([...states].map(([id, state]) => [id, atomOf(id, state, facts)]));
    } catch (error) {
      const [, never, id, state] = HELD.exec(error.hint ?? "") ?? [];
      const held = never ? ABSENT : state;
      if (states.get(id) !== LIVE || held === LIVE || !(held === ABSENT || STATES.includes(held))) throw error;
      states.set(id, held);
    }
  }
}

const NOTHING = { title: null, content: null, kind: null, source: null, sequence: null, provenance: null, trust: null, created: null, tags: null };

function atomOf(id, state, facts) {
  const [claim, ofTags] = claimsOf(id, state, true);
  const { value = {}, body } = facts.get(claim);
  const { version, created_seq, last_seq } = value;
  const spellings = new Map((body?.tags ?? []).map((tag) => [tagIdentity(tag), tag]));
  const tags = facts.get(ofTags)?.tags.map((identity) => spellings.get(identity) ?? identity) ?? null;
  return { ...NOTHING, ...body, id, state, version, created_seq, last_seq, tags };
}

/**
 * Return a map from each of `seqs` to its event {seq, kind, time, actor, id, prev, detail, body}, or to an error. `time`
 * is in µs; `body` is null of events in `sealed`, and of those whose payload is gone.
 */
export async function openEvents(trust, seqs, sealed = []) {
  const closed = new Set(sealed);
  const open = async (some) => {
    const claims = new Map(some.map((seq) => [seq, `event ${seq}${closed.has(seq) ? " sealed" : ""}`]));
    try {
      const facts = await factsOf(trust, [...claims.values()]);
      return new Map(some.map((seq) => [seq, eventOf(seq, facts.get(claims.get(seq)))]));
    } catch (error) {
      const [seq] = some;
      if (some.length > 1 || closed.has(seq) || error.reason !== "unproved") throw error;
      closed.add(seq);
      return open(some);
    }
  };
  return inParts(trust, [...new Set(seqs)], open, closed.size === seqs.length ? SEALED_AT_ONCE : AT_ONCE);
}

const eventOf = (seq, { header, body }) => ({
  seq,
  kind: KINDS[header.kind] ?? `fact ${header.kind}`,
  time: header.time,
  actor: header.actor,
  id: header.detail.id === undefined || header.detail.id === null ? null : uuid(header.detail.id),
  prev: header.prev === null ? null : Number(header.prev),
  detail: header.detail,
  body,
});

const checked = (event, id) => (event instanceof Error || event.id === id ? event : new Refused("header", "the event is on another atom"));

const BUILT_IN = ["related_to", "derived_from", "contradicts", "supersedes", "part_of", "references"];

/** Return the live edges of atoms, all of them: {src, type, dst, seq}. `type` is a name, or the code of a predicate. */
export async function openEdges(trust, ids, types = null) {
  const claims = (direction) => ids.flatMap((id) => (types ?? [""]).map((type) => [`edges-${direction} ${id} ${type}`.trim(), id]));
  const [from, to] = types === null ? [claims("from"), claims("to")] : [claims("from"), []];
  const facts = await factsOf(trust, [...from, ...to].map(([claim]) => claim));
  const listed = (some, ends) =>
    some.flatMap(([claim, id]) =>
      facts.get(claim).edges.filter(({ value }) => value.state === 0).map(({ type, other, value }) => ({
        ...ends(id, uuid(other)),
        type: type.length === 1 ? BUILT_IN[type[0] - 1] ?? toHex(type) : toHex(type),
        seq: Number(value.payload_seq),
      })),
    );
  return {
    from: listed(from, (id, other) => ({ src: id, dst: other })),
    to: listed(to, (id, other) => ({ src: other, dst: id })),
  };
}

/** Return the ids of all live atoms of a set, in the order of writing; `some` and `none` are the claims about it. */
export async function openList(trust, some, none) {
  try {
    const [{ atoms }] = await trust.check([some]);
    return atoms.map(({ id }) => uuid(id));
  } catch (error) {
    if (error.reason !== "unproved") throw error;
    await trust.check([none]);
    return [];
  }
}

/** Return the events on an atom, the newest first, each of which names the one before. `seqs` are those that the service names. */
export async function openHistory(trust, atom, seqs, sealed) {
  const events = await openEvents(trust, seqs, sealed);
  const chain = [];
  let left = LEFT_OUT_MAX;
  for (let seq = Number(atom.last_seq); seq !== null; seq = chain.at(-1).prev) {
    if (!events.has(seq) && left-- > 0) events.set(seq, (await openEvents(trust, [seq])).get(seq));
    const event = checked(events.get(seq) ?? new Refused("changed", "the service leaves out events"), atom.id);
    if (event instanceof Error) throw event;
    chain.push(event);
  }
  return chain;
}

/** So many events that the service does not name are looked for one by one. */
const LEFT_OUT_MAX = 50;
