// The atoms with a tag, and the proof that these are all of them.

import { markAll } from "./batches.mjs";
import { claimsOf, compareAtom } from "./checked.mjs";
import { element, quoted, visible } from "./dom.mjs";
import { chipWord } from "./filters.mjs";
import { counted, uuid } from "./facts.mjs";
import { markWhen, pending, unprovable } from "./marks.mjs";
import { tagIdentity } from "./tags.mjs";
import { Refused } from "./verifier/index.mjs";

const LIMIT = 500;
const CHECKED_AT_ONCE = 50;
const TITLE_CHARACTERS = 120;

export async function tagged({ memory, trust, route, signal }) {
  const given = { ...route.narrowing(), limit: LIMIT, form: "full" };
  const atoms = (await memory.call("find", given, signal)).map(({ atom }) => atom);
  const whole = element("span", {});
  checkAll(atoms, whole, trust, route);
  const places = new Map(atoms.map((atom) => [atom, element("span", {}, pending())]));
  checkEach(atoms, places, trust, route.tags);
  return [
    element("div", { class: "summary" }, element("span", {}, counted(atoms.length, "atom")), whole),
    element("section", { class: "card group" }, heading(route), ...atoms.map((atom) => atomNode(atom, places.get(atom), route))),
  ];
}

const heading = (route) => element("h2", {}, ...route.filters().flatMap(([part, word]) => [chipWord(part, word), " "]));

/** Check that the list is complete, which can be proved of one tag that is not filtered any further. */
function checkAll(atoms, place, trust, route) {
  const { tags } = route;
  if (tags.length !== 1 || route.filters().length > 1 || atoms.length === LIMIT) {
    place.replaceChildren(unprovable("That these are all"));
    return;
  }
  const [identity] = tags.map(tagIdentity);
  const check = async () => {
    const [fact] = await trust.check([atoms.length === 0 ? `none-tagged ${identity}` : `tagged ${identity}`]);
    const proven = new Set((fact.atoms ?? []).map(({ id }) => uuid(id)));
    const same = proven.size === atoms.length && atoms.every(({ id }) => proven.has(id));
    if (!same) throw new Refused("changed", "the list is not the one that is recorded");
  };
  markWhen(place, check, trust, "These are all: ");
}

/** Check each atom, and that it has the tags that were asked for; its other tags are not shown here. */
async function checkEach(atoms, places, trust, tags) {
  for (let at = 0; at < atoms.length; at += CHECKED_AT_ONCE) {
    await markAll(trust, atoms.slice(at, at + CHECKED_AT_ONCE), {
      claims: ({ id, state }) => claimsOf({ id, state, tags }),
      compare: (atom, [fact]) => compareAtom(atom, fact),
      place: (atom) => places.get(atom),
    });
  }
}

const atomNode = (atom, place, route) =>
  element(
    "div",
    { class: "hit" },
    element("a", { class: "hit-title", href: route.to({ atom: atom.id }), dir: "auto" }, ...visible(titleOf(atom))),
    element("div", { class: "row" }, place, atom.source === null ? null : quoted(atom.source)),
  );

const titleOf = ({ title, content }) => (title ?? content).replaceAll(/\s+/gu, " ").slice(0, TITLE_CHARACTERS);
