// Why an atom is here: who brought it, what it was made from, in several steps, and what replaces it.

import { atomLink } from "./atoms.mjs";
import { details, element, quoted } from "./dom.mjs";
import { second } from "./facts.mjs";
import { failed, proved, said, unprovable } from "./marks.mjs";
import { openEdges, openEvents } from "./opened.mjs";
import { readBodyItem } from "./verifier/cbor.mjs";

const DERIVATION = ["derived_from", "supersedes"];
const HOPS_MAX = 6;
const ATOMS_MAX = 100;
const EDGES_MAX = 20;

/**
 * Return {steps, newer, told, ids}: the edges to what an atom was made from, each with the number of hops, found from atom
 * to atom in complete lists; the edges of what replaces it, with their events; and what else the service names.
 */
export async function originsOf({ memory, trust, signal }, atom, edges) {
  const steps = edges instanceof Error ? [] : await stepsFrom(trust, atom.id, edges.from);
  const replacing = edges instanceof Error ? [] : edges.to.filter(({ type }) => type === "supersedes").slice(0, EDGES_MAX);
  const events = await openEvents(trust, replacing.map(({ seq }) => seq));
  const newer = replacing.map((edge) => ({ ...edge, event: events.get(edge.seq) }));
  const known = new Set([atom.id, ...steps.map(({ dst }) => dst)]);
  const told = (await memory.call("why", { id: atom.id }, signal)).filter(({ id }) => !known.has(id));
  return { steps, newer, told, ids: [...steps.map(({ dst }) => dst), ...newer.map(({ src }) => src), ...told.map(({ id }) => id)] };
}

async function stepsFrom(trust, id, first) {
  const [found, seen] = [[], new Set([id])];
  let level = first.filter(({ type }) => DERIVATION.includes(type)).slice(0, EDGES_MAX);
  for (let hops = 1; hops <= HOPS_MAX && level.length > 0; hops++) {
    const fresh = level.filter(({ dst }) => !seen.has(dst) && seen.add(dst) && seen.size <= ATOMS_MAX);
    found.push(...fresh.map((edge) => ({ ...edge, hops })));
    level = [];
    for (const { dst } of fresh) level.push(...(await openEdges(trust, [dst], DERIVATION).catch(() => ({ from: [] }))).from.slice(0, EDGES_MAX));
  }
  return found;
}

/** What stands before the actor of an event. */
const VERBS = new Map([
  ["atom added", "added by"],
  ["atom revised", "last changed by"],
  ["atom tombstoned", "hidden by"],
  ["atom revived", "brought back by"],
  ["tags added", "last tagged by"],
  ["tags removed", "tags removed by"],
  ["erased", "erased by"],
]);

/** Return the card, or null if there is nothing to say. */
export function whyCard(history, { steps, newer, told }, route, others) {
  if (history instanceof Error) return null;
  const [first, last] = [history.events[0], history.events.at(-1)];
  const step = ({ kind, actor, time }) => [VERBS.get(kind) ?? kind, element("span", {}, quoted(actor), ", ", element("time", {}, second(time)))];
  const rows = [
    ...newer.map(({ src, dst, event }) => proved(`replaced ${src} ${dst}`, element("li", {}, element("span", { class: "muted" }, "replaced by"), atomLink(src, others.get(src), route), replacedAt(event)))),
    ...steps.map(({ src, dst, type, hops }) =>
      proved(`origin ${src} ${dst}`, element("li", {}, element("span", { class: "muted" }, type.replaceAll("_", " "), hops > 1 ? `, in ${hops} steps` : "", " →"), atomLink(dst, others.get(dst), route))),
    ),
    ...told.map(({ id, by }) => element("li", {}, said(quoted(String(by).replaceAll("_", " ")), " →"), atomLink(id, others.get(id), route))),
  ];
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Why it is here"),
    proved(`why ${history.events[0].id}`, details(last === first ? [step(first)] : [step(first), step(last)])),
    rows.length === 0 ? null : element("ul", { class: "links" }, ...rows),
    told.length === 0 ? null : element("div", {}, unprovable("What is slanted")),
  );
}

function replacedAt(event) {
  if (event instanceof Error) return failed(event);
  const reason = event.body?.data?.length > 0 ? reasonOf(event.body.data) : "";
  return element("span", { class: "muted small" }, second(event.time), ", ", quoted(event.actor), reason ? ": " : "", quoted(reason));
}

/** Return the reason in the data of an edge, which is a map if the edge was made by a command of memroot. */
function reasonOf(data) {
  try {
    const reason = readBodyItem(data).get("reason");
    return typeof reason === "string" ? reason : "";
  } catch {
    return "";
  }
}
