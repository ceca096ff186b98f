// What is shown before a question: how much there is, the tags, and what was added last.

import { markAll } from "./batches.mjs";
import { claimsOf, compareAtom } from "./checked.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { element, quoted, visible } from "./dom.mjs";
import { counted, day } from "./facts.mjs";
import { pending } from "./marks.mjs";
import { tagWord } from "./search.mjs";

const TAGS_MAX = 24;
const RECENT = 10;
const TITLE_CHARACTERS = 90;

export async function overview({ memory, trust, route, signal }) {
  const moment = route.moment();
  const [status, tags, recent] = await Promise.all([
    moment === null ? memory.call("status", {}, signal) : null,
    memory.call("tags", {}, signal),
    memory.call("recent", { limit: RECENT }, signal),
  ]);
  const most = Object.entries(tags).sort(([, a], [, b]) => b - a);
  return [
    element(
      "div",
      { class: "card empty" },
      element("h2", { class: "atom-title" }, moment === null ? "What is in this memory?" : "What was in this memory?"),
      ...(status?.live_atoms === 0
        ? empty(memory)
        : [
            element("p", { class: "muted" }, moment === null ? countsOf(status) : `There were ${counted(moment + 1, "event")}. Ask a question about this moment.`),
            most.length === 0 ? null : element("div", { class: "chips" }, ...most.slice(0, TAGS_MAX).map(([tag, count]) => tagLink(tag, count, route))),
          ]),
    ),
    recent.length === 0 ? null : recentCard(recent, trust, route),
  ].filter((node) => node !== null);
}

/** Return what to do with a memory that has no text. */
const empty = (memory) => [
  element("p", {}, "Nothing yet. To add a text, or a folder of notes:"),
  commandNode(engine(memory, command`add ${"The kettle is descaled on Fridays."}`)),
  commandNode(engine(memory, command`ingest ${"NOTES"}`)),
];

const countsOf = (status) => `${counted(status.live_atoms, "atom")}, ${counted(status.events, "event")}. Ask a question, or press / to search.`;

const tagLink = (tag, count, route) =>
  element(
    "a",
    { class: "chip", href: route.to({ tags: [tag], query: "" }) },
    tagWord(tag),
    element("span", { class: "muted" }, String(count)),
  );

function recentCard(recent, trust, route) {
  const places = new Map(recent.map(({ atom }) => [atom, element("span", {}, pending())]));
  const atoms = recent.map(({ atom }) => atom);
  markAll(trust, atoms, {
    claims: ({ id, state }) => claimsOf({ id, state, tags: [] }), // tags are not shown here
    compare: (atom, [fact]) => compareAtom(atom, fact),
    place: (atom) => places.get(atom),
  });
  return element(
    "section",
    { class: "card group" },
    element("h2", {}, "Added last"),
    ...recent.map(({ atom, time, actor }) => recentNode(atom, time, actor, places.get(atom), route)),
  );
}

const recentNode = (atom, time, actor, place, route) =>
  element(
    "div",
    { class: "hit" },
    element("a", { class: "hit-title", href: route.to({ atom: atom.id }), dir: "auto" }, ...visible(titleOf(atom))),
    element("div", { class: "row" }, place, element("span", {}, "by ", quoted(actor)), element("span", { class: "end" }, day(time))),
  );

const titleOf = ({ title, content }) => (title ?? content).replaceAll(/\s+/gu, " ").slice(0, TITLE_CHARACTERS);
