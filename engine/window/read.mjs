// Read: an atom in its page, its tags, edges and near-copies, and its history, drawn from what proofs opened.

import { atomLink, flat, titleOf } from "./atoms.mjs";
import { CallFailed } from "./client.mjs";
import { details, element, mark, quoted, visible } from "./dom.mjs";
import { CODE, NOT_FOUND, namesOfTypes } from "./edge_types.mjs";
import { content, counted, hash, second } from "./facts.mjs";
import { historyCard, historyOf } from "./history.mjs";
import { explained, failed, proved, provenanceMark, said, saidPart, unchanged, unprovable } from "./marks.mjs";
import { openAtoms, openEdges } from "./opened.mjs";
import { originsOf, whyCard } from "./origins.mjs";
import { NO_FILTERS } from "./routes.mjs";
import { tagChip } from "./search.mjs";
import { Refused } from "./verifier/index.mjs";

const NEIGHBOUR_CHARACTERS = 240;
const EDGES_MAX = 100;
const ERASED = "The content of this atom was erased. Only its id, its times and its history are left.";

/** Return the nodes that show an atom. */
export async function reading({ memory, trust, route, signal }) {
  const id = await wholeId(memory, route.atom, signal);
  const atom = (await openAtoms(trust, [id], true)).get(id);
  signal.throwIfAborted();
  if (atom instanceof Error) return unproved(memory, id, atom, route, signal);
  if (atom.version === undefined) return [element("section", { class: "card" }, back(route), proved(`atom ${id}`, element("p", {}, `The atom ${id} was never recorded.`)), unchanged(trust.head))];
  const given = { memory, trust, route, signal };
  const [history, edges] = [await orError(historyOf(given, atom)), await orError(edgesOf(given, id))];
  const { near, page } = await whatElse(given, atom);
  const origins = await originsOf(given, atom, edges);
  const around = edges instanceof Error ? [] : [...edges.from, ...edges.to].slice(0, 2 * EDGES_MAX).flatMap(({ src, dst }) => [src, dst]);
  const others = await openAtoms(trust, [...around, ...near.map((copy) => copy.id), ...page.around, ...origins.ids]);
  signal.throwIfAborted();
  return [
    atomCard(atom, { trust, route, history, page, others }),
    whyCard(history, origins, route, others),
    edgesCard(edges, id, route, others),
    near.length === 0 ? null : copiesCard(near, route, others),
    historyCard(history),
  ].filter((node) => node !== null);
}

/** Return the whole id of a shortened one. What the service names must begin with it. */
async function wholeId(memory, given, signal) {
  const digits = given.replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]{32}$/.test(digits)) return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const id = String(await memory.call("resolve", { id: given }, signal));
  if (!id.replaceAll("-", "").startsWith(digits)) throw new CallFailed({ code: "changed", detail: `The service names another atom than one that begins with ${given}.` });
  return id;
}

async function orError(promise) {
  try {
    return await promise;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof CallFailed)) throw error;
    return error;
  }
}

async function edgesOf({ memory, trust }, id) {
  const { from, to } = await openEdges(trust, id);
  const names = await namesOfTypes({ memory, trust }, [...from, ...to]);
  const named = (edge) => ({ ...edge, code: edge.type, type: names.get(edge.type) ?? edge.type, isNamed: names.has(edge.type) || !CODE.test(edge.type) });
  return { from: from.map(named), to: to.map(named) };
}

/** Return what the service names beside an atom: near-copies, and the atoms before and after it in its page. */
async function whatElse({ memory, signal }, { id, source, sequence, state }) {
  const inPage = state === "live" && source !== null && sequence !== null;
  const [groups, page] = await Promise.all([
    memory.call("duplicates", { of: id, limit: 1 }, signal),
    inPage ? memory.call("page", { name: source }, signal).catch(() => ({ ids: [] })) : { ids: [] },
  ]);
  const near = groups.flatMap(({ keep, others }) => [keep, ...others]).filter((one) => one.id !== id);
  const at = page.ids.indexOf(id);
  const [before, after] = at < 0 ? [] : [page.ids[at - 1], page.ids[at + 1]];
  const place = at < 0 ? null : `${at + 1} of ${page.ids.length}`;
  return { near, page: { before, after, place, around: [before, after].filter((one) => one !== undefined) } };
}

const back = (route) => element("a", { class: "back", href: route.to({ atom: null }) }, element("span", { "aria-hidden": "true" }, "← "), "Back to the answers");

/** Return what is shown of an atom of which there is no proof: the reason, and what the service says. */
async function unproved(memory, id, error, route, signal) {
  const told = await memory.call("get", { id }, signal);
  return [
    element(
      "section",
      { class: "card" },
      back(route),
      element("div", { class: "place" }, failed(error)),
      ...saidPart(element("h2", { class: "atom-title" }, ...visible(titleOf(told))), content(told.content)),
    ),
  ];
}

const sourceLink = (source, route) =>
  element("a", { href: route.to({ ...NO_FILTERS, sources: [source], query: "", atom: null }) }, quoted(source));

/** Return the beginning of a neighbour, which leads to the whole, if it is recorded to stand on that side in the page. */
function neighbour(where, other, atom, route, isThere) {
  if (other === undefined) return null;
  const error = other instanceof Error ? other : other.source === atom.source && isThere(other.sequence, atom.sequence) ? null : new Refused("changed", "the atom does not stand there in the page");
  if (error !== null) return element("div", { class: "neighbour" }, where, failed(error));
  return proved(
    `neighbour ${other.id}`,
    element(
      "div",
      { class: "neighbour" },
      element(
        "p",
        { class: "row" },
        element("span", {}, where),
        element("a", { href: route.to({ atom: other.id }), dir: "auto" }, ...visible(flat(other.title ?? "") || "without a title")),
        provenanceMark(other.provenance),
      ),
      element("p", { class: "neighbour-text", dir: "auto" }, ...visible(flat(other.content ?? "").slice(0, NEIGHBOUR_CHARACTERS))),
    ),
  );
}

function atomCard(atom, { trust, route, history, page, others }) {
  const isErased = atom.state === "erased";
  const events = history instanceof Error ? [] : history.events;
  const created = atom.created ?? events[0]?.time;
  const changed = events.length < 2 ? undefined : events.at(-1).time;
  const text = isErased ? element("p", { class: "notice" }, ERASED) : content(atom.content);
  const isBefore = (sequence, own) => sequence <= own;
  const isAfter = (sequence, own) => sequence >= own;
  const node = element(
    "div",
    { class: "stack" },
    element("h2", { class: "atom-title", dir: "auto" }, ...visible(isErased ? "Erased" : atom.title ?? atom.source ?? "Atom")),
    neighbour("Before it:", page.before && others.get(page.before), atom, route, isBefore),
    text,
    neighbour("After it:", page.after && others.get(page.after), atom, route, isAfter),
    isErased || atom.tags.length === 0 ? null : element("div", { class: "chips" }, ...atom.tags.map((tag) => tagChip(tag, route))),
    details([
      ["state", atom.state],
      ["provenance", isErased ? null : quoted(atom.provenance)],
      ["trust", isErased ? null : atom.trust === null ? "not given" : String(atom.trust)],
      ["source", isErased ? null : atom.source === null ? "none" : sourceLink(atom.source, route)],
      ["sequence", atom.sequence === null ? null : String(atom.sequence)],
      ["place in the page", page.place === null ? null : said(page.place)],
      ["kind", isErased ? null : quoted(atom.kind)],
      ["created", created === undefined ? null : second(created)],
      ["changed", changed === undefined ? null : second(changed)],
      ["version", String(atom.version)],
      ["id", hash(atom.id)],
    ]),
  );
  return element(
    "section",
    { class: "card" },
    back(route),
    element(
      "div",
      { class: "place" },
      unchanged(trust.head),
      provenanceMark(atom.provenance),
      atom.state === "tombstoned" ? mark("warned", "Tombstoned: searches leave it out") : null,
      explained(),
    ),
    proved(`atom ${atom.id}`, node),
    isErased ? null : element("p", { class: "small" }, element("a", { href: route.to({ view: "upkeep", at: null, atom: null, erase: atom.id }) }, "What an erasure would reach")),
  );
}

function edgesCard(edges, id, route, others) {
  const heading = element(
    "div",
    { class: "heading" },
    element("h2", {}, "Connections"),
    element("a", { class: "small", href: route.to({ around: [id], query: "", form: "graph", view: null, ...NO_FILTERS }) }, "Draw them as a graph"),
  );
  if (edges instanceof Error) return element("section", { class: "card" }, heading, failed(edges));
  const row = (edge, other) =>
    proved(`edge ${edge.src} ${edge.code} ${edge.dst}`, element("li", {}, element("span", { class: "muted" }, quoted(edge.type.replaceAll("_", " "))), atomLink(other, others.get(other), route), edge.isNamed ? null : unprovable("The name of this type", NOT_FOUND)));
  const listed = (words, some, otherOf) => {
    if (some.length === 0) return [];
    const rows = some.slice(0, EDGES_MAX).map((edge) => row(edge, otherOf(edge)));
    const left = some.length > EDGES_MAX ? element("p", { class: "muted small" }, `${EDGES_MAX} of ${some.length.toLocaleString("en")} are shown.`) : null;
    return [element("h3", {}, words), element("ul", { class: "links" }, ...rows), left];
  };
  const count = edges.from.length + edges.to.length;
  return element(
    "section",
    { class: "card" },
    heading,
    ...listed("From here →", edges.from, ({ dst }) => dst),
    ...listed("← Links to here", edges.to, ({ src }) => src),
    proved(`edges ${id}`, element("p", { class: "muted small" }, count === 0 ? "None." : `These are all: ${counted(count, "connection")}.`)),
  );
}

const copiesCard = (copies, route, others) =>
  element(
    "section",
    { class: "card" },
    element("h2", {}, "Nearly the same"),
    element(
      "ul",
      { class: "links" },
      ...copies.map(({ id, distance }) => element("li", {}, atomLink(id, others.get(id), route), said(`${counted(distance ?? 0, "bit")} apart`))),
    ),
    unprovable("Which texts are nearly the same"),
  );
