// The same graph as a list: each node with its relations, as links and buttons.

import { element, quoted, visible } from "./dom.mjs";
import { counted } from "./facts.mjs";
import { markPlace } from "./graph_checks.mjs";
import { sample, wordsOf } from "./graph_relations.mjs";
import { NO_FILTERS } from "./routes.mjs";

const NODES_AT_ONCE = 50;
const LINKS_AT_ONCE = 20;
const TITLE_CHARACTERS = 160;

/** Return items as a list whose end shows more of them. */
function inParts(items, atOnce, row, attributes) {
  const list = element("ul", attributes);
  const more = element("button", { class: "button small", type: "button", onclick: () => add() });
  const whole = element("div", { class: "stack" }, list, more);
  let next = 0;
  function add() {
    const rows = items.slice(next, next + atOnce).map(row);
    next += atOnce;
    list.append(...rows);
    if (next > atOnce) rows[0].querySelector("a, button, summary")?.focus();
    more.textContent = `Show ${Math.min(atOnce, items.length - next)} more of ${(items.length - next).toLocaleString("en")}`;
    more.hidden = next >= items.length;
  }
  add();
  return whole;
}

/** Return the address of what a node stands for: an atom, the atoms with a tag, or what is found for a word. */
export function addressOf({ id, kind, tag, title }, route) {
  if (kind === "atom") return route.to({ atom: id });
  const asked = kind === "tag" ? { tags: [tag], query: "" } : { tags: [], query: title };
  return route.to({ ...NO_FILTERS, ...asked, form: "hits", around: [], atom: null });
}

export const titleNodes = ({ title, kind }) => [kind === "tag" ? "#" : "", quoted(title.replaceAll(/\s+/gu, " ").slice(0, TITLE_CHARACTERS))];

/** Return the list of the nodes; `places` maps nodes to the places of their marks, `expand` is called with a node. */
export const listOf = (graph, { route, places, expand }) =>
  inParts(graph.ordered(), NODES_AT_ONCE, (node) => nodeRow(node, graph, { route, places, expand }), { class: "card group", "aria-label": "Nodes" });

function nodeRow(node, graph, { route, places, expand }) {
  return element(
    "li",
    { class: "hit" },
    element("a", { class: "hit-title", href: addressOf(node, route), dir: "auto" }, ...titleNodes(node)),
    element(
      "div",
      { class: "row" },
      places.get(node) ?? null,
      node.domain === undefined ? null : element("span", {}, wordsOf(node.domain)),
      node.kind === "atom" ? expandButton(node, expand) : null,
    ),
    node.links.length === 0
      ? null
      : element(
          "details",
          { class: "small", open: node.links.length <= LINKS_AT_ONCE && graph.links.size <= 5 * NODES_AT_ONCE },
          element("summary", {}, counted(node.links.length, "relation")),
          inParts(node.links, LINKS_AT_ONCE, (link) => linkRow(link, node, graph, route), { class: "links" }),
        ),
  );
}

export const expandButton = (node, expand) =>
  element(
    "button",
    { class: "chip", type: "button", "aria-pressed": String(node.isOpen), onclick: () => expand(node) },
    node.isOpen ? "Fold" : "Expand",
    element("span", { class: "unseen" }, " ", node.title.slice(0, TITLE_CHARACTERS)),
  );

function linkRow(link, node, graph, route) {
  const outgoing = link.from === node;
  const other = outgoing ? link.to : link.from;
  const words = element("span", { class: "muted" }, link.directed && !outgoing ? "← " : "", quoted(wordsOf(link.type)), link.directed && outgoing ? " →" : "");
  return element(
    "li",
    {},
    sample(graph.looks.get(link.type)),
    words,
    element("a", { href: addressOf(other, route), dir: "auto" }, ...titleNodes(other)),
    link.words === "" ? null : element("span", { class: "muted" }, "(", ...visible(link.words.slice(0, TITLE_CHARACTERS)), ")"),
    markPlace(link),
  );
}

/** Return the legend: each type of relation, how it is drawn, and how many there are. */
export function legendOf(graph) {
  const counts = new Map();
  for (const { type } of graph.links.values()) counts.set(type, (counts.get(type) ?? 0) + 1);
  const rows = [...counts].sort(([, one], [, other]) => other - one).map(([type, count]) =>
    element("li", {}, sample(graph.looks.get(type)), quoted(wordsOf(type)), element("span", { class: "muted" }, count.toLocaleString("en"))),
  );
  return element("ul", { class: "legend", "aria-label": "Types of relations" }, ...rows);
}
