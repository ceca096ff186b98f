// How atoms are named and compared: those that a proof opened, and those of which the service says something.

import { element, mark, visible } from "./dom.mjs";
import { failed, provenanceMark, said } from "./marks.mjs";
import { tagIdentity } from "./tags.mjs";

const TITLE_CHARACTERS = 160;

/** Return a text on one line. */
export const flat = (text) => text.replaceAll(/\s+/gu, " ").trim();

/** Return the words by which an atom is known: its title, the beginning of its text, or its id. */
export const titleOf = ({ id, title, content }) => flat(title ?? content ?? "").slice(0, TITLE_CHARACTERS) || id;

/** Return a link to an atom, an outcome of `openAtoms`; an atom that was not opened is known by its id only. */
export function atomLink(id, atom, route, changes = {}) {
  const link = element("a", { href: route.to({ atom: id, ...changes }), dir: "auto" });
  if (atom instanceof Error) {
    link.append(id);
    return said(link, failed(atom));
  }
  link.append(...visible(titleOf(atom)));
  return element("span", { class: "row" }, link, provenanceMark(atom.provenance), atom.state === "live" ? null : mark("warned", atom.state));
}

const FIELDS = ["title", "source", "provenance", "kind", "content"];
const sorted = (tags) => [...new Set(tags.map((tag) => tagIdentity(String(tag))))].sort().join(", ");

/** Return in which fields the service says something else of an atom than is recorded: [name, told, recorded]. */
export function alterations(told, atom) {
  const rows = FIELDS.filter((name) => told[name] !== undefined && !isSame(told, atom, name)).map((name) => [name, told[name], atom[name]]);
  const tells = told.sequence !== undefined && String(told.sequence) !== String(atom.sequence);
  if (tells) rows.push(["place in the page", told.sequence, atom.sequence]);
  if (Array.isArray(told.tags) && atom.tags !== null && sorted(told.tags) !== sorted(atom.tags)) rows.push(["tags", told.tags.join(", "), atom.tags.join(", ")]);
  return rows;
}

/** A hit of a search has no content, but a snippet. */
const isSame = (told, atom, name) => told[name] === atom[name] || (name === "content" && told.content === null && told.snippet !== undefined);

/** Return the outcome of what the service told of an atom: {told, atom, error, altered}; `more` finds further differences. */
export function outcomeOf(told, atom, more = () => []) {
  if (atom instanceof Error) return { told, atom: null, error: atom, altered: [] };
  return { told, atom, error: null, altered: [...alterations(told, atom), ...more(told, atom)] };
}

/** Return the items of an answer, each id once. */
export const distinct = (items) => [...new Map(items.map((item) => [item.id, item])).values()];
