// What the service answers, as parts of a graph: nodes and links. A node that is an atom, and a link that is an edge or a
// shared tag, can be proved; until then, and everywhere else, what is shown is what the service says.

import { tagIdentity } from "./tags.mjs";

const HITS = 30;
const PATHS = 30;
const EDGES = 5000;
const TITLES_AT_ONCE = 1000;
/** Relations of all texts of a source with each other, which are drawn as one ribbon. */
const OF_SOURCE = ["same_source", "next_in_source"];
/** Why a link that is no edge has no claim, by its type. */
const REASONS = {
  shares_bucket: "no claim is about buckets",
  together: "no claim is about names that occur together",
};

const NO_TAG = "the service names no tag";

const link = (src, type, dst, { directed = true, edge = null, tags = [], why = "", strength = 1, words = "" } = {}) => ({
  key: `${src} ${type} ${dst}`,
  ...{ src, type, dst, directed, edge, tags, why, strength, words },
});

/** Return the bright nodes of a question, and their relations. */
export async function brightNodes(memory, route, signal) {
  const graph = await memory.call("structured_graph", { query: route.query, limit: HITS, ...route.narrowing() }, signal);
  const nodes = graph.nodes.map((node) => ({ id: node.id, title: node.title ?? node.snippet, bright: node.brightness, told: node, kind: "atom" }));
  const ties = graph.relations.filter(({ kind }) => OF_SOURCE.includes(kind)).map(({ src, dst }) => [src, dst]);
  return { nodes, ties, links: graph.relations.filter(({ kind }) => !OF_SOURCE.includes(kind)).map(relation), left: graph.omitted, rest: "weaker relations" };
}

function relation({ kind, src, dst, directed, strength, names }) {
  if (kind === "edge") return link(src, names[0], dst, { edge: { src, type: names[0], dst }, strength });
  if (kind === "shares_tag") {
    const tags = [...new Set(names.map(tagIdentity))];
    return link(src, kind, dst, { directed: false, tags, why: NO_TAG, strength, words: tags.join(", ") });
  }
  return link(src, kind, dst, { directed, why: REASONS[kind], strength, words: names.join(", ") });
}

/** Return the names on the paths that answer a question, and the steps between them. */
export async function namesAcross(memory, route, signal) {
  const graph = await memory.call("across", { query: route.query, limit: PATHS, ...route.narrowing() }, signal);
  const ids = new Map(graph.nodes.map(({ name, id, tag }) => [name, id ?? `#${name}`]));
  const nodes = graph.nodes.map(({ name, id, tag, domain, given }) => ({
    id: ids.get(name),
    title: name,
    bright: given ? 1 : 0.4,
    told: null,
    kind: id !== null ? "atom" : tag !== null ? "tag" : "word",
    tag,
    domain,
  }));
  const links = graph.paths.flatMap(({ steps }) => steps).map((step) => {
    const [src, dst] = step.forward ? [step.src, step.dst] : [step.dst, step.src];
    const words = step.evidence === null ? "" : step.evidence.title ?? step.evidence.snippet;
    const [from, type, to] = [ids.get(src), step.relation ?? "together", ids.get(dst)];
    const directed = step.kind === "relation";
    return link(from, type, to, { directed, edge: directed ? { src: from, type, dst: to } : null, why: REASONS.together, strength: step.strength, words });
  });
  const ways = graph.paths.map(({ names, steps }) => names.map((name, at) => (at === 0 ? name : `${steps[at - 1].forward ? "" : "← "}${(steps[at - 1].relation ?? "together with").replaceAll("_", " ")}${steps[at - 1].forward ? " →" : ""} ${name}`)).join(" "));
  return { nodes, ways, links: [...new Map(links.map((one) => [one.key, one])).values()], left: graph.omitted, rest: "weaker paths" };
}

/** Return an atom or entity, and everything that an edge joins with it. */
export async function neighbourhood(memory, id, signal) {
  const edges = await memory.call("edges", { id, direction: "both", limit: EDGES }, signal);
  const ids = [...new Set([id, ...edges.flatMap(({ src, dst }) => [src, dst])])];
  const titles = {};
  for (let at = 0; at < ids.length; at += TITLES_AT_ONCE) {
    Object.assign(titles, await memory.call("titles", { ids: ids.slice(at, at + TITLES_AT_ONCE) }, signal));
  }
  const nodes = ids.map((one) => ({ id: one, title: titles[one] ?? one, bright: 0.3, told: null, kind: "atom" }));
  const links = edges.map((edge) => link(edge.src, edge.type, edge.dst, { edge, strength: Math.abs(edge.weight) }));
  return { nodes, links, left: edges.length === EDGES ? 1 : 0, rest: "further edges, at least" };
}
