// What is checked of a graph: the atom of each node, each edge, and each shared tag. What proofs opened takes the place of
// what the service says.

import { outcomeOf, titleOf } from "./atoms.mjs";
import { NOT_FOUND, codeOfType } from "./edge_types.mjs";
import { failed, unprovable } from "./marks.mjs";
import { expected, openAtoms } from "./opened.mjs";
import { Refused } from "./verifier/index.mjs";

const AT_ONCE = 50;
const BUILT_IN = ["related_to", "derived_from", "contradicts", "supersedes", "part_of", "references"];

/**
 * Check the nodes and links that are not checked yet. `onchange` is called with what was found after each proof, and says
 * whether to go on.
 */
export async function checkGraph(graph, given, onchange) {
  const nodes = [...graph.nodes.values()].filter(({ kind, outcome }) => kind === "atom" && outcome === null);
  const links = [...graph.links.values()].filter(({ state }) => state === null);
  for (let at = 0; at < nodes.length; at += AT_ONCE) {
    const some = nodes.slice(at, at + AT_ONCE);
    const found = await openAtoms(given.trust, some.map(({ id }) => id));
    for (const node of some) settle(graph, node, found.get(node.id));
    if (!onchange(countsOf(graph))) return;
  }
  await claimsOfLinks(links, given);
  const open = links.filter(({ state }) => state === null);
  for (let at = 0; at < open.length; at += AT_ONCE) {
    await checkLinks(open.slice(at, at + AT_ONCE), given.trust);
    if (!onchange(countsOf(graph))) return;
  }
  onchange(countsOf(graph));
}

/** Give a node the title of the atom that a proof opened. */
function settle(graph, node, atom) {
  node.outcome = outcomeOf(node.told ?? { id: node.id }, atom);
  if (node.outcome.error === null) graph.rename(node, titleOf(atom));
}

/** Find the claims about links. `state` is "proved", "refused" or "said"; the last has no claim, and `note` says why. */
async function claimsOfLinks(links, given) {
  const say = (link, why) => Object.assign(link, { state: "said", note: unprovable("This relation", why) });
  const codes = new Map();
  for (const link of links) {
    const { src, dst, type, edge, tags, why } = link;
    if (edge === null && tags.length === 0) say(link, why);
    else if (edge === null) link.claims = tags.flatMap((tag) => [`tag ${src} ${tag}`, `tag ${dst} ${tag}`]);
    else {
      if (!codes.has(type)) codes.set(type, await codeOf(link, given).catch(expected));
      const code = codes.get(type);
      if (code === null) say(link, NOT_FOUND);
      else if (code instanceof Error) Object.assign(link, { state: "said", note: failed(code) });
      else link.claims = [`edge ${src} ${code} ${dst} live sealed`];
    }
  }
}

async function codeOf({ type, edge }, given) {
  if (BUILT_IN.includes(type)) return type;
  const first = edge.created_seq ?? (await given.memory.call("get_edge", { src: edge.src, type, dst: edge.dst })).created_seq;
  return codeOfType(given, type, first);
}

/** Check links by one proof, or one by one if that is refused. */
async function checkLinks(links, trust) {
  try {
    await trust.check([...new Set(links.flatMap(({ claims }) => claims))]);
    for (const link of links) link.state = "proved";
  } catch (error) {
    expected(error);
    const isOfAll = links.length === 1 || !(error instanceof Refused) || trust.refused !== null;
    if (isOfAll) for (const link of links) Object.assign(link, { state: error instanceof Refused ? "refused" : "said", note: failed(error) });
    else for (const link of links) await checkLinks([link], trust);
  }
}

function countsOf(graph) {
  const links = [...graph.links.values()];
  const nodes = [...graph.nodes.values()].filter(({ kind }) => kind === "atom");
  const count = (items, isWanted) => items.filter(isWanted).length;
  return {
    links: links.length,
    proved: count(links, ({ state }) => state === "proved"),
    refused: count(links, ({ state }) => state === "refused"),
    said: count(links, ({ state }) => state === "said"),
    open: count(links, ({ state }) => state === null) + count(nodes, ({ outcome }) => outcome === null),
    atoms: nodes.length,
    unproved: count(nodes, ({ outcome }) => outcome !== null && outcome.error !== null),
    altered: count(nodes, ({ outcome }) => outcome !== null && outcome.altered.length > 0),
  };
}
