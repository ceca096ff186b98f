// Snippets, cut here from a text that a proof opened, by the words that the person typed.

import { flat } from "./atoms.mjs";
import { element, visible } from "./dom.mjs";

const CHARACTERS = 200;
const LEAD = 40;
const WORD = /[\p{L}\p{N}]+/gu;
/** Words of questions that say nothing about what is asked for. */
const COMMON = new Set("a about an and are as at be by can did do does for from had has have how in is it me my of on or our that the their there to us was we were what when where which who whom why will with you your".split(" "));

/** Return what words of a text may begin with to answer a question: its words without their endings. */
export function stemsOf(question) {
  const words = (question.toLowerCase().match(WORD) ?? []).filter((word) => !COMMON.has(word));
  return [...new Set(words.map((word) => (word.length > 5 ? word.slice(0, Math.max(4, word.length - 2)) : word)))];
}

const stemOf = (word, stems) => stems.find((stem) => word.startsWith(stem));

/** Return the part of a text that has most of the stems, in one piece; an ellipsis stands where something is left out. */
export function snippetOf(text, stems) {
  const whole = flat(text);
  const found = [...whole.toLowerCase().matchAll(WORD)].map(({ 0: word, index }) => ({ index, stem: stemOf(word, stems) })).filter(({ stem }) => stem !== undefined);
  let [best, most] = [0, 0];
  for (const [at, { index }] of found.entries()) {
    const near = new Set();
    for (let next = at; next < found.length && found[next].index < index + CHARACTERS - LEAD; next++) near.add(found[next].stem);
    if (near.size > most) [best, most] = [index, near.size];
  }
  const from = best <= LEAD ? 0 : whole.indexOf(" ", best - LEAD) + 1;
  const room = whole.slice(from, from + CHARACTERS);
  const isCut = from + CHARACTERS < whole.length;
  const end = isCut && room.lastIndexOf(" ") > 0 ? room.slice(0, room.lastIndexOf(" ")) : room;
  return `${from > 0 ? "…" : ""}${end}${isCut ? "…" : ""}`;
}

/** Return whether a snippet of the service is one piece of a text. */
export function isPiece(snippet, text) {
  const [piece, whole] = [flat(snippet), flat(text)];
  return whole.includes(piece) || whole.includes(piece.replace(/^…/u, "").replace(/…$/u, "").trim());
}

/** Return a text as nodes, with its words that begin with a stem marked. */
export function marked(text, stems) {
  const nodes = [];
  let from = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (stemOf(word.toLowerCase(), stems) === undefined) continue;
    nodes.push(...visible(text.slice(from, index)), element("mark", {}, word));
    from = index + word.length;
  }
  return [...nodes, ...visible(text.slice(from))];
}
