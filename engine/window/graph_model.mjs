// A graph that grows by parts: each part is laid out around those before it, which stay where they are. So the same
// parts in the same order, which the address names, always look alike.

import { flat } from "./atoms.mjs";
import { visible, element } from "./dom.mjs";
import { laidOut } from "./graph_layout.mjs";
import { looks } from "./graph_relations.mjs";

const TITLE_CHARACTERS = 32;

/** Return whether a proof opened the atom of a node. */
export const isOpened = ({ outcome }) => outcome !== null && outcome.error === null;

export class Graph {
  constructor() {
    /** The keys of the parts, in order. */
    this.parts = [];
    this.nodes = new Map();
    this.links = new Map();
    this.looks = new Map();
    /** Pairs of ids of one source, which stand together; and the ways between names, in words. */
    this.ties = [];
    this.ways = [];
    /** What was left out of the parts, in words. */
    this.left = [];
  }

  /** Add a part and lay it out; `pause` is awaited between slices, and ends it by an error. */
  async add(key, part, pause) {
    const nodes = new Map(this.nodes);
    for (const node of part.nodes) if (!nodes.has(node.id)) nodes.set(node.id, { ...node, label: labelOf(node), links: [], isOpen: false, place: null, outcome: null });
    const fresh = part.links.filter((link) => !this.links.has(link.key) && link.src !== link.dst);
    const fixed = new Map([...this.nodes.values()].map(({ id, place }) => [id, place]));
    this.ties.push(...(part.ties ?? []));
    this.ways.push(...(part.ways ?? []));
    const pairs = [...this.ties, ...[...this.links.values(), ...fresh].map(({ src, dst }) => [src, dst])];
    const places = await laidOut([...nodes.keys()], pairs, fixed, pause);
    for (const node of nodes.values()) node.place = places.get(node.id);
    this.nodes = nodes;
    for (const link of fresh) this.join({ ...link, from: nodes.get(link.src), to: nodes.get(link.dst), state: null, claims: [], note: null });
    this.looks = looks([...new Set([...this.links.values()].map(({ type }) => type))]);
    this.parts.push(key);
    if (nodes.has(key)) nodes.get(key).isOpen = true;
    if (part.left > 0) this.left.push(`${part.left.toLocaleString("en")} ${part.rest}`);
  }

  join(link) {
    this.links.set(link.key, link);
    link.from.links.push(link);
    link.to.links.push(link);
  }

  /** Give a node the title that a proof opened. */
  rename(node, title) {
    node.title = title;
    node.label = labelOf(node);
  }

  /** Return the nodes of each source that has several, in the order of the source. */
  groups() {
    const groups = new Map();
    for (const node of this.nodes.values()) if ((node.told?.source ?? null) !== null) groups.set(node.told.source, [...(groups.get(node.told.source) ?? []), node]);
    return [...groups.values()].filter((nodes) => nodes.length > 1).map((nodes) => nodes.sort((one, other) => one.told.sequence - other.told.sequence));
  }

  /** Return the nodes, the most important first. */
  ordered() {
    const weight = ({ isOpen, bright, links }) => (isOpen ? 1e6 : 0) + bright * 1000 + links.length;
    return [...this.nodes.values()].sort((one, other) => weight(other) - weight(one) || (one.id < other.id ? -1 : 1));
  }
}

/** Return a title as one text, with the names of characters that nobody sees. */
const labelOf = ({ title, kind }) => (kind === "tag" ? "#" : "") + shortTitle(element("span", {}, ...visible(title)).textContent);

/** Return a title shortened for a label. */
function shortTitle(title) {
  const characters = [...flat(title)];
  return characters.length > TITLE_CHARACTERS ? `${characters.slice(0, TITLE_CHARACTERS - 1).join("")}…` : characters.join("");
}
