// Read: an atom in its page, its tags, edges and near-copies, and its history, drawn from what proofs opened.

import { atomLink, titleOf } from "./atoms.mjs";
import { actButton, changeCard } from "./changing.mjs";
import { CallFailed } from "./client.mjs";
import { details, element, mark, quoted, visible } from "./dom.mjs";
import { CODE, NOT_FOUND, namesOfTypes } from "./edge_types.mjs";
import { content, counted, hash, second } from "./facts.mjs";
import { historyCard, historyOf } from "./history.mjs";
import { explained, failed, proved, provenanceMark, said, saidPart, unchanged, unprovable } from "./marks.mjs";
import { rendered } from "./markdown.mjs";
import { expected, openAtoms, openEdges } from "./opened.mjs";
import { originsOf, whyCard } from "./origins.mjs";
import { inOrder, isConversation, linkTo, pageName, pieces, turns } from "./pages.mjs";
import { NO_FILTERS } from "./routes.mjs";
import { tagChip } from "./search.mjs";

/** So many texts are asked for to find those around an atom, and so many turns of a conversation are shown on each side. */
const PAGE_MAX = 500;
const TURNS = 4;
/** The kind of an atom that is a name. */
const ENTITY = "entity";
const EDGES_MAX = 100;
const ERASED = "The content of this atom was erased. Only its id, its times and its history are left.";

/** Return the nodes that show an atom. */
export async function reading({ memory, trust, route, signal, changed }) {
  const id = await wholeId(memory, route.atom, signal);
  const atom = (await openAtoms(trust, [id], true)).get(id);
  signal.throwIfAborted();
  if (atom instanceof Error) return unproved(memory, id, atom, route, signal);
  if (atom.version === undefined) return [element("section", { class: "card" }, back(route), proved(`atom ${id}`, element("p", {}, `The atom ${id} was never recorded.`)), unchanged(trust.head))];
  const given = { memory, trust, route, signal, changed };
  const [history, edges] = [await historyOf(given, atom).catch(expected), await edgesOf(given, id).catch(expected)];
  const { near, page } = await whatElse(given, atom);
  const origins = await originsOf(given, atom, edges);
  const around = edges instanceof Error ? [] : [...edges.from, ...edges.to].slice(0, 2 * EDGES_MAX).flatMap(({ src, dst }) => [src, dst]);
  const others = await openAtoms(trust, [...around, ...near.map((copy) => copy.id), ...page.around, ...origins.ids]);
  signal.throwIfAborted();
  return [
    atomCard(atom, { trust, route, history, page, others }),
    changeCard(atom, given),
    edgesCard(edges, id, given, others),
    whyCard(history, origins, route, others),
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

async function edgesOf({ memory, trust }, id) {
  const { from, to } = await openEdges(trust, [id]);
  const names = await namesOfTypes({ memory, trust }, [...from, ...to]);
  const named = (edge) => ({ ...edge, code: edge.type, type: names.get(edge.type) ?? edge.type, isNamed: names.has(edge.type) || !CODE.test(edge.type) });
  return { from: from.map(named), to: to.map(named) };
}

/** Return what the service names beside an atom: near-copies, and the atoms around it in its source. */
async function whatElse({ memory, signal }, { id, source, sequence, state }) {
  const inPage = state === "live" && source !== null && sequence !== null;
  const [groups, found] = await Promise.all([
    memory.call("duplicates", { of: id, limit: 1 }, signal),
    inPage ? memory.call("find", { sources: [source], form: "full", limit: PAGE_MAX }, signal) : [],
  ]);
  const near = groups.flatMap(({ keep, others }) => [keep, ...others]).filter((one) => one.id !== id);
  const ids = found.map(({ atom }) => atom).sort((one, other) => one.sequence - other.sequence).map((one) => one.id);
  const at = ids.indexOf(id);
  const around = at < 0 ? [] : ids.slice(Math.max(0, at - TURNS), at + TURNS + 1);
  const place = at < 0 || found.length === PAGE_MAX ? null : `${at + 1} of ${ids.length}`;
  return { near, page: { place, around } };
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

/** Return the words over an atom: its title, the name that it is, its page, or its first words. */
const headingOf = (atom) => atom.title ?? (atom.kind !== ENTITY && atom.source !== null ? pageName(atom.source) : titleOf(atom));

/** Return the text of an atom among those around it: the turns of its conversation, or its page. */
function textNodes(atom, page, others, route) {
  if (atom.kind === ENTITY) return [];
  const around = inOrder(page.around.map((id) => others.get(id)).filter((one) => !(one instanceof Error) && one.source === atom.source));
  if (isConversation(around)) return turns(around, route, atom.id);
  const at = around.findIndex(({ id }) => id === atom.id);
  if (at < 0) return [rendered(atom.content, linkTo(route))];
  return pieces(around.slice(Math.max(0, at - 1), at + 2), headingOf(atom), route, atom.id);
}

function atomCard(atom, { trust, route, history, page, others }) {
  const isErased = atom.state === "erased";
  const events = history instanceof Error ? [] : history.events;
  const node = element(
    "div",
    { class: "stack around" },
    element("h2", { class: "atom-title", dir: "auto" }, ...visible(isErased ? "Erased" : headingOf(atom))),
    isErased || atom.source === null ? null : element("div", { class: "row" }, "From ", element("a", { href: route.to({ page: atom.source, atom: atom.id }) }, quoted(pageName(atom.source))), page.place === null ? null : said(page.place)),
    ...(isErased ? [element("p", { class: "notice" }, ERASED)] : textNodes(atom, page, others, route)),
    isErased || atom.tags.length === 0 ? null : element("div", { class: "chips" }, ...atom.tags.map((tag) => tagChip(tag, route))),
  );
  return element(
    "section",
    { class: "card" },
    back(route),
    element("div", { class: "place" }, unchanged(trust.head), provenanceMark(atom.provenance), atom.state === "tombstoned" ? mark("warned", "Tombstoned: searches leave it out") : null),
    proved(`atom ${atom.id}`, node),
    aboutNode(atom, events),
    isErased ? null : element("p", { class: "small" }, element("a", { href: route.to({ view: "upkeep", at: null, atom: null, erase: atom.id }) }, "What an erasure would reach")),
  );
}

/** Return the fields of an atom, and its text as it was written, folded. */
function aboutNode(atom, events) {
  const isErased = atom.state === "erased";
  const created = atom.created ?? events[0]?.time;
  const changed = events.length < 2 ? undefined : events.at(-1).time;
  const fields = details([
    ["state", atom.state],
    ["provenance", isErased ? null : quoted(atom.provenance)],
    ["trust", isErased ? null : atom.trust === null ? "not given" : String(atom.trust)],
    ["source", isErased ? null : atom.source === null ? "none" : quoted(atom.source)],
    ["sequence", atom.sequence === null ? null : String(atom.sequence)],
    ["kind", isErased ? null : quoted(atom.kind)],
    ["created", created === undefined ? null : second(created)],
    ["changed", changed === undefined ? null : second(changed)],
    ["version", String(atom.version)],
    ["id", hash(atom.id)],
  ]);
  const written = element("div", { class: "raw" });
  const opened = ({ target }) => target.open && !isErased && written.replaceChildren(content(atom.content));
  return element("details", { class: "small", ontoggle: opened }, element("summary", {}, "About this text"), explained(), proved(`atom ${atom.id}`, element("div", { class: "stack" }, fields, written)));
}

function edgesCard(edges, id, given, others) {
  const { memory, route } = given;
  const heading = element(
    "div",
    { class: "heading" },
    element("h2", {}, "Connections"),
    element("a", { class: "small", href: route.to({ around: [id], query: "", form: "graph", view: null, ...NO_FILTERS }) }, "Draw them as a graph"),
  );
  if (edges instanceof Error) return element("section", { class: "card" }, heading, failed(edges));
  const remove = ({ src, type, dst }) => actButton("Remove", async () => [await memory.call("unlink", { src, type, dst })], given, `Remove ${type}`);
  const row = (edge, other) =>
    proved(`edge ${edge.src} ${edge.code} ${edge.dst}`, element("li", {}, element("span", { class: "muted" }, quoted(edge.type.replaceAll("_", " "))), atomLink(other, others.get(other), route), edge.isNamed ? null : unprovable("The name of this type", NOT_FOUND), memory.mayWrite ? remove(edge) : null));
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
