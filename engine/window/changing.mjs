// Changing: what a person with a token that may write does. Whatever is changed, its events are shown as proofs open them,
// with the root that has them, and can be undone. A text is changed only as it was read: nobody overwrites another.

import { distinct, flat } from "./atoms.mjs";
import { differenceNode } from "./differences.mjs";
import { element, mark, quoted } from "./dom.mjs";
import { noAnswer } from "./failures.mjs";
import { counted } from "./facts.mjs";
import { failed, proved, short, unchanged } from "./marks.mjs";
import { openAtoms, openEvents } from "./opened.mjs";

const SUGGESTIONS = 7;
const ATTEMPTS = 5;
const EVENTS_MAX = 50;
const FOUND_MAX = 200;
/** What is suggested as the type of a connection. */
const TYPES = ["related_to", "references", "derived_from", "part_of", "contradicts"];

/** A text was changed by somebody else since it was read; `atom` is what it is now. */
class ChangedSince extends Error {
  constructor(atom) {
    super("Somebody else changed this text since you read it. Nothing was overwritten.");
    this.atom = atom;
  }
}

/** Carry out commands if the atoms in `read` are still as they were read; return the receipts. */
async function commit({ memory, trust }, read, commands) {
  for (let left = ATTEMPTS; ; left--) {
    const size = await trust.size();
    const now = await openAtoms(trust, read.map(({ id }) => id));
    const other = read.find(({ id, last_seq }) => now.get(id).last_seq !== last_seq);
    if (other !== undefined) throw now.get(other.id) instanceof Error ? now.get(other.id) : new ChangedSince(now.get(other.id));
    try {
      return await memory.call("apply", { commands, if_head: size });
    } catch (error) {
      // An event on another atom came between; one on these atoms is noticed in the next turn.
      if (error.code !== "conflict" || left === 0) throw error;
    }
  }
}

/** Show what was changed, by its events; `changed` shows the memory anew. */
async function tell(receipts, { memory, trust, changed }, words = "Recorded:") {
  const place = document.getElementById("done");
  const seqs = [...new Set(receipts.flatMap(({ events }) => events ?? []).map((event) => event.seq ?? event))].sort((one, other) => one - other);
  const shown = seqs.slice(0, EVENTS_MAX);
  const events = [...(await openEvents(trust, shown, shown)).values()];
  const close = element("button", { class: "button", type: "button", onclick: () => (place.hidden = true) }, "Close");
  const undo = async () => {
    try {
      await tell(await memory.call("revert", { start: seqs[0], stop: seqs.at(-1) + 1, actor: events[0].actor }), { memory, trust, changed }, "Undone:");
    } catch (error) {
      place.append(...noAnswer(error));
    }
  };
  const isProved = events.every((event) => !(event instanceof Error));
  const isLasting = !isProved || events.some(({ kind }) => kind === "erased" || kind === "edge erased");
  place.replaceChildren(
    ...(seqs.length === 0 ? [mark("plain", "Nothing to change: it stood so already")] : [words, isProved ? unchanged(trust.head) : "", ...events.slice(0, 3).map(eventNode)]),
    seqs.length > 3 ? element("span", {}, `… ${counted(seqs.length, "event")}`) : "",
    trust.head === null ? "" : element("span", { class: "hash" }, `Root ${short(trust.head.root)}`),
    seqs.length === 0 || isLasting ? "" : element("button", { class: "button", type: "button", onclick: undo }, "Undo"),
    close,
  );
  place.hidden = false;
  changed();
}

const eventNode = (event) => (event instanceof Error ? failed(event) : proved(`event ${event.seq}`, element("span", {}, `${event.kind}, event ${event.seq.toLocaleString("en")}, by `, quoted(event.actor))));

/** Return a button that changes something; `act` returns receipts. */
export function actButton(words, act, given, label = words) {
  const said = element("span", { role: "status" });
  const press = async ({ target }) => {
    target.disabled = true;
    try {
      await tell(await act(), given);
    } catch (error) {
      said.replaceChildren(...noAnswer(error));
    }
    target.disabled = false;
  };
  return element("span", { class: "row" }, element("button", { class: "button", type: "button", "aria-label": label, onclick: press }, words), said);
}

/** Return a form that changes something. `act` is given the values of its fields, and returns receipts, which may have `words` about them, a node, or null. */
export function changeForm(words, fields, act, given) {
  const said = element("div", { role: "status", class: "stack" });
  const button = element("button", { class: "button primary", type: "submit" }, words);
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    said.replaceChildren();
    try {
      const receipts = await act(Object.fromEntries(new FormData(event.target)), said);
      if (receipts !== null) await tell(receipts, given, receipts.words);
    } catch (error) {
      said.replaceChildren(...noAnswer(error), ...(error instanceof ChangedSince ? changedNodes(error.atom, event.target, given) : []));
    }
    button.disabled = false;
  };
  return element("form", { class: "stack change-form", "aria-label": words, onsubmit: submit }, ...fields, element("div", { class: "row" }, button), said);
}

/** Return a field with its label. Fields that are left empty are given as an empty text. */
export function fieldOf(name, label, { area = false, ...attributes } = {}, value = "") {
  const input = element(area ? "textarea" : "input", { name, autocomplete: "off", ...(area ? { rows: "3" } : { type: "text", value }), ...attributes });
  if (area) input.value = value;
  return element("label", { class: "field" }, element("span", {}, label), input);
}

/** Show what somebody else wrote meanwhile beside what the person wrote. */
function changedNodes(atom, form, { trust }) {
  const mine = form.elements.content?.value ?? "";
  const take = () => {
    form.read = atom;
    form.querySelector("[role=status]").replaceChildren(mark("plain", "Save again to put your text in the place of theirs"));
  };
  return [
    differenceNode(atom.content, mine),
    element("p", { class: "small" }, "Struck out: what is recorded now. Underlined: what you wrote."),
    unchanged(trust.head),
    element("button", { class: "button", type: "button", onclick: take }, "I have read theirs"),
  ];
}

/** Return the field for another atom, which suggests atoms while words are typed, and what reads its id. */
function otherField(label, { memory }) {
  const list = element("datalist", { id: `others-${Math.random().toString(36).slice(2)}` });
  let found = [];
  const suggest = async ({ target }) => {
    if (target.value.length < 2 || found.some((one) => one.words === target.value)) return;
    const { hits } = await memory.call("recall", { query: target.value, limit: SUGGESTIONS }).catch(() => ({ hits: [] }));
    found = distinct(hits).map(({ id, title, snippet }) => ({ id, words: `${flat(title ?? snippet).slice(0, 80)} (${id.slice(0, 8)})` }));
    list.replaceChildren(...found.map(({ words }) => element("option", { value: words })));
  };
  const idOf = async (words) => found.find((one) => one.words === words)?.id ?? memory.call("resolve", { id: /\(([0-9a-f]{8})\)$/.exec(words)?.[1] ?? words.trim() });
  return { field: element("div", {}, fieldOf("other", label, { list: list.id, oninput: suggest, required: true, placeholder: "Type words of it, and choose" }), list), idOf };
}

const action = (words, ...nodes) => element("details", { class: "action", name: "change" }, element("summary", { class: "button" }, words), ...nodes);
const tagsOf = (text) => text.split(/[,\n]/).map((tag) => tag.trim().replace(/^#/, "")).filter((tag) => tag !== "");

/** Return the card with what can be done with an atom that a proof opened, or null where nothing can be. */
export function changeCard(atom, given) {
  const { memory, route } = given;
  if (!memory.mayWrite || atom.state === "erased") return null;
  const { id } = atom;
  const erase = memory.scope === "admin" ? element("a", { class: "button", href: route.to({ view: "upkeep", atom: null, erase: id }) }, "Erase…") : null;
  const revive = () => memory.call("revive", { id }).then((one) => [one]);
  const parts = atom.state !== "live" ? [actButton("Bring back", revive, given)] : [editing(atom, given), tagging(atom, given), connecting(id, given), replacing(id, given), hiding(id, given)];
  return element("section", { class: "card actions", "aria-label": "Change this text" }, ...parts, erase);
}

function editing(atom, given) {
  const fields = [fieldOf("title", "Title", {}, atom.title ?? ""), fieldOf("content", "Text, in Markdown", { area: true, rows: "10", required: true }, atom.content)];
  const form = changeForm("Save", fields, ({ title, content }) => commit(given, [form.read], [{ revise: { id: atom.id, content, title: title.trim() || null } }]), given);
  form.read = atom;
  return action("Edit", form);
}

function tagging(atom, given) {
  const call = (operation, tags) => (tags.length === 0 ? [] : [given.memory.call(operation, { id: atom.id, tags })]);
  const act = async ({ tags }) => {
    const [had, has] = [atom.tags ?? [], tagsOf(tags)];
    return Promise.all([...call("tag", has.filter((tag) => !had.includes(tag))), ...call("untag", had.filter((tag) => !has.includes(tag)))]);
  };
  return action("Tag", changeForm("Save the tags", [fieldOf("tags", "Tags, separated by commas", {}, (atom.tags ?? []).join(", "))], act, given));
}

function connecting(id, given) {
  const other = otherField("The other text or name", given);
  const types = element("datalist", { id: "edge-types" }, ...TYPES.map((value) => element("option", { value })));
  const act = async ({ type, other: words }) => {
    const name = type.trim().toLowerCase().replaceAll(/\s+/g, "_");
    const dst = await other.idOf(words);
    const register = [...TYPES, "supersedes"].includes(name) ? [] : [{ register_type: { name } }];
    return given.memory.call("apply", { commands: [...register, { link: { src: id, type: name, dst } }] });
  };
  return action("Connect", changeForm("Connect", [fieldOf("type", "How", { list: types.id, required: true }, "related_to"), types, other.field], act, given));
}

function replacing(id, given) {
  const act = ({ content, reason }) => {
    const fresh = crypto.randomUUID();
    return given.memory.call("apply", { commands: [{ add: { content, id: fresh } }, { supersede: { old: id, new: fresh, reason } }] });
  };
  return action("Replace", changeForm("Replace by this text", [fieldOf("content", "The text that holds instead", { area: true, required: true }), fieldOf("reason", "Why, in a few words")], act, given));
}

const hiding = (id, given) => action("Hide", changeForm("Hide it", [fieldOf("reason", "Why, in a few words; the history keeps it")], ({ reason }) => given.memory.call("tombstone", { id, reason }).then((one) => [one]), given));

/** Return the nodes of the view in which a person writes. */
export async function writing(given) {
  const { memory } = given;
  if (!memory.mayWrite) return [element("div", { class: "card empty" }, element("h2", {}, "This page only reads"), element("p", {}, "To write in the memory, start the page with ", element("code", {}, "engine ui --write"), ", or give a token that may write."))];
  const add = async ({ content, title, tags }) => [await memory.call("add", { content, title: title.trim() || null, tags: tagsOf(tags) })];
  const relate = async ({ subject, predicate, object }) => [await memory.call("relate", { subject, predicate: predicate.trim().toLowerCase().replaceAll(/\s+/g, "_"), object })];
  const card = (heading, about, form) => element("section", { class: "card stack" }, element("h2", {}, heading), element("p", { class: "muted small" }, about), form);
  return [
    card("A new text", "Markdown; [[a page]] is a link.", changeForm("Add it", [fieldOf("title", "Title"), fieldOf("content", "Text", { area: true, rows: "6", required: true }), fieldOf("tags", "Tags, separated by commas")], add, given)),
    card("Correct words everywhere", "All texts that have the wrong words are shown before anything is changed.", correcting(given)),
    card("Relate two names", "For example: Ms Okafor, works at, Kettle Ltd.", changeForm("Relate them", [fieldOf("subject", "Who or what", { required: true }), fieldOf("predicate", "Relation", { required: true }), fieldOf("object", "To whom or what", { required: true })], relate, given)),
  ];
}

function correcting(given) {
  const { memory, trust } = given;
  const act = async ({ wrong, right }, said) => {
    const { hits } = await memory.call("recall", { query: wrong, limit: FOUND_MAX, superseded: true });
    const found = [...(await openAtoms(trust, hits.map(({ id }) => id))).values()];
    const atoms = found.filter((atom) => !(atom instanceof Error) && atom.state === "live" && (atom.content ?? "").includes(wrong));
    const commands = atoms.map(({ id, content }) => ({ revise: { id, content: content.replaceAll(wrong, right) } }));
    const rows = atoms.map((atom) => differenceNode(atom.content, atom.content.replaceAll(wrong, right)));
    const button = atoms.length === 0 ? "" : actButton(`Correct ${counted(atoms.length, "text")}`, () => commit(given, atoms, commands), given);
    said.replaceChildren(element("p", {}, `${counted(atoms.length, "text")} of those that the service finds ${atoms.length === 1 ? "has" : "have"} exactly these words.`), ...rows, button);
    return null;
  };
  return changeForm("Show what would change", [fieldOf("wrong", "Wrong words", { required: true }), fieldOf("right", "Right words")], act, given);
}
