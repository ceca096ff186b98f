// The names of edge types. In a claim, a type that a memory registered is a code. Which name belongs to the code is shown
// by the event that registered the type: nothing else is bound to a root.

import { CallFailed } from "./client.mjs";
import { openEvents } from "./opened.mjs";
import { toHex } from "./verifier/bytes.mjs";

/** The code of a registered type. */
export const CODE = /^[0-9a-f]{16}$/;
/** So many events are read at a time to find the one that registered a type. */
const BLOCK = 500;

/** Why an edge of a registered type has no claim. */
export const NOT_FOUND = "the event that registered its type was not found";

/** The blocks of each memory that were read, by number: the types that the service says were registered in them. */
const blocks = new Map();

async function blockOf(memory, at) {
  const key = `${at} ${memory.name}`;
  if (blocks.has(key)) return blocks.get(key);
  const events = await memory.call("log", { start: at * BLOCK, stop: (at + 1) * BLOCK });
  const types = events.filter(({ kind }) => kind === "edge_type_registered").map(({ seq, detail }) => ({ seq, ...detail }));
  if (events.length === BLOCK) blocks.set(key, types);
  return types;
}

/** Return {code, name, seq} of a type that the service says was registered before an event, close to it or at the start. */
async function registered(memory, isWanted, before) {
  const near = Math.floor(Math.max(0, before - 1) / BLOCK);
  for (const at of new Set([near, Math.max(0, near - 1), 0])) {
    const found = (await blockOf(memory, at)).find((type) => isWanted(type) && type.seq < before);
    if (found !== undefined) return found;
  }
  return null;
}

/** Return the code and name of a type as the event at `seq` registered it, or null. */
async function openType(trust, seq) {
  const event = (await openEvents(trust, [seq])).get(seq);
  if (event instanceof CallFailed) throw event;
  return event instanceof Error || event.kind !== "edge type registered" ? null : { code: toHex(event.detail.code), name: event.body.name };
}

/** Return a map from the codes of registered types among `edges`, {type, seq}, to their names, as far as they are found. */
export async function namesOfTypes({ memory, trust }, edges) {
  const names = new Map();
  for (const code of new Set(edges.map(({ type }) => type).filter((type) => CODE.test(type)))) {
    const first = Math.min(...edges.filter(({ type }) => type === code).map(({ seq }) => seq));
    const told = await registered(memory, (type) => type.code === code, first);
    const type = told === null ? null : await openType(trust, told.seq);
    if (type?.code === code) names.set(code, type.name);
  }
  return names;
}

/** Return the code of a registered type with this name, or null if no event is found that registered it. */
export async function codeOfType({ memory, trust }, name, before) {
  const told = await registered(memory, (type) => type.name === name, before);
  const type = told === null ? null : await openType(trust, told.seq);
  return type?.name === name ? type.code : null;
}
