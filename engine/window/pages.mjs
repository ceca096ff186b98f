// A page: the atoms of one source as one text, or as a conversation, drawn from what proofs opened.

import { atomLink, flat, titleOf } from "./atoms.mjs";
import { CallFailed } from "./client.mjs";
import { element, mark, quoted, visible } from "./dom.mjs";
import { counted, dayOf, minuteOf } from "./facts.mjs";
import { rendered } from "./markdown.mjs";
import { failed, proved, provenanceMark, summary, unprovable } from "./marks.mjs";
import { expected, openAtoms, openEdges, openList } from "./opened.mjs";
import { NO_FILTERS } from "./routes.mjs";
import { Refused } from "./verifier/index.mjs";
import { escaped } from "./verifier/words.mjs";

const PIECES_MAX = 500;
const LINKED_MAX = 25;
const LINKS_MAX = 60;
/** A line that begins with who speaks. */
const SPEAKER = /^(\p{L}[\p{L}\p{M}\p{N} .'’-]{0,40}):\s/u;
const SPEAKERS_MAX = 20;

/** Return the speaker of a text, or null. */
const speakerOf = ({ content }) => SPEAKER.exec(content ?? "")?.[1] ?? null;

/** Return whether atoms of one source are the turns of a conversation. */
export function isConversation(atoms) {
  const speakers = atoms.map(speakerOf).filter((name) => name !== null);
  return atoms.length > 1 && speakers.length > 0.6 * atoms.length && new Set(speakers).size <= Math.min(SPEAKERS_MAX, speakers.length - 1);
}

/** Return the atoms of a source in their order. */
export const inOrder = (atoms) => atoms.sort((one, other) => Number(one.sequence ?? 0) - Number(other.sequence ?? 0) || Number(one.created_seq) - Number(other.created_seq));

/** Return the nodes that show the page of a place. */
export async function paged({ memory, trust, route, signal }) {
  const source = await sourceOf(memory, route.page, signal);
  const told = (await memory.call("find", { sources: [source], form: "short", limit: PIECES_MAX }, signal)).map(({ id }) => id);
  const name = escaped(source);
  const complete = told.length === PIECES_MAX ? null : await openList(trust, `all source ${name}`, `none source ${name}`).catch(expected);
  const ids = Array.isArray(complete) ? complete : told;
  const found = await openAtoms(trust, ids);
  signal.throwIfAborted();
  if (ids.length === 0) return [element("section", { class: "card empty" }, element("h2", {}, "No page of this name"), element("p", {}, quoted(route.page)), element("a", { href: route.to({ atom: null, query: route.page, view: null }) }, "Search for it"))];
  const isOfIt = (atom) => (atom instanceof Error || atom.source === source ? atom : new Refused("changed", "the atom is of another source"));
  const outcomes = ids.map((id) => ({ id, atom: isOfIt(found.get(id)) })).map(({ id, atom }) => ({ id, atom, error: atom instanceof Error ? atom : null, altered: [] }));
  const atoms = inOrder(outcomes.filter(({ error }) => error === null).map(({ atom }) => atom));
  const wrong = outcomes.filter(({ error }) => error !== null);
  const links = await linksOf(trust, atoms);
  signal.throwIfAborted();
  return [
    element(
      "section",
      { class: "card page" },
      element("a", { class: "back", href: route.to({ atom: null }) }, element("span", { "aria-hidden": "true" }, "← "), "Back"),
      proved(`page ${source}`, element("h2", { class: "atom-title" }, quoted(pageName(source)))),
      element("div", { class: "place" }, ...summary(trust, "text", outcomes), Array.isArray(complete) ? proved(`all of ${source}`, element("span", { class: "small" }, "These are all.")) : complete === null ? unprovable("That these are all") : failed(complete)),
      element("p", { class: "row" }, element("a", { href: route.to({ ...NO_FILTERS, sources: [source], atom: null, query: "" }) }, quoted(source)), counted(atoms.length, "text")),
      ...(isConversation(atoms) ? turns(atoms, route) : pieces(atoms, pageName(source), route)),
      ...wrong.map(({ id, error }) => element("p", {}, atomLink(id, error, route))),
    ),
    linksCard(links, route),
  ].filter((node) => node !== null);
}

/** Return the name of a page as people write it: without folders and suffix. */
export const pageName = (source) => source.split("/").at(-1).replace(/(?<=.)\.(?:md|markdown|txt|html?|pdf|docx|jsonl?)$/i, "");

/** Return the source of a page that is named by its path, title or alias; another name is that of a source. */
async function sourceOf(memory, name, signal) {
  try {
    return String((await memory.call("page", { name }, signal)).source);
  } catch (error) {
    if (!(error instanceof CallFailed) || error.status === 0 || error.status === 401) throw error;
    return name;
  }
}

/** Return the address of a page that a text names. */
export const linkTo = (route) => (name) => route.to({ page: name, atom: null });

/** Return a text without the indentation that all of its lines have; a page may be divided inside a list. */
function outdented(text) {
  const lines = text.split("\n");
  const least = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)[0].length));
  return Number.isFinite(least) && least > 0 ? lines.map((line) => line.slice(least)).join("\n") : text;
}

const moreOf = (atom, route) => element("a", { class: "more", href: route.to({ atom: atom.id }), "aria-label": `More about: ${titleOf(atom).slice(0, 60)}`, title: "This text alone: connections, tags, history" }, "⋯");

/** Return the pieces of a page, each with its title where that is new. */
export function pieces(atoms, name, route, current = route.atom) {
  let before = name;
  return atoms.map((atom) => {
    const { title } = atom;
    const isNew = title !== null && flat(title) !== flat(before ?? "") && !flat(atom.content ?? "").replace(/^#+ /, "").startsWith(flat(title));
    before = title ?? before;
    const node = element("section", { class: atom.id === current ? "piece current" : "piece" }, isNew ? element("h3", { dir: "auto" }, ...visible(title)) : null, provenanceMark(atom.provenance), rendered(outdented(atom.content ?? ""), linkTo(route)), moreOf(atom, route));
    return proved(`piece ${atom.id}`, node);
  });
}

/** Return the turns of a conversation, with the day before the first turn of each. */
export function turns(atoms, route, current = route.atom) {
  let day = null;
  return atoms.flatMap((atom) => {
    const today = atom.created === null ? null : dayOf(atom.created);
    const heading = today === day || today === null ? [] : [proved(`day of ${atom.id}`, element("h3", { class: "day" }, today))];
    day = today ?? day;
    return [...heading, turn(atom, route, current)];
  });
}

function turn(atom, route, current) {
  const speaker = speakerOf(atom);
  const text = speaker === null ? atom.content ?? "" : atom.content.replace(SPEAKER, "");
  const head = element("p", { class: "row" }, speaker === null ? null : element("strong", { class: "speaker" }, quoted(speaker)), atom.created === null ? null : element("time", {}, minuteOf(atom.created)), provenanceMark(atom.provenance), moreOf(atom, route));
  return proved(`piece ${atom.id}`, element("section", { class: atom.id === current ? "turn current" : "turn" }, head, rendered(text, linkTo(route))));
}

/** Return the edges that lead from the first atoms of a page to others, and from others to them, with the other atoms. */
async function linksOf(trust, atoms) {
  const own = new Set(atoms.map(({ id }) => id));
  try {
    const { from, to } = await openEdges(trust, atoms.slice(0, LINKED_MAX).map(({ id }) => id));
    const others = (ids) => [...new Set(ids)].filter((id) => !own.has(id));
    const [back, out] = [others(to.map(({ src }) => src)), others(from.map(({ dst }) => dst))];
    const found = await openAtoms(trust, [...back.slice(0, LINKS_MAX), ...out.slice(0, LINKS_MAX)]);
    return { back, out, found };
  } catch (error) {
    return expected(error);
  }
}

function linksCard(links, route) {
  const heading = element("h2", {}, "Linked with this page");
  if (links instanceof Error) return element("section", { class: "card" }, heading, failed(links));
  const { back, out, found } = links;
  if (back.length + out.length === 0) return null;
  const listed = (words, ids) =>
    ids.length === 0
      ? []
      : [
          element("h3", {}, `${words} (${ids.length.toLocaleString("en")})`),
          element("ul", { class: "links across" }, ...ids.slice(0, LINKS_MAX).map((id) => proved(`neighbour ${id}`, element("li", {}, pageOrAtom(id, found.get(id), route))))),
        ];
  return element("section", { class: "card" }, heading, ...listed("Links here", back), ...listed("Links from here", out));
}

/** Return a link to the page of an atom, or to the atom where it is of no page. */
function pageOrAtom(id, atom, route) {
  if (atom instanceof Error || atom.source === null) return atomLink(id, atom, route);
  const link = element("a", { href: route.to({ page: atom.source, atom: id }), dir: "auto" }, ...visible(atom.title === null ? titleOf(atom).slice(0, 60) : titleOf(atom)));
  return element("span", { class: "row" }, link, provenanceMark(atom.provenance), atom.state === "live" ? null : mark("warned", atom.state));
}
