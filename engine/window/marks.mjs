// Marks: what this browser has checked of what it shows.
//
// Three things look different. What a proof opened is plain; one mark at the top of its list says that it is unchanged.
// What no proof covers is slanted (`said`). Where the service says something else than is recorded, that is struck out.

import { element, mark, quoted, visible } from "./dom.mjs";
import { counted, means } from "./facts.mjs";
import { toHex } from "./verifier/bytes.mjs";
import { Refused } from "./verifier/index.mjs";

const UNCHANGED = "Unchanged since recorded";
const EXPLAINED = "Whoever wrote it recorded exactly this, as this browser has checked; whether it is true, no proof can say.";
const SAID = "What is slanted is what the service says.";
const TEXT_CHARACTERS = 400;

/** What is said of a refusal that is not one of the verifier. */
const OURS = {
  changed: "The service shows something else than it recorded.",
  unproved: "The service makes no proof of this.",
};

/** Return a root shortened, for a place where the whole one does not fit. */
export const short = (root) => `${toHex(root).slice(0, 8)}…`;

export const pending = () => mark("plain", "Checking…");

/** Return what is said of something that no claim is about; `why`, a clause, says more. */
export const unprovable = (what, why = "") => element("span", { class: "said small" }, `${what}: not provable`, why === "" ? "" : ` (${why})`);

/** Return what the service says and no proof covers. */
export const said = (...children) => element("span", { class: "said" }, ...children);

/** Return a part of the page that shows what the service says, and that says so. */
export const saidPart = (...nodes) => [element("p", { class: "said small" }, "This is what the service says; no proof covers it."), element("div", { class: "said stack" }, ...nodes)];

/** Return a node as what proofs opened of `about`, an id or several words. */
export function proved(about, node) {
  node.classList.add("proved");
  node.dataset.about = about;
  return node;
}

export function unchanged({ root, size }, what = "") {
  const made = mark("verified", what === "" ? UNCHANGED : `${UNCHANGED}: ${what}`);
  made.title = `Against the root ${toHex(root)} of ${size} events`;
  return made;
}

/** Return the sentence that says what the mark means, and what the slanted text is. */
export const explained = () => element("p", { class: "muted small" }, `${EXPLAINED} ${SAID}`);

/** Return the mark of an error: refused, with the reason, or not verified. */
export function failed(error) {
  if (!(error instanceof Refused)) return mark("plain", `Not verified: ${error.message}`);
  return element("span", { class: "failed" }, mark("refused", "Refused"), reasonOf(error));
}

export const sentenceOf = (error) => OURS[error.reason] ?? means(error.reason);

const reasonOf = (error) =>
  element("span", { class: "small" }, ` ${sentenceOf(error)} `, element("span", { class: "muted" }, `(${error.message})`));

/**
 * Return the one mark of a list whose items are `outcomes`: {error, altered}. The error is null of what a proof opened;
 * `altered` holds what the service says otherwise.
 */
export function summary(trust, noun, outcomes) {
  if (outcomes.length === 0) return [];
  const wrong = outcomes.filter(({ error }) => error !== null);
  const altered = outcomes.filter(({ error, altered }) => error === null && altered.length > 0).length;
  const right = outcomes.length - wrong.length;
  if (right === 0 && (trust.refused !== null || outcomes.length === 1)) return [failed(wrong[0].error)];
  const isRefused = wrong.some(({ error }) => error instanceof Refused);
  const all = counted(outcomes.length, noun);
  return [
    right === 0 ? null : unchanged(trust.head, wrong.length === 0 ? all : `${right} of ${all}`),
    altered === 0 ? null : mark("refused", `${altered} of ${all} altered by the service`),
    wrong.length === 0 ? null : mark(isRefused ? "refused" : "plain", `${wrong.length} of ${all} not proved`),
  ].filter((node) => node !== null);
}

const cut = (text) => (text.length > TEXT_CHARACTERS ? `${text.slice(0, TEXT_CHARACTERS)}…` : text);
const words = (value) => (value === null || value === undefined || value === "" ? "nothing" : cut(typeof value === "object" ? JSON.stringify(value) : String(value)));

/** Return what the service says otherwise than is recorded: rows [name, what it says, what is recorded]. */
export const alteredNode = (rows) =>
  rows.length === 0
    ? null
    : element(
        "div",
        { class: "altered" },
        mark("refused", "Altered by the service"),
        ...rows.map(([name, told, recorded]) =>
          element("p", { class: "small", dir: "auto" }, `${name}: `, element("del", { class: "said" }, ...visible(words(told))), " ", element("ins", {}, ...visible(words(recorded)))),
        ),
      );

/** What a provenance means to somebody who reads the text; an internal one is no reason to look twice. */
const PROVENANCES = new Map([
  ["external", "External: from outside"],
  ["quarantine", "In quarantine: do not rely on it"],
]);

/** Return the mark of a provenance, which is as easy to see as the mark of a proof, or null. */
export function provenanceMark(provenance) {
  if (provenance === "internal" || provenance === null || provenance === undefined) return null;
  const known = PROVENANCES.get(provenance);
  return known === undefined ? element("span", {}, mark("warned", "Provenance"), quoted(provenance)) : mark("warned", known);
}
