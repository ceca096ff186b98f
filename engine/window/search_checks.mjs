// The checks of a search: that each hit shows what is recorded, and that nothing has the terms of the question.
// They wait until typing has ended, so that no proof is made of an answer that the next key replaces, and none delays it.

import { markAll } from "./batches.mjs";
import { claimsOf, compareHit } from "./checked.mjs";
import { element } from "./dom.mjs";
import { failed, pending, verified } from "./marks.mjs";

/** Check hits by one proof, or one by one if that is refused; each mark goes to its place. */
export async function checkedHits(hits, places, trust, ended) {
  for (const place of places.values()) place.replaceChildren(pending());
  if (!(await ended)) return;
  await markAll(trust, hits, {
    claims: claimsOf,
    compare: (hit, [{ body }]) => compareHit(hit, body),
    place: ({ id }) => places.get(id),
  });
}

/** Check that no live atom has any of the terms, and show the terms. */
export async function nothingFound(terms, place, trust, ended) {
  if (terms.length === 0) {
    place.replaceChildren(element("p", {}, "The question has no word that is searched for."));
    return;
  }
  const rows = terms.map((term) => [term, element("span", {}, pending())]);
  place.replaceChildren(
    element("p", {}, "Asked about these terms, which the service made of the question:"),
    element("ul", { class: "links" }, ...rows.map(([term, mark]) => element("li", {}, element("code", {}, term), mark))),
    element(
      "p",
      { class: "small muted" },
      "Verified means that no live atom has the term. Look whether the terms are those of your words: a service that lies could prove the absence of others.",
    ),
  );
  if (!(await ended)) return;
  for (const [term, mark] of rows) {
    try {
      await trust.check([`no-term ${term}`]);
      mark.replaceChildren(verified(trust.head));
    } catch (error) {
      mark.replaceChildren(failed(error));
    }
  }
}
