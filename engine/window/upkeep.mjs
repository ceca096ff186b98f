// Upkeep: how the memory stands, and what a person may want to settle, each with the command to run. It is about now.

import { flat } from "./atoms.mjs";
import { actButton } from "./changing.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { differenceNode } from "./differences.mjs";
import { details, element, quoted, visible } from "./dom.mjs";
import { erasureCard } from "./erasure.mjs";
import { counted, day, hash } from "./facts.mjs";
import { checking } from "./failures.mjs";
import { saidPart } from "./marks.mjs";
import { NO_FILTERS } from "./routes.mjs";

const LIST_MAX = 20;
const FOUND_MAX = 1_000;
const PART = 500;
const CHECKPOINT_PARTS = 4;
const FORCED_FROM = 3;
const TITLE_CHARACTERS = 160;

/** Return the nodes of the view. Each card fills itself, so that a slow answer holds up no other. */
export async function upkeep({ now, route, signal, changed }) {
  const { memory } = now;
  const status = await memory.call("status", {}, signal);
  const given = { ...now, route, status, signal, changed };
  const later = (heading, about, make) => {
    const place = element("div", { class: "stack" });
    checking(place, async () => place.replaceChildren(...(await make(given))));
    return element("section", { class: "card stack" }, element("h2", {}, heading), element("p", { class: "muted small" }, about), place);
  };
  return [
    route.moment() === null ? null : element("p", { class: "notice warned" }, "This view is about now, not about the earlier moment."),
    ...saidPart(
      route.erase === null ? null : erasureCard(given),
      element(
        "div",
        { class: "halves" },
        element(
          "div",
          { class: "stack" },
          statusCard(given),
          later("Last checkpoint", "A checkpoint that is kept outside the memory shows later that nothing was removed from its history.", checkpoint),
        ),
        element(
          "div",
          { class: "stack" },
          later("Conflicts to settle", "A text in a file changed, and so did its atom, by hand. Both are kept until somebody settles it.", conflicts),
          later("Duplicates to merge", "Merging hides the other text; it can be undone.", duplicates),
          later("In quarantine", "Texts of this provenance rank last in searches.", quarantine),
          later("Superseded", "Another text replaces these; searches leave them out. They have the tag #superseded.", superseded),
          route.erase === null ? erasureCard(given) : null,
        ),
      ),
    ),
  ].filter((node) => node !== null);
}

function statusCard({ memory, status }) {
  const behind = Object.entries(status.followers).filter(([, size]) => size < status.events);
  return element(
    "section",
    { class: "card stack" },
    element("h2", {}, "How the memory stands"),
    details([
      ["live atoms", status.live_atoms.toLocaleString("en")],
      ["versions", `${status.contents.toLocaleString("en")}, including revised ones`],
      ["events", status.events.toLocaleString("en")],
      ["last event", day(status.last_event)],
      ["kept in", quoted(status.backend)],
      ["sealed", status.sealed ? "yes: its rows are encrypted" : "no"],
      ["files", status.file_bytes === null ? null : sizeOf(status.file_bytes)],
      ["last scrub", scrubOf(status)],
      ["can be written", status.read_only === null || status.read_only === undefined ? "yes" : element("span", {}, "no: ", quoted(status.read_only))],
      ["behind", behind.length === 0 ? "nothing" : quoted(behind.map(([name, size]) => `${name} by ${counted(status.events - size, "event")}`).join(", "))],
      ["store", hash(status.store_id)],
      ["version", quoted(status.version)],
    ]),
    element("p", { class: "small muted" }, "A part that is behind catches up when it is next asked. To read the whole store again, slowly, and to compare it with its journal:"),
    commandNode(engine(memory, command`scrub`)),
    commandNode(engine(memory, command`verify-root`)),
  );
}

const sizeOf = (bytes) => (bytes < 1e6 ? counted(bytes, "byte") : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`);

/** Return when the store was last read again without finding damage, and what was added since. */
function scrubOf({ scrubbed_at: time, scrubbed_events: size, events }) {
  if (time === null) return "never finished";
  return `no damage found at ${day(time)}, ${size < events ? `${counted(events - size, "event")} ago` : "after the last event"}`;
}

async function checkpoint({ memory, status, signal }) {
  const found = await lastCheckpoint(memory, status.events, signal);
  const words =
    found === null
      ? element("p", {}, `None among the last ${counted(Math.min(status.events, PART * CHECKPOINT_PARTS), "event")}.`)
      : details([
          ["event", `${found.seq.toLocaleString("en")}, ${counted(status.events - 1 - found.seq, "event")} ago`],
          ["time", day(found.time)],
          ["by", quoted(found.actor)],
        ]);
  return [words, commandNode(engine(memory, command`checkpoint --out memory.checkpoint`))];
}

/** Return the last checkpoint among the last events, read in parts; null if there is none. */
async function lastCheckpoint(memory, size, signal) {
  for (let part = 0, stop = size; part < CHECKPOINT_PARTS && stop > 0; part++) {
    const start = Math.max(0, stop - PART);
    const events = await memory.call("log", { start, stop }, signal);
    const found = events.findLast(({ kind }) => kind === "checkpoint");
    if (found !== undefined) return found;
    stop = start;
  }
  return null;
}

const nothing = () => [element("p", {}, "None.")];
const list = (rows) => element("ul", { class: "upkeep" }, ...rows);
const linkTo = (route, id, words) => element("a", { href: route.to({ atom: id, at: null }), dir: "auto" }, ...visible(flat(words).slice(0, TITLE_CHARACTERS)));

/** Return a button that carries out an operation, or the command for it where the page only reads. */
const deed = (given, words, operation, parameters, line, label) =>
  given.memory.mayWrite ? actButton(words, async () => [await given.memory.call(operation, parameters)], given, label) : commandNode(engine(given.memory, line));

const KEPT = { file: "Keep the one of the file", hand: "Keep the one by hand", both: "Keep both" };

async function conflicts(given) {
  const { memory, route, signal } = given;
  const open = await memory.call("conflicts", {}, signal);
  if (open.length === 0) return nothing();
  const rows = open.slice(0, LIST_MAX).map(({ file, hand }) =>
    element(
      "li",
      {},
      element(
        "div",
        { class: "sides" },
        element("p", {}, "From a file: ", linkTo(route, file.id, file.content ?? file.id)),
        element("p", {}, `By hand (${hand.state}): `, linkTo(route, hand.id, hand.content ?? hand.id)),
      ),
      differenceNode(file.content, hand.content),
      element("div", { class: "row" }, ...Object.entries(KEPT).map(([keep, words]) => deed(given, words, "settle", { file: file.id, hand: hand.id, keep }, command`settle ${file.id} ${hand.id} --keep ${keep}`))),
    ),
  );
  return [counts(open.length, "conflict"), list(rows)];
}

const counts = (number, noun) =>
  element("p", {}, counted(number, noun) + (number === FOUND_MAX ? " or more" : "") + (number > LIST_MAX ? `; the first ${LIST_MAX} are shown.` : "."));

async function duplicates(given) {
  const { memory, route, signal } = given;
  const groups = await memory.call("duplicates", { limit: LIST_MAX }, signal);
  if (groups.length === 0) return nothing();
  const rows = groups.map(({ keep, others }) =>
    element(
      "li",
      {},
      element("p", {}, "Keep: ", linkTo(route, keep.id, keep.title ?? keep.snippet)),
      ...others.flatMap((other) => [
        element("p", {}, "Other: ", linkTo(route, other.id, other.title ?? other.snippet), element("span", { class: "small muted" }, ` ${apart(other)}`)),
        deed(given, "Merge", "merge", { keep: keep.id, other: other.id, force: other.distance >= FORCED_FROM }, other.distance < FORCED_FROM ? command`merge ${keep.id} ${other.id}` : command`merge ${keep.id} ${other.id} --force`, `Merge ${other.id}`),
      ]),
    ),
  );
  const isCut = groups.length === LIST_MAX;
  const all = isCut ? [element("p", { class: "small muted" }, `The first ${LIST_MAX} groups. All of them:`), commandNode(engine(memory, command`duplicates --limit 10000`))] : [];
  return [list(rows), ...all];
}

const apart = ({ distance }) => `${counted(distance, "bit")} apart`;

/** Return the atoms that pass filters, with a link to the view that checks them. */
async function found({ memory, route, signal }, filters, commands) {
  const atoms = await memory.call("find", { ...filters, form: "short", limit: FOUND_MAX }, signal);
  if (atoms.length === 0) return nothing();
  const ids = atoms.slice(0, LIST_MAX).map(({ id }) => id);
  const titles = await memory.call("titles", { ids }, signal);
  return [
    counts(atoms.length, "text"),
    list(ids.map((id) => element("li", {}, linkTo(route, id, titles[id] ?? id)))),
    element("p", {}, element("a", { href: route.to({ ...NO_FILTERS, ...filters, view: null, query: "", at: null, atom: null }) }, "Look at all of them, and check them")),
    ...commands(ids[0]),
  ];
}

const quarantine = (given) =>
  found(given, { provenances: ["quarantine"] }, (id) => [
    element("p", { class: "small muted" }, "To take a text that you have read out of quarantine, or to hide it; for example the first:"),
    commandNode(engine(given.memory, command`revise ${id} --provenance external`)),
    commandNode(engine(given.memory, command`tombstone ${id}`)),
  ]);

const superseded = (given) =>
  found(given, { tags: ["superseded"] }, (id) => [
    element("p", { class: "small muted" }, "To see what replaces a text, for example the first:"),
    commandNode(engine(given.memory, command`why ${id}`)),
  ]);
