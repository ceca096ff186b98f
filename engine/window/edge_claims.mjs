// The claims that prove edges. In a claim, a type that a memory registered is a code. Which name belongs to the code is
// shown by the event that registered the type: nothing else is bound to a root.

import { toHex } from "./verifier/bytes.mjs";
import { Refused } from "./verifier/index.mjs";

const BUILT_IN = ["related_to", "derived_from", "contradicts", "supersedes", "part_of", "references"];
const REGISTERED = 7;
/** So many events are read at a time to find the one that registered a type. */
const BLOCK = 500;

/** Why an edge of a registered type has no claim. */
export const NOT_FOUND = "the event that registered its type was not found";

/** The blocks of each memory that were read, by number: the types that were registered in them. Events never change. */
const blocks = new Map();

async function blockOf(memory, at) {
  const key = `${at} ${memory.name}`;
  if (blocks.has(key)) return blocks.get(key);
  const events = await memory.call("log", { start: at * BLOCK, stop: (at + 1) * BLOCK });
  const types = events.filter(({ kind }) => kind === "edge_type_registered").map(({ seq, detail }) => ({ seq, ...detail }));
  if (events.length === BLOCK) blocks.set(key, types);
  return types;
}

/** Return {code, seq} of a type that was registered before an event; null if it is not found close to it or at the start. */
async function registered(memory, name, before) {
  const near = Math.floor(Math.max(0, before - 1) / BLOCK);
  for (const at of new Set([near, Math.max(0, near - 1), 0])) {
    const found = (await blockOf(memory, at)).find((type) => type.name === name && type.seq < before);
    if (found !== undefined) return found;
  }
  return null;
}

/** Return the seq of the first event of one of the edges of a type; the service knows it where the edges do not say it. */
async function firstSeq(memory, edges) {
  const known = edges.map((edge) => edge.created_seq).filter((seq) => seq !== undefined);
  if (known.length > 0) return known.reduce((one, other) => Math.min(one, other));
  const [{ src, type, dst }] = edges;
  return (await memory.call("get_edge", { src, type, dst })).created_seq;
}

/**
 * Return a map from each edge that can be proved to {claims, compare}: its claims, and what throws unless their facts are
 * about an edge of the type that is shown. An edge is {src, type, dst, state, created_seq}; the last two may be missing.
 */
export async function claimsOfEdges(memory, edges) {
  const found = new Map();
  for (const name of new Set(edges.map(({ type }) => type))) {
    const some = edges.filter(({ type }) => type === name);
    const isBuiltIn = BUILT_IN.includes(name);
    const type = isBuiltIn ? null : await registered(memory, name, await firstSeq(memory, some));
    if (!isBuiltIn && type === null) continue;
    for (const edge of some) {
      const { src, dst, state = "live" } = edge;
      const claim = `edge ${src} ${type?.code ?? name} ${dst} ${state} sealed`;
      if (isBuiltIn) found.set(edge, { claims: [claim], compare: () => null });
      else found.set(edge, { claims: [claim, `event ${type.seq}`], compare: ([, fact]) => compareType(name, type.code, fact) });
    }
  }
  return found;
}

function compareType(name, code, { header, body }) {
  const isSame = header.kind === REGISTERED && toHex(header.detail.code) === code && body.name === name;
  if (!isSame) throw new Refused("changed", "the type is not the one that is recorded");
}
