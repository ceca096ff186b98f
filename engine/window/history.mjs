// The history of an atom, from its last event back to the first: each event names the one before, so none is left out.

import { differenceNode } from "./differences.mjs";
import { element, quoted } from "./dom.mjs";
import { counted, second } from "./facts.mjs";
import { alteredNode, failed, proved, said } from "./marks.mjs";
import { openHistory } from "./opened.mjs";

/** Return the events on an atom, the oldest first, and what the service says of each, by seq. */
export async function historyOf({ memory, trust, route, signal }, atom) {
  const told = await memory.call("history", { id: atom.id }, signal);
  const moment = route.moment();
  const until = told.filter(({ seq }) => Number.isSafeInteger(seq) && seq >= 0 && (moment === null || seq <= moment));
  const seqs = until.map(({ seq }) => seq);
  // An erasure destroys the payloads of all events before it.
  const sealed = atom.state === "erased" ? seqs.filter((seq) => seq !== Number(atom.last_seq)) : [];
  const events = await openHistory(trust, atom, seqs, sealed);
  return { events: events.reverse(), told: new Map(until.map((event) => [event.seq, event])) };
}

/** Return what the service says otherwise of an event. */
function alterations(told, { kind, actor, time, body }) {
  if (told === undefined) return [["event", null, kind]];
  const pairs = [
    ["kind", String(told.kind).replaceAll("_", " "), kind],
    ["actor", told.actor, actor],
    ["time", String(told.time).replace("T", " ").replace(/(\.\d+)?Z$/, " UTC"), second(time)],
    ["text", told.detail?.content, body?.content],
    ["reason", told.detail?.reason || undefined, body?.reason || undefined],
  ];
  return pairs.filter(([name, says, recorded]) => says !== recorded && !(body === null && (name === "text" || name === "reason")));
}

/** Return the card of a history, or of the error that refuses it. */
export function historyCard(history) {
  const heading = element("h2", {}, "History");
  if (history instanceof Error) return element("section", { class: "card" }, heading, failed(history));
  let before = null;
  const rows = history.events.map((event) => {
    const text = event.body?.content ?? null;
    const change = text === null || before === null || text === before ? null : differenceNode(before, text, false);
    before = text ?? before;
    return element("li", {}, proved(`event ${event.seq}`, eventNode(event, change)), alteredNode(alterations(history.told.get(event.seq), event)));
  });
  return element("section", { class: "card" }, heading, element("ol", { class: "timeline" }, ...rows), proved(`history ${history.events[0].id}`, element("p", { class: "muted small" }, `These are all: ${counted(rows.length, "event")}.`)));
}

const eventNode = ({ seq, kind, actor, time, body }, change) =>
  element(
    "div",
    {},
    element("div", { class: "row" }, element("strong", {}, kind), "by ", quoted(actor)),
    element("div", { class: "row" }, element("time", {}, second(time)), `event ${seq}`),
    body === null ? said("Its content is gone, or the service makes no proof of it.") : null,
    body?.reason ? element("p", { class: "small" }, "Reason: ", quoted(body.reason)) : null,
    change,
  );
