// Claims in words, as on the command line (docs/proofs.md). Tags and terms are taken as they are given.

import { bigEndian, fromHex, join, utf8 } from "./bytes.mjs";
import { check } from "./refusal.mjs";
import { ERASED } from "./values.mjs";

const STATES = ["live", "tombstoned", "erased"];
const SEALED = "sealed";
const TYPES = ["related_to", "derived_from", "contradicts", "supersedes", "part_of", "references"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TYPE_CODE = /^([0-9a-f]{2}){1,2}$/;
const ROOT = /^[0-9a-f]{64}$/i;
const WHITE_SPACE = /[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
const NUMBER = /^(0|[1-9][0-9]{0,18})$/;

export function parseId(word) {
  check(UUID.test(word), "input", `"${word}" is not an id`);
  return fromHex(word.replaceAll("-", ""));
}

export function parseRoot(word) {
  check(ROOT.test(word), "input", `"${word}" is not a root of 64 hex digits`);
  return fromHex(word);
}

export function parseNumber(word) {
  check(NUMBER.test(word), "input", `"${word}" is not a number`);
  return BigInt(word);
}

function parseType(word) {
  const at = TYPES.indexOf(word);
  if (at >= 0) return Uint8Array.of(at + 1);
  check(TYPE_CODE.test(word), "input", `"${word}" is neither a built-in edge type nor a code in hex`);
  return fromHex(word);
}

const parseU64 = (word) => bigEndian(parseNumber(word), 8);

/** Of each claim its number, and the readers of its words, whose bytes joined are the subject. */
const CLAIMS = {
  atom: [1, parseId],
  "no-atom": [2, parseId],
  edge: [3, parseId, parseType, parseId],
  "no-edge": [4, parseId, parseType, parseId],
  tag: [5, parseId, utf8],
  "no-tag": [6, parseId, utf8],
  tagged: [7, utf8],
  "none-tagged": [8, utf8],
  term: [9, utf8],
  "no-term": [10, utf8],
  event: [11, parseU64],
  prefix: [12, parseU64, parseRoot],
  root: [13, parseRoot],
  "prefix-root": [14, parseRoot],
};

/** Return the words of a line, which white space separates (SPEC.md, section 20.2). */
export const splitWords = (line) => line.split(WHITE_SPACE).filter((word) => word !== "");

/** Read a claim, given as its words. */
export function parseClaim([name, ...words]) {
  check(name !== undefined && Object.hasOwn(CLAIMS, name), "input", `"${name ?? ""}" is not a claim`);
  const [number, ...readers] = CLAIMS[name];
  const hasState = name === "atom" || name === "edge";
  const sealed = (hasState || name === "event") && words.at(-1) === SEALED;
  if (sealed) words.pop();
  const state = hasState ? parseState(words.length > readers.length ? words.pop() : "live") : null;
  check(words.length === readers.length, "input", `"${name}" takes ${readers.length} words, not ${words.length}`);
  const subject = join(...readers.map((read, at) => read(words[at])));
  return { number, subject, state, opened: (hasState || name === "event") && !sealed && state !== ERASED };
}

function parseState(word) {
  check(STATES.includes(word), "input", `"${word}" is not a state`);
  return STATES.indexOf(word);
}
