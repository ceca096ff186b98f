// The atoms that pass filters. Where proofs list all members of each filter's set, the list is made of these proofs;
// elsewhere the service names the atoms.

import { atomLink, distinct, outcomeOf } from "./atoms.mjs";
import { element, mark, quoted } from "./dom.mjs";
import { checking } from "./failures.mjs";
import { chipWord } from "./filters.mjs";
import { counted } from "./facts.mjs";
import { alteredNode, failed, proved, summary, unprovable } from "./marks.mjs";
import { openAtoms, openList } from "./opened.mjs";
import { tagIdentity } from "./tags.mjs";
import { Refused } from "./verifier/index.mjs";
import { escaped } from "./verifier/words.mjs";

const LIMIT = 500;
const GROUPS = { buckets: "bucket", sources: "source", provenances: "provenance" };

export async function tagged({ memory, trust, route, signal }) {
  const told = distinct((await memory.call("find", { ...route.narrowing(), limit: LIMIT, form: "full" }, signal)).map(({ atom }) => atom));
  const [list, place] = [element("section", { class: "card group" }, heading(route)), element("div", { class: "summary" })];
  checking(place, () => check(told, { list, place, trust, route }));
  return [place, list];
}

const heading = (route) => element("h2", {}, ...route.filters().flatMap(([part, word]) => [chipWord(part, word), " "]));

async function check(told, { list, place, trust, route }) {
  const answers = new Map(told.map((one) => [one.id, one]));
  const complete = told.length === LIMIT ? null : await membersOf(trust, route).catch((error) => error);
  const isComplete = Array.isArray(complete);
  const ids = isComplete ? complete : told.map(({ id }) => id);
  const found = await openAtoms(trust, ids, true);
  const outcomes = ids.map((id) => outcomeOf(answers.get(id) ?? { id }, keeping(found.get(id), route)));
  list.append(...outcomes.map((outcome) => atomNode(outcome, route)));
  const left = isComplete && (told.length !== ids.length || ids.some((id) => !answers.has(id)));
  const all = isComplete ? proved(`all ${route.filters().map((filter) => filter.join(" ")).join(", ")}`, element("span", {}, `These are all: ${counted(ids.length, "atom")}`)) : unprovable("That these are all");
  place.replaceChildren(
    ...summary(trust, "text", outcomes),
    complete instanceof Error ? failed(complete) : all,
    left ? mark("refused", `List altered by the service: it named ${counted(told.length, "atom")}`) : "",
  );
}

/** Return an atom, or a refusal if it lacks a tag that was asked for. */
function keeping(atom, { tags }) {
  if (atom instanceof Error) return atom;
  const has = new Set((atom.tags ?? []).map(tagIdentity));
  return tags.every((tag) => has.has(tagIdentity(tag))) ? atom : new Refused("changed", "the atom does not have the tag");
}

/** Return the ids of all atoms that pass the filters of a place, as proofs show; null if no claims are about them. */
async function membersOf(trust, route) {
  const isOfTime = route.since !== null || route.until !== null;
  if (isOfTime || route.sources.some((source) => source.endsWith("*"))) return null;
  const sets = [];
  for (const tag of route.tags.map(tagIdentity)) sets.push(await openList(trust, `tagged ${tag}`, `none-tagged ${tag}`));
  for (const [part, group] of Object.entries(GROUPS)) {
    const some = [];
    for (const value of route[part].map(escaped)) some.push(...(await openList(trust, `all ${group} ${value}`, `none ${group} ${value}`)));
    if (route[part].length > 0) sets.push(some);
  }
  const [first, ...others] = sets.map((ids) => new Set(ids));
  return [...first].filter((id) => others.every((ids) => ids.has(id)));
}

function atomNode({ told, atom, error, altered }, route) {
  if (error !== null) return element("div", { class: "hit" }, atomLink(told.id, error, route));
  const link = atomLink(atom.id, atom, route);
  link.querySelector("a").className = "hit-title";
  const node = proved(`atom ${atom.id}`, element("div", {}, link, atom.source === null ? null : element("div", { class: "row" }, quoted(atom.source))));
  return element("div", { class: "hit" }, node, alteredNode(altered));
}
