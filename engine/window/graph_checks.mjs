// What is checked of a graph: each link that has a claim, and the text of each hit.

import { markAll } from "./batches.mjs";
import { claimsOf, compareHit } from "./checked.mjs";
import { pending, unprovable } from "./marks.mjs";

const AT_ONCE = 50;

/** Return a new place for the mark of a link, which follows the mark. */
export function markPlace(link) {
  const place = document.createElement("span");
  const now = link.mark ?? (link.claims.length === 0 ? unprovable("This relation") : pending());
  place.replaceChildren(now.cloneNode(true));
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

/**
 * Check the links that have claims and no mark yet. `onchange` is called with what was found after each proof, and says
 * whether to go on.
 */
export async function checkLinks(graph, trust, onchange) {
  const provable = [...graph.links.values()].filter(({ claims }) => claims.length > 0);
  const tell = () => onchange({
    verified: provable.filter(({ mark }) => mark?.classList.contains("verified")).length,
    refused: provable.filter(({ refused }) => refused).length,
    asked: provable.filter(({ mark }) => mark !== null).length,
    provable: provable.length,
    all: graph.links.size,
  });
  let goesOn = tell();
  const open = provable.filter(({ mark }) => mark === null);
  for (let at = 0; at < open.length && goesOn; at += AT_ONCE) {
    const compare = () => null;
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
