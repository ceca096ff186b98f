// The same graph as a list: each node with its relations, as links and buttons.

import { flat } from "./atoms.mjs";
import { element, mark, quoted, show, visible } from "./dom.mjs";
import { counted } from "./facts.mjs";
import { isOpened } from "./graph_model.mjs";
import { alteredNode, failed, proved, provenanceMark, said } from "./marks.mjs";
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

export const titleNodes = ({ title, kind }) => [kind === "tag" ? "#" : "", quoted(flat(title).slice(0, TITLE_CHARACTERS))];

/**
 * Return {node, refresh}: the list of the nodes, and what draws anew the rows of which more is known. `expand` is called
 * with a node.
 */
export function listOf(graph, { route, expand }) {
  const rows = new Map();
  /** Draw a row into its element, and again when `stateOf` gives something else. */
  const kept = (place, stateOf, draw) => {
    rows.set(place, { state: stateOf(), stateOf, draw: () => draw(place) });
    draw(place);
    return place;
  };
  const refresh = () => {
    for (const row of rows.values()) {
      const state = row.stateOf();
      if (state !== row.state) row.draw();
      row.state = state;
    }
  };
  const node = inParts(graph.ordered(), NODES_AT_ONCE, (one) => nodeRow(one, graph, { route, expand, kept }), { class: "card group", "aria-label": "Nodes" });
  return { node, refresh };
}

/** What is known of a node; it changes once. */
const known = ({ outcome }) => (outcome === null ? "" : outcome.error === null ? "opened" : "refused");

/** Draw a part of the list as what proofs opened of `about`, or as what the service says. */
function drawAs(place, isProved, about, nodes) {
  place.classList.toggle("said", !isProved);
  show(place, nodes.filter((one) => one !== null));
  if (isProved) proved(about, place);
}

function drawNode(place, node, { route, expand }) {
  const { outcome } = node;
  const link = element("a", { class: "hit-title", href: addressOf(node, route), dir: "auto" }, ...titleNodes(node));
  const atom = isOpened(node) ? outcome.atom : null;
  const buttons = element("div", { class: "row" }, node.domain === undefined ? null : said(wordsOf(node.domain)), node.kind === "atom" ? expandButton(node, expand) : null);
  const marks = atom === null ? [] : [provenanceMark(atom.provenance), atom.state === "live" ? null : mark("warned", atom.state)];
  drawAs(place, atom !== null, `node ${node.id}`, [link, ...marks, outcome?.error ? failed(outcome.error) : null, alteredNode(outcome?.altered ?? []), buttons]);
}

function nodeRow(node, graph, { route, expand, kept }) {
  return element(
    "li",
    { class: "hit" },
    kept(element("div", { class: "stack" }), () => known(node), (place) => drawNode(place, node, { route, expand })),
    node.links.length === 0
      ? null
      : element(
          "details",
          { class: "small", open: node.links.length <= LINKS_AT_ONCE && graph.links.size <= 5 * NODES_AT_ONCE },
          element("summary", {}, counted(node.links.length, "relation")),
          inParts(node.links, LINKS_AT_ONCE, (link) => linkRow(link, node, { graph, route, kept }), { class: "links" }),
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

function linkRow(link, node, { graph, route, kept }) {
  const other = link.from === node ? link.to : link.from;
  const state = () => `${link.state} ${known(other)}`;
  return kept(element("li", {}), state, (place) => drawLink(place, link, { outgoing: link.from === node, other, graph, route }));
}

function drawLink(place, link, { outgoing, other, graph, route }) {
  const words = element("span", {}, link.directed && !outgoing ? "← " : "", quoted(wordsOf(link.type)), link.directed && outgoing ? " →" : "");
  const isProved = link.state === "proved" && isOpened(other);
  // The words of a shared tag are in its claims; those of another relation are the service's.
  const detail = link.words === "" ? null : element("span", { class: link.tags.length > 0 ? "" : "said" }, "(", ...visible(link.words.slice(0, TITLE_CHARACTERS)), ")");
  const title = element("a", { href: addressOf(other, route), dir: "auto" }, ...titleNodes(other));
  drawAs(place, isProved, `link ${link.src} ${link.type} ${link.dst} to ${other.id}`, [sample(graph.looks.get(link.type)), words, title, detail, link.note === null ? null : link.note.cloneNode(true)]);
}

/** Return the rows of the legend: each type of relation, how it is drawn, and how many there are. */
export function legendRows(graph) {
  const types = new Map();
  for (const link of graph.links.values()) types.set(link.type, [...(types.get(link.type) ?? []), link]);
  return [...types].sort(([, one], [, other]) => other.length - one.length).map(([type, links]) => {
    const row = element("li", {}, sample(graph.looks.get(type)), quoted(wordsOf(type)), element("span", { class: "muted" }, links.length.toLocaleString("en")));
    row.classList.toggle("said", links.some(({ state }) => state !== "proved"));
    return row;
  });
}
