// Context: the text that an agent would get. Each passage is made here, from the texts that its proofs opened, in the form
// of engine/query/prompt_text.py, and compared with what the service would hand out. No proof covers the choice of the
// passages, nor where a long one is cut.

import { element, hidden, mark, show, visible } from "./dom.mjs";
import { checking } from "./failures.mjs";
import { alteredNode, failed, proved, provenanceMark, summary, unprovable } from "./marks.mjs";
import { openAtoms } from "./opened.mjs";

const LINE_ENDS = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/u;
/** White space as Python knows it; its line ends are those above. */
const SPACES = /[\t-\r\u001c-\u001e \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
const BLANKS = new RegExp(`${SPACES.source}$`, "u");
const PROVENANCES = ["internal", "external", "quarantine"];
const CUT = "…";

/** Return the nodes of a context, and start the checks of its passages. */
export function contextNodes(context, trust, route, ended) {
  const { windows } = context;
  const [place, list] = [element("div", { class: "summary" }), element("div", { class: "stack" })];
  show(list, [block(windows.map(({ text }) => element("div", { class: "said" }, ...visible(text))))]);
  checking(place, () => check(context, { list, place, trust, ended }));
  return [
    place,
    element("div", { class: "summary" }, unprovable(`The choice of texts, in ${context.tokens.toLocaleString("en")} of ${context.budget.toLocaleString("en")} tokens`)),
    list,
  ];
}

const block = (nodes) => element("div", { class: "content card", dir: "auto", tabindex: "0", role: "group", "aria-label": "Context" }, ...nodes);

async function check({ windows, text }, { list, place, trust, ended }) {
  if (!(await ended)) return;
  const found = await openAtoms(trust, windows.flatMap(({ ids }) => ids));
  const outcomes = windows.map((told) => outcomeOf(told, told.ids.map((id) => found.get(id))));
  show(list, [block(outcomes.map(passage))]);
  const isWhole = text === windows.map((one) => one.text).join("");
  const whole = isWhole ? null : alteredNode([["text for an agent", text, "the passages above"]]);
  if (whole !== null) list.append(whole);
  place.replaceChildren(...summary(trust, "passage", outcomes), ...(isWhole ? [] : [mark("refused", "The text for an agent is altered by the service")]));
}

/** Return what a passage that the service told is: made of the atoms that it names, or the error of one of them. */
function outcomeOf(told, atoms) {
  const error = atoms.find((atom) => atom instanceof Error) ?? null;
  if (error !== null) return { told, error, altered: [], text: told.text };
  const texts = atoms.map(({ id }) => passageOf(atoms, id));
  const cut = atoms.length === 1 && told.text.endsWith(`${CUT}\n`) ? told.text.slice(0, -CUT.length - 1) : null;
  const same = texts.find((text) => text === told.text);
  const beginning = cut === null ? undefined : texts.find((text) => text.startsWith(cut) && text.length > cut.length);
  const text = same ?? (beginning === undefined ? texts[0] ?? "" : `${beginning.slice(0, cut.length)}${CUT}\n`);
  const provenance = worst(atoms);
  const isAltered = same === undefined && beginning === undefined;
  return { told, error: null, text, provenance, altered: isAltered ? [["passage", told.text, text]] : [] };
}

function passage({ told, error, altered, text, provenance }) {
  if (error !== null) return element("div", {}, element("div", { class: "said" }, ...visible(text)), failed(error));
  const node = proved(`passage ${told.ids.join(" ")}`, element("div", {}, ...visible(text)));
  return element("div", {}, provenanceMark(provenance), node, alteredNode(altered));
}

const worst = (atoms) => PROVENANCES[Math.max(...atoms.map(({ provenance }) => PROVENANCES.indexOf(provenance)))];

/** Return the text of consecutive atoms for an agent; `best` is the id in its heading. */
function passageOf(atoms, best) {
  const [first] = atoms;
  const parts = [heading(first, atoms.at(-1).sequence, best, worst(atoms)), body(first.content)];
  for (const [at, atom] of atoms.slice(1).entries()) parts.push(atoms[at].title === atom.title ? "" : subheading(atom.title), body(atom.content));
  return `${parts.join("")}\n`;
}

function heading({ title, source, sequence: from }, to, id, provenance) {
  const range = from === to ? ` ${from}` : ` ${from}-${to}`;
  const place = source === null || from === null ? "" : range;
  const origin = provenance === "internal" ? "" : ` ${provenance}`;
  const words = [source === null ? "" : ` ${oneLine(source).replaceAll("|", "¦")}`, title === null ? "" : ` | ${oneLine(title)}`];
  return `[${id.slice(0, 8)}${place}${origin}]${words.join("")}`.replace(BLANKS, "");
}

const subheading = (title) => (title === null ? "\n|" : `\n| ${oneLine(title)}`.replace(BLANKS, ""));
const oneLine = (text) => text.split(SPACES).filter((word) => word !== "").map((word) => hidden(word, escaped)).join(" ");

/** Return an escape as Python writes it. */
function escaped(character) {
  const digits = character.codePointAt(0).toString(16);
  if (digits.length <= 2) return `\\x${digits.padStart(2, "0")}`;
  return digits.length <= 4 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}

/** Return a content as indented lines, without blank ones at its ends; a line end stands before each. */
function body(content) {
  const lines = (content ?? "").split(LINE_ENDS).map((line) => hidden(line, escaped).replace(BLANKS, ""));
  while (lines.length > 0 && lines.at(-1) === "") lines.pop();
  const start = Math.max(0, lines.findIndex((line) => line !== ""));
  return lines.slice(start).map((line) => (line === "" ? "\n" : `\n  ${line}`)).join("");
}
