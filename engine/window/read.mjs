// Read: an atom in its page, its tags, edges and near-copies, and its history, each with what was checked of it.

import { markAll } from "./batches.mjs";
import { claimsOf, compareAtom, compareChain, compareEvent } from "./checked.mjs";
import { differences } from "./differences.mjs";
import { details, element, mark, quoted, visible } from "./dom.mjs";
import { NOT_FOUND, claimsOfEdges } from "./edge_claims.mjs";
import { content, counted, day, hash } from "./facts.mjs";
import { failed, markWhen, pending, unprovable } from "./marks.mjs";
import { NO_FILTERS } from "./routes.mjs";
import { tagChip } from "./search.mjs";

const TITLE_CHARACTERS = 160;
const NEIGHBOUR_CHARACTERS = 240;
const EDGES_MAX = 100;
const ERASED = "The content of this atom was erased. Only its id, its times and its history are left.";
const WITH_TEXT = ["atom_added", "atom_revised"];

/** Return the nodes that show an atom, and start the checks of what they show. */
export async function reading({ memory, trust, route, signal }) {
  const id = await memory.call("resolve", { id: route.atom }, signal);
  const moment = route.moment();
  const [atom, history, edges, near, origins] = await Promise.all([
    memory.call("get", { id }, signal),
    memory.call("history", { id }, signal),
    memory.call("edges", { id, direction: "both", limit: EDGES_MAX }, signal),
    memory.call("duplicates", { of: id, limit: 1 }, signal),
    memory.call("why", { id }, signal),
  ]);
  const events = moment === null ? history : history.filter(({ seq }) => seq <= moment);
  const ends = edges.map(({ src, dst }) => (src === id ? dst : src));
  const page = await placeInPage(memory, atom, signal);
  const copies = near.flatMap(({ keep, others }) => [keep, ...others]).filter((one) => one.id !== id);
  const newer = origins.flatMap((origin) => origin.superseded_by.map((one) => one.id));
  const wanted = [...new Set([...ends, ...copies.map((copy) => copy.id), ...origins.map((origin) => origin.id), ...newer])];
  const titles = wanted.length === 0 ? {} : await memory.call("titles", { ids: wanted }, signal);
  return [
    atomCard(atom, trust, route, page),
    whyCard(events, origins, route, titles),
    edgesCard(edges, id, { memory, trust }, route, titles),
    copies.length === 0 ? null : copiesCard(copies, route, titles),
    historyCard(events, atom, trust),
  ].filter((node) => node !== null);
}

/** Return the atoms directly before and after an atom in its page, null where there is none, and its place there. */
async function placeInPage(memory, { id, source, sequence, state }, signal) {
  const alone = { around: [null, null], words: null };
  if (source === null || sequence === null || state !== "live") return alone;
  const page = await memory.call("page", { name: source }, signal).catch(() => ({ ids: [] }));
  const at = page.ids.indexOf(id);
  if (at < 0) return alone;
  const around = await Promise.all([at - 1, at + 1].map((other) => (page.ids[other] === undefined ? null : memory.call("get", { id: page.ids[other] }, signal))));
  return { around, words: element("span", {}, `${at + 1} of ${page.ids.length} in `, quoted(page.title)) };
}

const linkTo = (id, titles, route) =>
  element(
    "a",
    { href: route.to({ atom: id }), dir: "auto" },
    ...visible((titles[id] ?? id).slice(0, TITLE_CHARACTERS)),
  );

const sourceLink = (source, route) =>
  element("a", { href: route.to({ ...NO_FILTERS, sources: [source], query: "", atom: null }) }, quoted(source));

const flat = (text) => text.replaceAll(/\s+/gu, " ").trim();

/** Return the beginning of a neighbour, which leads to the whole. */
const neighbour = (where, atom, place, route) =>
  element(
    "div",
    { class: "neighbour" },
    element(
      "p",
      { class: "row" },
      element("span", {}, where),
      element("a", { href: route.to({ atom: atom.id }), dir: "auto" }, ...visible(flat(atom.title ?? "") || "without a title")),
      place,
    ),
    element("p", { class: "neighbour-text", dir: "auto" }, ...visible(flat(atom.content ?? "").slice(0, NEIGHBOUR_CHARACTERS))),
  );

/** Return the neighbours of an atom as nodes, null where there is none, and start the checks of them. */
function neighbourNodes([before, after], trust, route) {
  const atoms = [before, after].filter((one) => one !== null);
  const places = new Map(atoms.map((atom) => [atom, element("span", {}, pending())]));
  if (atoms.length > 0) {
    markAll(trust, atoms, {
      claims: claimsOf,
      compare: (atom, [fact]) => compareAtom(atom, fact),
      place: (atom) => places.get(atom),
    });
  }
  const node = (where, atom) => (atom === null ? null : neighbour(where, atom, places.get(atom), route));
  return [node("Before it:", before), node("After it:", after)];
}

/** What a provenance means to somebody who reads the text. */
const PROVENANCES = new Map([
  ["internal", "internal: written here"],
  ["external", "external: from outside"],
  ["quarantine", "quarantine: from a source that nobody trusts yet; last in searches"],
]);

function atomCard(atom, trust, route, { around, words }) {
  const place = element("div", { class: "place" });
  const check = async () => {
    const [fact] = await trust.check(claimsOf(atom));
    compareAtom(atom, fact);
  };
  markWhen(place, check, trust);
  const [before, after] = neighbourNodes(around, trust, route);
  const isErased = atom.state === "erased";
  const text = isErased ? element("p", { class: "notice" }, ERASED) : content(atom.content);
  return element(
    "section",
    { class: "card" },
    element("a", { class: "back", href: route.to({ atom: null }) }, element("span", { "aria-hidden": "true" }, "← "), "Back to the answers"),
    element("h2", { class: "atom-title", dir: "auto" }, ...visible(atom.title ?? atom.source ?? (isErased ? "Erased" : "Atom"))),
    place,
    atom.state === "tombstoned" ? mark("warned", "Tombstoned: searches leave it out") : null,
    atom.provenance === "quarantine" ? mark("warned", "In quarantine: do not rely on it") : null,
    before,
    text,
    after,
    atom.tags.length === 0
      ? null
      : element("div", { class: "chips" }, ...atom.tags.map((tag) => tagChip(tag, route))),
    details([
      ["state", atom.state],
      ["provenance", isErased ? null : quoted(PROVENANCES.get(atom.provenance) ?? atom.provenance)],
      ["trust", isErased ? null : atom.trust === null ? "not given" : String(atom.trust)],
      ["source", isErased ? null : atom.source === null ? "none" : sourceLink(atom.source, route)],
      ["place", words],
      ["kind", isErased ? null : quoted(atom.kind)],
      ["created", day(atom.created)],
      ["changed", atom.updated === atom.created ? null : day(atom.updated)],
      ["version", String(atom.version)],
      ["id", hash(atom.id)],
    ]),
    isErased
      ? null
      : element("p", { class: "small" }, element("a", { href: route.to({ view: "upkeep", at: null, atom: null, erase: atom.id }) }, "What an erasure would reach")),
  );
}

/** Return who brought the atom here and who changed it last, and what it was made from, in several steps. */
function whyCard(events, origins, route, titles) {
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined) return null;
  const [self, ...from] = origins;
  const newer = (self?.superseded_by ?? []).map(({ id, actor, at, reason }) =>
    element("li", {}, element("span", { class: "muted" }, "replaced by"), linkTo(id, titles, route), element("span", { class: "muted small" }, day(at), ", ", quoted(actor), reason ? ": " : "", quoted(reason ?? ""))),
  );
  const sources = from.map(({ id, by, hops, source }) =>
    element(
      "li",
      {},
      element("span", { class: "muted" }, quoted(by.replaceAll("_", " ")), hops > 1 ? `, in ${hops} steps` : "", " →"),
      linkTo(id, titles, route),
      source === null ? null : element("span", { class: "muted small" }, "from ", quoted(source)),
    ),
  );
  const step = ({ kind, actor, time }) => [VERBS.get(kind) ?? kind.replaceAll("_", " "), element("span", {}, quoted(actor), ", ", element("time", { datetime: time }, day(time)))];
  const rows = [...newer, ...sources];
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Why it is here"),
    details(last === first ? [step(first)] : [step(first), step(last)]),
    rows.length === 0 ? null : element("ul", { class: "links" }, ...rows),
    rows.length === 0 ? null : element("div", {}, unprovable("That this is its whole origin")),
  );
}

/** What stands before the actor of an event. */
const VERBS = new Map([
  ["atom_added", "added by"],
  ["atom_revised", "last changed by"],
  ["atom_tombstoned", "hidden by"],
  ["atom_revived", "brought back by"],
  ["tags_added", "last tagged by"],
  ["tags_removed", "tags removed by"],
  ["erased", "erased by"],
]);

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

function edgesCard(edges, id, given, route, titles) {
  const places = new Map(edges.map((edge) => [edge, element("span", {}, pending())]));
  checkEdges(edges, places, given);
  const row = (edge, other) =>
    element("li", {}, element("span", { class: "muted" }, quoted(edge.type.replaceAll("_", " "))), linkTo(other, titles, route), places.get(edge));
  const from = edges.filter(({ src }) => src === id).map((edge) => row(edge, edge.dst));
  const to = edges.filter(({ src }) => src !== id).map((edge) => row(edge, edge.src));
  const listed = (heading, rows) => (rows.length === 0 ? [] : [element("h3", {}, heading), element("ul", { class: "links" }, ...rows)]);
  return element(
    "section",
    { class: "card" },
    element(
      "div",
      { class: "heading" },
      element("h2", {}, "Connections"),
      element("a", { class: "small", href: route.to({ around: [id], query: "", form: "graph", view: null, ...NO_FILTERS }) }, "Draw them as a graph"),
    ),
    ...listed("From here →", from),
    ...listed("← Links to here", to),
    edges.length === 0 ? element("p", { class: "muted" }, "None.") : null,
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
