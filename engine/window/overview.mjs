// What is shown before a question: pages and conversations, names, days and tags, what changed since the last visit, and
// what waits for somebody.

import { atomLink, distinct, titleOf } from "./atoms.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { element, visible } from "./dom.mjs";
import { counted, dayOf, second } from "./facts.mjs";
import { checking } from "./failures.mjs";
import { proved, provenanceMark, said, summary, unprovable } from "./marks.mjs";
import { openAtoms } from "./opened.mjs";
import { pageName } from "./pages.mjs";
import { NO_FILTERS } from "./routes.mjs";
import { tagWord } from "./search.mjs";

const TAGS_MAX = 24;
const PAGES_MAX = 30;
const RECENT = 10;
const SHOWN_MAX = 18;
const NAMES_MAX = 1_000;

export async function overview(given) {
  const { memory, route, signal } = given;
  const moment = route.moment();
  // The tags of a large memory take a second to count: they are counted after the pages are shown.
  let count;
  const tags = new Promise((resolve) => (count = () => resolve(memory.call("tags", {}, signal))));
  const [status, open, sources, recent, entities] = await Promise.all([
    moment === null ? memory.call("status", {}, signal) : null,
    moment === null ? memory.call("conflicts", {}, signal) : [],
    memory.call("sources", { limit: PAGES_MAX }, signal),
    memory.call("recent", { limit: RECENT }, signal),
    memory.call("find", { kinds: ["entity"], limit: NAMES_MAX }, signal),
  ]);
  const isEmpty = status?.live_atoms === 0;
  return [
    element(
      "div",
      { class: "card empty" },
      element("h2", { class: "atom-title" }, moment === null ? "What is in this memory?" : "What was in this memory?"),
      ...(isEmpty ? empty(memory) : [element("p", { class: "muted" }, ...(moment === null ? countsOf(status) : [`There were ${counted(moment + 1, "event")}. Ask a question about this moment.`])), ...(moment === null ? news(status, open, given) : [])]),
    ),
    ...(isEmpty ? [] : [pagesCard([...sources.map(({ newest }) => newest), ...recent.map(({ atom }) => atom.id)], count, given), entities.length === 0 ? null : namesCard(entities, tags, given), tagsCard(tags, given)]),
  ].filter((node) => node !== null);
}

/** Return what to do with a memory that has no text. */
const empty = (memory) => [
  element("p", {}, "Nothing yet. To add a text, or a folder of notes:"),
  commandNode(engine(memory, command`add ${"The kettle is descaled on Fridays."}`)),
  commandNode(engine(memory, command`ingest ${"NOTES"}`)),
];

const countsOf = (status) => [said(`${counted(status.live_atoms, "atom")}, ${counted(status.events, "event")}.`), " Ask a question, or press / to search."];

/** Return what changed since this browser was here, and what waits to be settled. */
function news({ events }, open, { trust, route }) {
  const isNew = trust.visited !== null && trust.visited < events;
  const since = isNew ? element("a", { href: route.to({ view: "time", at: String(trust.visited - 1) }) }, said(`${counted(events - trust.visited, "event")} since your last visit`)) : null;
  const waiting = open.length === 0 ? null : element("a", { href: route.to({ view: "upkeep" }) }, said(`${counted(open.length, "conflict")} to settle`));
  return [element("p", { class: "row" }, since, waiting)];
}

/** Return a card whose marks and parts come when `make` has made them; it returns both. */
function later(make) {
  const [place, list] = [element("div", { class: "summary" }), element("div", { class: "stack" })];
  checking(place, async () => {
    const [marks, parts] = await make();
    list.replaceChildren(...parts);
    place.replaceChildren(...marks);
  });
  return element("section", { class: "card stack" }, place, list);
}

const part = (heading, rows) => (rows.length === 0 ? [] : [element("section", { class: "stack" }, element("h2", {}, heading), element("ul", { class: "links across" }, ...rows))]);

function tagsCard(tags, { route }) {
  const link = ([tag, count]) => element("a", { class: "chip", href: route.to({ tags: [tag], query: "" }) }, tagWord(tag), element("span", { class: "muted" }, count.toLocaleString("en")));
  const chips = (some) => element("div", { class: "chips said" }, ...Object.entries(some).sort(([, one], [, other]) => other - one).slice(0, TAGS_MAX).map(link));
  return later(async () => [[], [element("h2", {}, "Tags"), chips((await tags).people), chips((await tags).dreamer)]]);
}

/** Open atoms, and return the marks of them, and the rows that `row` makes of some. */
async function opened(ids, trust, route) {
  const found = await openAtoms(trust, ids);
  const outcomes = [...found.values()].map((atom) => ({ error: atom instanceof Error ? atom : null, altered: [] }));
  const rows = (row, shown = found) => [...found].filter(([id]) => shown.has(id)).map(([id, atom]) => (atom instanceof Error ? element("li", {}, atomLink(id, atom, route)) : proved(`recent ${id}`, row(atom))));
  return { found, rows, marks: summary(trust, "text", outcomes) };
}

/** Open the newest atom of each source, which names the source, and the newest atoms of all; then do what is `next`. */
function pagesCard(ids, next, { trust, route }) {
  return later(async () => {
    const { found, rows, marks } = await opened([...new Set(ids)], trust, route).finally(next);
    const atoms = [...found].filter(([, atom]) => !(atom instanceof Error));
    const isFirst = ([id, { source }]) => source === null || atoms.find(([, other]) => other.source === source)[0] === id;
    const shown = new Set([...found].filter(([, atom]) => atom instanceof Error).concat(atoms.filter(isFirst)).map(([id]) => id));
    const dated = atoms.map(([, atom]) => atom).filter(({ created }) => created !== null);
    return [[...marks, unprovable("That these are the newest")], [...part("Pages and conversations", rows((atom) => pageRow(atom, route), shown)), ...part("Days", dayRows(dated, route))]];
  });
}

function namesCard(entities, tags, { trust, route }) {
  return later(async () => {
    const { people, dreamer } = await tags;
    const countOf = ({ text }) => dreamer[String(text).toLowerCase().replaceAll(/\s+/g, "-")] ?? people[String(text).toLowerCase()] ?? 0;
    const names = distinct(entities).sort((one, other) => countOf(other) - countOf(one)).slice(0, SHOWN_MAX);
    const { rows, marks } = await opened(names.map(({ id }) => id), trust, route);
    return [[...marks, unprovable("That these have most texts")], part("People, places and other names", rows((atom) => element("li", {}, atomLink(atom.id, atom, route))))];
  });
}

function pageRow(atom, route) {
  if (atom.source === null) return element("li", {}, atomLink(atom.id, atom, route));
  return element("li", {}, element("a", { href: route.to({ atom: null, page: atom.source }), dir: "auto", title: titleOf(atom) }, ...visible(pageName(atom.source))), provenanceMark(atom.provenance));
}

/** Return the days of texts, the newest first, each of which leads to all texts of it. */
function dayRows(atoms, route) {
  const days = new Map(atoms.map(({ id, created }) => [second(created).slice(0, 10), { id, created }]));
  const after = (day) => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
  return [...days].sort(([one], [other]) => (one < other ? 1 : -1)).slice(0, SHOWN_MAX).map(([day, { id, created }]) => proved(`day of ${id}`, element("li", {}, element("a", { href: route.to({ ...NO_FILTERS, since: day, until: after(day), query: "" }) }, dayOf(created)))));
}
