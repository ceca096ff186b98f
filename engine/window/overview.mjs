// What is shown before a question: how much there is, the tags, and what was added last.

import { atomLink, distinct, outcomeOf } from "./atoms.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { element, quoted } from "./dom.mjs";
import { counted, second } from "./facts.mjs";
import { checking } from "./failures.mjs";
import { alteredNode, failed, proved, said, summary, unprovable } from "./marks.mjs";
import { eventsOf, openAtoms } from "./opened.mjs";
import { tagWord } from "./search.mjs";

const TAGS_MAX = 24;
const RECENT = 10;

export async function overview({ memory, trust, route, signal }) {
  const moment = route.moment();
  const [status, tags, recent] = await Promise.all([
    moment === null ? memory.call("status", {}, signal) : null,
    memory.call("tags", {}, signal),
    memory.call("recent", { limit: RECENT }, signal),
  ]);
  return [
    element(
      "div",
      { class: "card empty" },
      element("h2", { class: "atom-title" }, moment === null ? "What is in this memory?" : "What was in this memory?"),
      ...(status?.live_atoms === 0
        ? empty(memory)
        : [
            element("p", { class: "muted" }, ...(moment === null ? countsOf(status) : [`There were ${counted(moment + 1, "event")}. Ask a question about this moment.`])),
            ...chips(tags.people, route),
            ...(Object.keys(tags.dreamer).length === 0 ? [] : [element("p", { class: "muted" }, "Found by dreams:"), ...chips(tags.dreamer, route)]),
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

const countsOf = (status) => [said(`${counted(status.live_atoms, "atom")}, ${counted(status.events, "event")}.`), " Ask a question, or press / to search."];

function chips(tags, route) {
  const most = Object.entries(tags).sort(([, a], [, b]) => b - a);
  return most.length === 0 ? [] : [element("div", { class: "chips said" }, ...most.slice(0, TAGS_MAX).map(([tag, count]) => tagLink(tag, count, route)))];
}

const tagLink = (tag, count, route) =>
  element(
    "a",
    { class: "chip", href: route.to({ tags: [tag], query: "" }) },
    tagWord(tag),
    element("span", { class: "muted" }, count.toLocaleString("en")),
  );

function recentCard(recent, trust, route) {
  const [place, list] = [element("div", { class: "summary" }), element("div", {})];
  checking(place, () => check(recent, { list, place, trust, route }));
  return element("section", { class: "card group" }, element("h2", {}, "Added last"), element("div", { class: "hit" }, place), list);
}

async function check(recent, { list, place, trust, route }) {
  const told = distinct(recent.map(({ atom }) => atom));
  const found = await openAtoms(trust, told.map(({ id }) => id));
  const added = await eventsOf(trust, [...found.values()], (atom) => atom.created_seq);
  const outcomes = told.map((one) => outcomeOf(one, found.get(one.id)));
  list.replaceChildren(...outcomes.map((outcome) => recentNode(outcome, added.get(outcome.told.id), route)));
  place.replaceChildren(...summary(trust, "text", outcomes), unprovable("That these are the newest"));
}

function recentNode({ told, atom, error, altered }, event, route) {
  if (error !== null) return element("div", { class: "hit" }, atomLink(told.id, error, route));
  const link = atomLink(atom.id, atom, route);
  link.querySelector("a").className = "hit-title";
  const by = event instanceof Error ? failed(event) : event === undefined ? null : addedBy(event);
  return element("div", { class: "hit" }, proved(`recent ${atom.id}`, element("div", { class: "stack" }, link, by)), alteredNode(altered));
}

const addedBy = ({ actor, time }) => element("div", { class: "row" }, element("span", {}, "by ", quoted(actor)), element("span", { class: "end" }, second(time)));
