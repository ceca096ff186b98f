// What is checked of a graph: each link that has a claim, and the text of each hit.

import { markAll } from "./batches.mjs";
import { claimsOf, compareHit } from "./checked.mjs";
import { NOT_FOUND, claimsOfEdges } from "./edge_claims.mjs";
import { failed, pending, unprovable } from "./marks.mjs";

const AT_ONCE = 50;

/** Return a new place for the mark of a link, which follows the mark. */
export function markPlace(link) {
  const place = document.createElement("span");
  place.replaceChildren((link.mark ?? pending()).cloneNode(true));
  link.rows.push(place);
  return place;
}

const marking = (link) => ({
  replaceChildren(mark) {
    link.mark = mark;
    link.refused = mark.querySelector(".refused") !== null;
    for (const row of link.rows) row.replaceChildren(mark.cloneNode(true));
  },
});

/** Find the claims about the links that have no mark yet; mark those that have none, and return the others. */
async function provable(graph, memory) {
  const open = [...graph.links.values()].filter(({ mark }) => mark === null);
  const edges = open.filter(({ edge }) => edge !== null);
  try {
    const proofs = await claimsOfEdges(memory, edges.map(({ edge }) => edge));
    for (const link of edges) Object.assign(link, proofs.get(link.edge) ?? { why: NOT_FOUND });
  } catch (error) {
    for (const link of edges) marking(link).replaceChildren(failed(error));
  }
  const unmarked = open.filter(({ mark }) => mark === null);
  for (const link of unmarked) if (link.claims.length === 0) marking(link).replaceChildren(unprovable("This relation", link.why));
  return unmarked.filter(({ claims }) => claims.length > 0);
}

/**
 * Check the links that have no mark yet. `onchange` is called with what was found after each proof, and says whether to
 * go on.
 */
export async function checkLinks(graph, { memory, trust }, onchange) {
  const links = [...graph.links.values()];
  const tell = () => onchange({
    verified: links.filter(({ mark }) => mark?.classList.contains("verified")).length,
    refused: links.filter(({ refused }) => refused).length,
    open: links.filter(({ mark }) => mark === null).length,
    provable: links.filter(({ claims }) => claims.length > 0).length,
    all: links.length,
  });
  tell();
  const open = await provable(graph, memory);
  tell();
  let goesOn = true;
  for (let at = 0; at < open.length && goesOn; at += AT_ONCE) {
    const compare = (link, facts) => link.compare?.(facts);
    await markAll(trust, open.slice(at, at + AT_ONCE), { claims: ({ claims }) => claims, compare, place: marking });
    goesOn = tell();
  }
}

/** Check the text of each hit, and mark it in its place. */
export function checkHits(nodes, places, trust) {
  const hits = nodes.filter(({ hit, mark }) => hit !== null && mark === undefined);
  return markAll(trust, hits, {
    claims: ({ hit }) => claimsOf(hit),
    // A node has no key, so the recorded one cannot be compared.
    compare: ({ hit }, [{ body }]) => compareHit({ ...hit, key: body.key }, body),
    place: (node) => places.get(node),
  });
}
