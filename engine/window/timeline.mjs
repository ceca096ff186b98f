// Time: what changed between two moments, and the share of each actor.

import { actorsCard } from "./actors.mjs";
import { actButton } from "./changing.mjs";
import { changeLists } from "./changes.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { element, mark } from "./dom.mjs";
import { noAnswer } from "./failures.mjs";
import { counted } from "./facts.mjs";
import { saidPart } from "./marks.mjs";

const EVENTS_MAX = 2_000;
const SHOWN_MAX = 100;
const USUAL = 100;
const DAY_MS = 86_400_000;
const MOMENT = /^(?:\d{1,15}|\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?(?:Z|[+-]\d\d:\d\d)?)$/;

/** Return the nodes of the view, and start what they show. */
export async function timeline({ now, route, signal, changed }) {
  const size = await now.trust.size();
  signal.throwIfAborted();
  const moment = route.moment() ?? size - 1;
  return [changesCard({ ...now, route, changed }, moment, size), actorsCard(now, route, moment)];
}

/** Return a moment as the service reads it: the seq of an event, or a time; null if the words are neither. */
function momentOf(words) {
  const text = words.trim();
  if (!MOMENT.test(text)) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const instant = text.length === 10 ? `${text}T00:00:00` : text.replace(" ", "T");
  return /(?:Z|[+-]\d\d:\d\d)$/.test(instant) ? instant : `${instant}Z`;
}

/** Compare an earlier moment with now; without one, the last events with what was before. */
function changesCard(given, moment, size) {
  const isEarlier = moment < size - 1;
  const [from, to] = isEarlier ? [moment, size - 1] : [Math.max(0, size - 1 - USUAL), size - 1];
  const before = element("input", { type: "text", id: "before", value: String(from), autocomplete: "off" });
  const after = element("input", { type: "text", id: "after", value: String(to), autocomplete: "off" });
  const place = element("div", { class: "stack", "aria-live": "polite" });
  const compare = () => showChanges(place, given, before.value, after.value);
  const between = (first, last) => {
    [before.value, after.value] = [first, last].map((back) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10));
    compare();
  };
  const days = (words, first, last) => element("button", { class: "button", type: "button", onclick: () => between(first, last) }, words);
  const picked = (input, words) => element("label", { class: "field" }, element("span", {}, words), element("input", { type: "date", onchange: ({ target }) => target.value !== "" && ((input.value = target.value), compare()) }));
  const field = (input, words) => element("div", { class: "field" }, element("label", { for: input.id }, words), input);
  compare();
  return element(
    "section",
    { class: "card stack" },
    element("h2", {}, "What changed between two moments"),
    element(
      "form",
      {
        class: "moments",
        "aria-label": "Two moments",
        onsubmit: (event) => {
          event.preventDefault();
          compare();
        },
      },
      field(before, "After event or time"),
      field(after, "up to event or time"),
      element("button", { class: "button", type: "submit" }, "Compare"),
    ),
    element("div", { class: "moments" }, picked(before, "From the beginning of the day"), picked(after, "to the beginning of the day"), days("Today", 0, -1), days("Yesterday", 1, 0), days("Last 7 days", 6, -1)),
    place,
  );
}

async function showChanges(place, given, from, to) {
  const { memory, route } = given;
  const key = (place.dataset.asked = `${from} ${to}`);
  place.replaceChildren(mark("plain", "Looking…"));
  const [before, after] = [momentOf(from), momentOf(to)];
  if (before === null || after === null) {
    place.replaceChildren(mark("warned", "Give the number of an event, or a time such as 2026-11-23 or 2026-11-23T12:00"));
    return;
  }
  try {
    // Before the first event there was nothing but it.
    const [first, last] = await Promise.all([seqOf(memory, before).catch((error) => (error.status === 404 ? 0 : Promise.reject(error))), seqOf(memory, after)]);
    if (last - first > EVENTS_MAX) {
      place.replaceChildren(
        element("p", {}, `There are ${counted(last - first, "event")} between the two moments; this page compares at most ${EVENTS_MAX.toLocaleString("en")}. The command compares any two moments:`),
        commandNode(engine(memory, command`diff ${first} ${last}`)),
      );
      return;
    }
    const found = await memory.call("diff", { before: first, after: last });
    if (place.dataset.asked !== key) return;
    const isCut = Math.max(found.atoms.length, found.edges.length) > SHOWN_MAX;
    place.replaceChildren(...saidPart(...changes(found, await changeLists(memory, found, route, SHOWN_MAX), isCut)), undoing(given, first, last));
  } catch (error) {
    place.replaceChildren(...noAnswer(error));
  }
}

/** Return what undoes the events after one, up to another; undoing can be undone. */
function undoing(given, first, last) {
  if (!given.memory.mayWrite || last <= first) return "";
  const undo = () => given.memory.call("revert", { start: first + 1, stop: last + 1 });
  return element("details", { class: "action" }, element("summary", { class: "button" }, "Undo all of this"), element("p", { class: "small" }, "What somebody changed again later stays. The history is kept, so this can be undone, too."), actButton("Yes, undo", undo, given));
}

/** Return the seq of the last event at a moment, without comparing anything. */
const seqOf = async (memory, moment) =>
  typeof moment === "number" ? moment : (await memory.call("diff", { before: moment, after: moment })).before;

const changes = (found, lists, isCut) => [
  element(
    "div",
    { class: "summary" },
    element("span", {}, `${counted(found.events, "event")}: ${counted(found.atoms.length, "atom")} and ${counted(found.edges.length, "connection")} differ`),
    isCut ? element("span", {}, `the first ${SHOWN_MAX} of each are shown`) : null,
  ),
  ...lists,
];
