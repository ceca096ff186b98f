// What the service answers, as parts of a graph: nodes with a title, and links, each with the claims that prove it.

import { tagIdentity } from "./tags.mjs";

const HITS = 30;
const PATHS = 30;
const EDGES = 5000;
const TITLES_AT_ONCE = 1000;
const BUILT_IN = ["related_to", "derived_from", "contradicts", "supersedes", "part_of", "references"];

const claimsOfEdge = (src, type, dst) => (BUILT_IN.includes(type) ? [`edge ${src} ${type} ${dst} live sealed`] : []);

const link = (src, type, dst, { directed = true, claims = [], strength = 1, words = "" } = {}) => ({
  key: `${src} ${type} ${dst}`,
  ...{ src, type, dst, directed, claims, strength, words },
});

/** Return the bright nodes of a question, and their relations. */
export async function brightNodes(memory, route, signal) {
  const graph = await memory.call("structured_graph", { query: route.query, limit: HITS, ...route.narrowing() }, signal);
  const nodes = graph.nodes.map((node) => ({ id: node.id, title: node.title ?? node.snippet, bright: node.brightness, hit: node, kind: "atom" }));
  return { nodes, links: graph.relations.map(relation), left: graph.omitted, rest: "weaker relations" };
}

function relation({ kind, src, dst, directed, strength, names }) {
  if (kind === "edge") return link(src, names[0], dst, { claims: claimsOfEdge(src, names[0], dst), strength });
  const shared = kind === "shares_tag" ? names.map(tagIdentity) : [];
  const claims = shared.flatMap((tag) => [`tag ${src} ${tag}`, `tag ${dst} ${tag}`]);
  return link(src, kind, dst, { directed, claims, strength, words: names.join(", ") });
}

/** Return the names on the paths that answer a question, and the steps between them. */
export async function namesAcross(memory, route, signal) {
  const graph = await memory.call("across", { query: route.query, limit: PATHS, ...route.narrowing() }, signal);
  const ids = new Map(graph.nodes.map(({ name, id, tag }) => [name, id ?? `#${name}`]));
  const nodes = graph.nodes.map(({ name, id, tag, domain, given }) => ({
    id: ids.get(name),
    title: name,
    bright: given ? 1 : 0.4,
    hit: null,
    kind: id !== null ? "atom" : tag !== null ? "tag" : "word",
    tag,
    domain,
  }));
  const links = graph.paths.flatMap(({ steps }) => steps).map((step) => {
    const [src, dst] = step.forward ? [step.src, step.dst] : [step.dst, step.src];
    const words = step.evidence === null ? "" : step.evidence.title ?? step.evidence.snippet;
    return link(ids.get(src), step.relation ?? "together", ids.get(dst), { directed: step.kind === "relation", strength: step.strength, words });
  });
  return { nodes, links: [...new Map(links.map((one) => [one.key, one])).values()], left: graph.omitted, rest: "weaker paths" };
}

/** Return an atom or entity, and everything that an edge joins with it. */
export async function neighbourhood(memory, id, signal) {
  const edges = await memory.call("edges", { id, direction: "both", limit: EDGES }, signal);
  const ids = [...new Set([id, ...edges.flatMap(({ src, dst }) => [src, dst])])];
  const titles = {};
  for (let at = 0; at < ids.length; at += TITLES_AT_ONCE) {
    Object.assign(titles, await memory.call("titles", { ids: ids.slice(at, at + TITLES_AT_ONCE) }, signal));
  }
  const nodes = ids.map((one) => ({ id: one, title: titles[one] ?? one, bright: 0.3, hit: null, kind: "atom" }));
  const links = edges.map(({ src, type, dst, weight }) => link(src, type, dst, { claims: claimsOfEdge(src, type, dst), strength: Math.abs(weight) }));
  return { nodes, links, left: edges.length === EDGES ? 1 : 0, rest: "further edges, at least" };
}
