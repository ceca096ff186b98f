// The differences between two states of a memory: atoms, with their texts word by word, and connections.

import { differenceNode } from "./differences.mjs";
import { element, quoted, visible } from "./dom.mjs";
import { counted } from "./facts.mjs";

const OPEN_MAX = 10;
const TITLE_CHARACTERS = 160;

/** Return the lists of the atoms and of the connections that differ, at most `most` of each. */
export async function changeLists(memory, { atoms, edges }, route, most) {
  const shown = edges.slice(0, most);
  const unnamed = atoms.slice(0, most).filter((one) => (one.title ?? one.after ?? one.before) === null);
  const ids = new Set([...unnamed.map(({ id }) => id), ...shown.flatMap(({ src, dst }) => [src, dst])]);
  const titles = ids.size === 0 ? {} : await memory.call("titles", { ids: [...ids] });
  return [
    atoms.length === 0 ? null : element("ol", { class: "timeline" }, ...atoms.slice(0, most).map((one) => atomChange(one, titles, route))),
    edges.length === 0 ? null : edgeChanges(shown, edges.length, titles, route),
  ].filter((node) => node !== null);
}

function edgeChanges(edges, all, titles, route) {
  const link = (id) => element("a", { href: route.to({ view: null, atom: id, at: null }), dir: "auto" }, ...visible((titles[id] ?? id).slice(0, TITLE_CHARACTERS)));
  const rows = edges.map(({ src, type, dst, change }) =>
    element("li", {}, element("strong", {}, quoted(change)), link(src), element("span", { class: "muted" }, quoted(type.replaceAll("_", " ")), " →"), link(dst)),
  );
  return element("details", { open: rows.length <= OPEN_MAX }, element("summary", {}, counted(all, "connection")), element("ul", { class: "links" }, ...rows));
}

function atomChange({ id, change, title, fields, before, after, reason }, titles, route) {
  const words = (title ?? after ?? before ?? titles[id] ?? id).replaceAll(/\s+/gu, " ").slice(0, TITLE_CHARACTERS);
  const others = Object.keys(fields).filter((name) => name !== "tags");
  const [had, has] = fields.tags ?? [[], []];
  const tags = [...had.filter((tag) => !has.includes(tag)).map((tag) => ["del", tag]), ...has.filter((tag) => !had.includes(tag)).map((tag) => ["ins", tag])];
  const wasThere = change !== "added" && route.moment() !== null;
  return element(
    "li",
    {},
    element(
      "div",
      { class: "row" },
      element("strong", {}, quoted(change)),
      element("a", { href: route.to({ view: null, atom: id, at: wasThere ? route.at : null }), dir: "auto" }, ...visible(words)),
    ),
    others.length > 0 ? element("p", { class: "small muted" }, "changed: ", quoted(others.join(", "))) : null,
    tags.length > 0 ? element("p", { class: "row small" }, ...tags.map(([kind, tag]) => element(kind, {}, "#", quoted(tag)))) : null,
    reason ? element("p", { class: "small" }, "Reason: ", quoted(reason)) : null,
    before === null && after === null ? null : differenceNode(before, after),
  );
}
