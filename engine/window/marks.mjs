// Marks: what this browser has checked of what it shows.

import { element, mark } from "./dom.mjs";
import { means } from "./facts.mjs";
import { toHex } from "./verifier/bytes.mjs";
import { Refused } from "./verifier/index.mjs";

/** What is said of a refusal that is not one of the verifier. */
const OURS = {
  changed: "The service shows something else than it recorded.",
  unproved: "The service makes no proof of this.",
};

/** Return a root shortened, for a place where the whole one does not fit. */
export const short = (root) => `${toHex(root).slice(0, 8)}…`;

export const pending = () => mark("plain", "Checking…");

/** Return the mark of what no claim is about; `why`, a clause, says more. */
export function unprovable(what, why = "") {
  const made = mark("plain", `${what}: not provable`);
  return why === "" ? made : element("span", { class: "failed" }, made, element("span", { class: "muted small" }, `(${why})`));
}

export function verified({ root, size }, what = "") {
  const made = mark("verified", what === "" ? "Verified" : `${what}verified`);
  made.title = `Against the root ${toHex(root)} of ${size} events`;
  return made;
}

/** Return the mark of an error: refused, with the reason, or not verified. */
export function failed(error) {
  if (!(error instanceof Refused)) return mark("plain", `Not verified: ${error.message}`);
  return element("span", { class: "failed" }, mark("refused", "Refused"), reasonOf(error));
}

export const sentenceOf = (error) => OURS[error.reason] ?? means(error.reason);

const reasonOf = (error) =>
  element("span", { class: "small" }, ` ${sentenceOf(error)} `, element("span", { class: "muted" }, `(${error.message})`));

/** Put a mark in a place when a check has ended; the place is empty of any earlier mark before. */
export async function markWhen(place, check, trust, what = "") {
  place.replaceChildren(pending());
  try {
    await check();
    place.replaceChildren(verified(trust.head, what));
  } catch (error) {
    place.replaceChildren(failed(error));
  }
}
