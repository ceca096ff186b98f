// Read: an atom in its page, its tags, edges and near-copies, and its history, each with what was checked of it.

import { markAll } from "./batches.mjs";
import { claimsOf, compareAtom, compareChain, compareEvent } from "./checked.mjs";
import { differences } from "./differences.mjs";
import { details, element, quoted, visible } from "./dom.mjs";
import { NOT_FOUND, claimsOfEdges } from "./edge_claims.mjs";
import { content, counted, day, hash } from "./facts.mjs";
import { failed, markWhen, pending, unprovable } from "./marks.mjs";
import { NO_FILTERS } from "./routes.mjs";
import { tagChip } from "./search.mjs";

const TITLE_CHARACTERS = 160;
const EDGES_MAX = 100;
const WITH_TEXT = ["atom_added", "atom_revised"];

/** Return the nodes that show an atom, and start the checks of what they show. */
export async function reading({ memory, trust, route, signal }) {
  const id = await memory.call("resolve", { id: route.atom }, signal);
  const moment = route.moment();
  const [atom, all, linked, near] = await Promise.all([
    memory.call("get", { id }, signal),
    memory.call("history", { id }, signal),
    memory.call("edges", { id, direction: "both", tombstoned: moment !== null, limit: EDGES_MAX }, signal),
    moment === null ? memory.call("duplicates", { of: id, limit: 1 }, signal) : [],
  ]);
  const { events, edges, changed } = until(moment, all, linked);
  const ends = edges.map(({ src, dst }) => (src === id ? dst : src));
  const around = await neighbours(memory, atom, signal);
  const copies = near.flatMap(({ keep, others }) => [keep, ...others]).filter((one) => one.id !== id);
  const wanted = [...new Set([...ends, ...around, ...copies.map((copy) => copy.id)])].filter((one) => one !== null);
  const titles = wanted.length === 0 ? {} : await memory.call("titles", { ids: wanted }, signal);
  return [
    atomCard(atom, trust, route, around, titles),
    edgesCard(edges, changed, id, { memory, trust }, route, titles),
    copies.length === 0 ? null : copiesCard(copies, route, titles),
    historyCard(events, atom, trust),
  ].filter((node) => node !== null);
}

/**
 * Return the events and edges up to a moment. The service gives edges as they are now: one whose last event is later
 * cannot be shown as it was, and is counted in `changed`.
 */
function until(moment, events, edges) {
  if (moment === null) return { events, edges, changed: 0 };
  const made = edges.filter(({ created_seq: seq }) => seq <= moment);
  const same = made.filter(({ last_seq: seq }) => seq <= moment);
  return {
    events: events.filter(({ seq }) => seq <= moment),
    edges: same.filter(({ state }) => state === "live"),
    changed: made.length - same.length,
  };
}

/** Return the ids of the atoms directly before and after an atom in its page, null where there is none. */
async function neighbours(memory, { id, source, sequence, state }, signal) {
  if (source === null || sequence === null || state !== "live") return [null, null];
  const page = await memory.call("page", { name: source }, signal).catch(() => ({ ids: [] }));
  const at = page.ids.indexOf(id);
  return at < 0 ? [null, null] : [page.ids[at - 1] ?? null, page.ids[at + 1] ?? null];
}

const linkTo = (id, titles, route) =>
  element(
    "a",
    { href: route.to({ atom: id }), dir: "auto" },
    ...visible((titles[id] ?? id).slice(0, TITLE_CHARACTERS)),
  );

const sourceLink = (source, route) =>
  element("a", { href: route.to({ ...NO_FILTERS, sources: [source], query: "", atom: null }) }, quoted(source));

const neighbour = (where, id, titles, route) =>
  id === null
    ? null
    : element("p", { class: "neighbour" }, element("span", { class: "small muted" }, where, ": "), linkTo(id, titles, route));

function atomCard(atom, trust, route, around, titles) {
  const place = element("div", { class: "place" });
  const check = async () => {
    const [fact] = await trust.check(claimsOf(atom));
    compareAtom(atom, fact);
  };
  markWhen(place, check, trust);
  const text = atom.content === null ? element("p", { class: "notice" }, "The content is erased.") : content(atom.content);
  return element(
    "section",
    { class: "card" },
    element(
      "div",
      { class: "row" },
      element("a", { class: "button", href: route.to({ atom: null }) }, "Back to the answers"),
    ),
    element("h2", { class: "atom-title", dir: "auto" }, ...visible(atom.title ?? atom.source ?? "Atom")),
    place,
    neighbour("Before it in the page", around[0], titles, route),
    text,
    neighbour("After it in the page", around[1], titles, route),
    atom.tags.length === 0
      ? null
      : element("div", { class: "chips" }, ...atom.tags.map((tag) => tagChip(tag, route))),
    details([
      ["state", atom.state],
      ["provenance", quoted(atom.provenance)],
      ["trust", atom.trust === null ? null : String(atom.trust)],
      ["source", atom.source === null ? null : sourceLink(atom.source, route)],
      ["kind", quoted(atom.kind)],
      ["created", day(atom.created)],
      ["changed", atom.updated === atom.created ? null : day(atom.updated)],
      ["version", String(atom.version)],
      ["id", hash(atom.id)],
    ]),
    element("p", { class: "small" }, element("a", { href: route.to({ view: "upkeep", at: null }) }, "What an erasure would reach")),
  );
}

/** Check edges, and mark each in its place. */
async function checkEdges(edges, places, { memory, trust }) {
  try {
    const proofs = await claimsOfEdges(memory, edges);
    for (const edge of edges) if (!proofs.has(edge)) places.get(edge).replaceChildren(unprovable("This relation", NOT_FOUND));
    await markAll(trust, [...proofs.keys()], {
      claims: (edge) => proofs.get(edge).claims,
      compare: (edge, facts) => proofs.get(edge).compare(facts),
      place: (edge) => places.get(edge),
    });
  } catch (error) {
    for (const place of places.values()) place.replaceChildren(failed(error));
  }
}

function edgesCard(edges, changed, id, given, route, titles) {
  const places = new Map(edges.map((edge) => [edge, element("span", {}, pending())]));
  checkEdges(edges, places, given);
  const rows = edges.map((edge) => {
    const outgoing = edge.src === id;
    return element(
      "li",
      {},
      element("span", { class: "muted" }, outgoing ? "" : "← ", quoted(edge.type.replaceAll("_", " ")), outgoing ? " →" : ""),
      linkTo(outgoing ? edge.dst : edge.src, titles, route),
      places.get(edge),
    );
  });
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Connections"),
    element("div", {}, element("a", { href: route.to({ around: [id], query: "", form: "graph", view: null, ...NO_FILTERS }) }, "Draw them as a graph")),
    rows.length === 0 ? element("p", { class: "muted" }, "None.") : element("ul", { class: "links" }, ...rows),
    changed === 0 ? null : element("p", { class: "muted" }, `${counted(changed, "connection")} changed after this moment, and ${changed === 1 ? "is" : "are"} not shown.`),
    element("div", {}, unprovable("That these are all")),
  );
}

const copiesCard = (copies, route, titles) =>
  element(
    "section",
    { class: "card" },
    element("h2", {}, "Nearly the same"),
    element(
      "ul",
      { class: "links" },
      ...copies.map(({ id, distance }) =>
        element("li", {}, linkTo(id, titles, route), element("span", { class: "muted small" }, `${counted(distance ?? 0, "bit")} apart`)),
      ),
    ),
  );

function historyCard(events, atom, trust) {
  const places = new Map(events.map((event) => [event, element("span", {}, pending())]));
  const whole = element("div", {}, pending());
  const facts = [];
  markAll(trust, events, {
    claims: ({ seq, kind, detail }) => [`event ${seq}${hasText(kind, detail) ? "" : " sealed"}`],
    compare: (event, [fact]) => {
      compareEvent(event, fact, atom.id);
      facts.push(fact);
    },
    place: (event) => places.get(event),
  }).then(() => markWhen(whole, () => checkWhole(atom, facts, trust), trust, "These are all events: "));
  let before = null;
  const rows = events.map((event) => {
    const text = hasText(event.kind, event.detail) ? event.detail.content : null;
    const change = text === null || before === null || text === before ? null : changeOf(before, text);
    before = text ?? before;
    return element(
      "li",
      {},
      element("div", { class: "row" }, element("strong", {}, event.kind.replaceAll("_", " ")), "by ", quoted(event.actor)),
      element("div", { class: "row" }, element("time", { datetime: event.time }, day(event.time)), `event ${event.seq}`, places.get(event)),
      event.detail.reason ? element("p", { class: "small" }, "Reason: ", quoted(event.detail.reason)) : null,
      change,
    );
  });
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "History"),
    element("ol", { class: "timeline" }, ...rows),
    whole,
  );
}

const hasText = (kind, detail) => WITH_TEXT.includes(kind) && typeof detail.content === "string";

/** Check that no event of an atom is left out: each names the one before, and the record names the last. */
async function checkWhole({ id, state }, facts, trust) {
  const [{ value }] = await trust.check([`atom ${id} ${state} sealed`]);
  compareChain(facts, value);
}

const ELEMENTS = { same: "span", gone: "del", new: "ins" };
const changeOf = (before, after) =>
  element(
    "p",
    { class: "change", dir: "auto" },
    ...differences(before, after).map(({ kind, text }) => element(ELEMENTS[kind], {}, ...visible(text))),
  );
