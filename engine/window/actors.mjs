// The share of each actor in the events of a memory, read from the log in parts, and how to undo what an actor did.

import { changeLists } from "./changes.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { element, mark, quoted } from "./dom.mjs";
import { checking, noAnswer } from "./failures.mjs";
import { counted, hash } from "./facts.mjs";
import { failed, proved, saidPart, unchanged } from "./marks.mjs";
import { openEvents } from "./opened.mjs";
import { Route } from "./routes.mjs";

const PART = 500;
const UNDONE_MAX = 50;
const REASONS_MAX = 20;
const ATOM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What `engine revert` does not undo. */
const LASTING = ["genesis", "checkpoint", "edge type registered", "erased", "analyzer changed", "foreign head"];

/** Return the card, which reads the last events up to a moment, and earlier ones when it is asked to. */
export function actorsCard({ memory, trust }, route, moment) {
  const rows = element("div", { class: "stack" });
  const place = element("div", { class: "summary" });
  const more = element("button", { class: "button", type: "button" }, "");
  const state = { from: moment + 1, to: moment + 1, actors: new Map() };
  const read = async () => {
    const start = Math.max(0, state.from - PART);
    more.disabled = true;
    const seqs = Array.from({ length: state.from - start }, (_, at) => start + at);
    const events = [...(await openEvents(trust, seqs, seqs)).values()];
    const error = events.find((event) => event instanceof Error);
    if (error === undefined) {
      state.from = start;
      events.forEach((event) => count(state.actors, event));
      rows.replaceChildren(...shares(state, memory, route));
    }
    place.replaceChildren(...(error === undefined ? [unchanged(trust.head, counted(state.to - state.from, "event"))] : [failed(error)]));
    more.disabled = false;
    more.hidden = state.from === 0;
    more.textContent = `Count the ${Math.min(PART, state.from)} events before`;
  };
  more.addEventListener("click", () => checking(place, read));
  checking(place, read);
  return element("section", { class: "card stack" }, element("h2", {}, "Who did it"), place, rows, more);
}

function count(actors, { actor, kind, seq }) {
  const found = actors.get(actor) ?? { events: 0, kinds: new Map(), first: seq };
  found.events += 1;
  found.first = Math.min(found.first, seq);
  found.kinds.set(kind, (found.kinds.get(kind) ?? 0) + 1);
  actors.set(actor, found);
}

function shares({ from, to, actors }, memory, route) {
  const total = to - from;
  const sorted = [...actors].sort(([, a], [, b]) => b.events - a.events);
  return [
    element("p", { class: "muted" }, `Events ${from.toLocaleString("en")} to ${(to - 1).toLocaleString("en")}.`),
    ...sorted.map(([actor, found]) => share(actor, found, total, memory, route)),
  ];
}

function share(actor, { events, kinds, first }, total, memory, route) {
  const part = `${((100 * events) / total).toFixed(events === total ? 0 : 1)} %`;
  const most = [...kinds].sort(([, a], [, b]) => b - a).map(([kind, number]) => `${kind} ${number.toLocaleString("en")} ×`);
  return element(
    "div",
    { class: "share" },
    proved(
      `actor ${actor} of ${total}`,
      element(
        "div",
        { class: "stack" },
        element("div", { class: "row" }, element("strong", {}, quoted(actor)), element("span", { class: "end" }, `${counted(events, "event")}, ${part}`)),
        element("meter", { min: 0, max: total, value: events, "aria-label": `Share of ${actor}` }),
        element("p", { class: "small muted" }, quoted(most.join(", "))),
      ),
    ),
    [...kinds.keys()].every((kind) => LASTING.includes(kind)) ? null : undoing(actor, first, memory, route),
  );
}

/** Return what shows, when it is opened, what undoing the events of an actor would change. */
function undoing(actor, first, memory, route) {
  const place = element("div", { class: "stack", "aria-live": "polite" });
  const opened = ({ target }) => (target.open && place.childElementCount === 0 ? preview(place, { actor, first, memory, route }) : null);
  return element(
    "details",
    { class: "small", ontoggle: opened },
    element("summary", {}, "Undo"),
    place,
    element("p", {}, "This command shows the same. Without ", element("code", {}, "--dry-run"), " it undoes these events, and later events of this actor. The history is kept, so an undo can be undone."),
    commandNode(engine(memory, command`revert --actor ${actor} --since ${first} --dry-run`)),
  );
}

async function preview(place, { actor, first, memory, route }) {
  place.replaceChildren(mark("plain", "Looking…"));
  try {
    const found = await memory.call("revertible", { start: first, actor, limit: UNDONE_MAX });
    const now = new Route({ ...route, at: null });
    const lists = await changeLists(memory, found.changes, now, UNDONE_MAX);
    place.replaceChildren(...saidPart(...undone(found, now), ...lists));
  } catch (error) {
    place.replaceChildren(...noAnswer(error));
  }
}

function undone({ events, subjects, outcomes, changes: { atoms, edges } }, route) {
  const would = `change ${counted(atoms.length, "atom")} and ${counted(edges.length, "connection")}`;
  const isAll = outcomes.length === subjects;
  const left = outcomes.filter((one) => one.left.length > 0);
  const reasons = left.slice(0, REASONS_MAX).map((one) => element("li", {}, subjectNode(one.subject, route), quoted(one.left.join("; "))));
  return [
    element(
      "p",
      {},
      isAll
        ? `Undoing ${counted(events, "event")} would ${would}.`
        : `${counted(events, "event")} changed ${subjects.toLocaleString("en")} atoms and connections. Undoing them for the ${outcomes.length} changed last would ${would}.`,
    ),
    left.length === 0 ? null : element("details", {}, element("summary", {}, `Not undone: ${left.length.toLocaleString("en")}`), element("ul", { class: "links" }, ...reasons)),
  ].filter((node) => node !== null);
}

/** Return a subject, which is a link if it is an atom, and not an edge or a predicate. */
const subjectNode = (subject, route) =>
  ATOM.test(subject) ? element("a", { href: route.to({ view: null, atom: subject }) }, hash(subject)) : quoted(subject);
