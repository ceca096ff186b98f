// Many checks by one proof, so that an answer with many parts costs one call.

import { failed, verified } from "./marks.mjs";
import { Refused } from "./verifier/index.mjs";

/**
 * Check items and mark each in its place. `claims` gives the claims about an item; `compare` throws unless the item is
 * what their facts show; `place` gives the element for its mark.
 */
export async function markAll(trust, items, { claims, compare, place }) {
  const asked = items.map(claims);
  const facts = await trust.check([...new Set(asked.flat())]).catch((error) => error);
  for (const [at, item] of items.entries()) {
    const mine = facts instanceof Error ? alone(trust, asked[at], facts) : byClaim(asked[at], facts);
    try {
      compare(item, await mine);
      place(item).replaceChildren(verified(trust.head));
    } catch (error) {
      place(item).replaceChildren(failed(error));
    }
  }
}

const byClaim = async (claims, facts) => claims.map((claim) => facts.find((fact) => fact.claim === claim));

/** Check the claims about one item, if those about all of them together were refused. */
async function alone(trust, claims, error) {
  if (!(error instanceof Refused) || trust.refused !== null) throw error;
  return trust.check(claims);
}
