// Claims in words, as on the command line (docs/proofs.md). Tags and terms are taken as they are given.

import { bigEndian, fromHex, fromUtf8, join, toHex, utf8 } from "./bytes.mjs";
import { EDGES_OF, isList } from "./claims.mjs";
import { check } from "./refusal.mjs";
import { ERASED } from "./values.mjs";

const STATES = ["live", "tombstoned", "erased"];
const SEALED = "sealed";
const TYPES = ["related_to", "derived_from", "contradicts", "supersedes", "part_of", "references"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TYPE_CODE = /^([0-9a-f]{2}|[0-9a-f]{16})$/;
const NOTHING = new Uint8Array(0);
const ROOT = /^[0-9a-f]{64}$/;
const WHITE_SPACE = /[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
const NUMBER = /^(0|[1-9][0-9]{0,18})$/;

export function parseId(word) {
  check(UUID.test(word), "input", `"${word}" is not an id`);
  return fromHex(word.replaceAll("-", ""));
}

export function parseRoot(word) {
  check(ROOT.test(word), "input", `"${word}" is not a root of 64 lower-case hex digits`);
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
const GROUPS = ["bucket", "kind", "provenance", "source", "day"];
const FIRST_GROUP = 3;
const TAG_GROUP = Uint8Array.of(2);
const SPECIAL =
  /[%\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu;
const ORDINAL_MAX = 2n ** 32n - 1n;

function parseGroup(word) {
  check(GROUPS.includes(word), "input", `"${word}" is not a group`);
  return Uint8Array.of(FIRST_GROUP + GROUPS.indexOf(word));
}

/** Return the word that stands for a value in a claim. */
export const escaped = (value) =>
  value.replace(SPECIAL, (one) => [...utf8(one)].map((byte) => `%${toHex(Uint8Array.of(byte))}`).join(""));

/** Return the value for which a word stands: % and two hex digits stand for a byte. */
function parseValue(word) {
  const raw = utf8(word);
  const bytes = [];
  for (let at = 0; at < raw.length; at++) {
    const digits = raw[at] === 0x25 ? fromHex(String.fromCharCode(...raw.subarray(at + 1, at + 3))) : null;
    bytes.push(digits !== null && digits.length === 1 ? digits[0] : raw[at]);
    if (digits !== null && digits.length === 1) at += 2;
  }
  const value = fromUtf8(Uint8Array.from(bytes));
  check(value !== null && escaped(value) === word, "input", `"${word}" is not the word of a value`);
  return utf8(value);
}

function parseRange(word) {
  const [first, last, ...rest] = word.split("-").map(parseNumber);
  const isRange = last !== undefined && rest.length === 0 && first <= last && last <= ORDINAL_MAX;
  check(isRange, "input", `"${word}" is not a range of ordinals`);
  return join(bigEndian(first, 4), bigEndian(last, 4));
}

const tag = (word) => join(TAG_GROUP, utf8(word));
const from = (word) => join(Uint8Array.of(0), parseId(word));
const to = (word) => join(Uint8Array.of(1), parseId(word));

/** Of each claim its number, and the readers of its words, whose bytes joined are the subject. */
const CLAIMS = {
  atom: [1, parseId],
  "no-atom": [2, parseId],
  edge: [3, parseId, parseType, parseId],
  "no-edge": [4, parseId, parseType, parseId],
  tag: [5, parseId, tag],
  "no-tag": [6, parseId, tag],
  in: [5, parseId, parseGroup, parseValue],
  "not-in": [6, parseId, parseGroup, parseValue],
  tagged: [7, tag],
  "none-tagged": [8, tag],
  all: [7, parseGroup, parseValue],
  none: [8, parseGroup, parseValue],
  term: [9, utf8],
  "no-term": [10, utf8],
  event: [11, parseU64],
  prefix: [12, parseU64, parseRoot],
  root: [13, parseRoot],
  "prefix-root": [14, parseRoot],
  "edges-from": [15, from],
  "edges-to": [15, to],
  tags: [16, parseId],
  seen: [17, parseId, parseU64, parseRoot],
};

/** Return the words of a line, which white space separates (SPEC.md, section 20.2). */
export const splitWords = (line) => line.split(WHITE_SPACE).filter((word) => word !== "");

/** Read a claim, given as its words. */
export function parseClaim([name, ...words]) {
  check(name !== undefined && Object.hasOwn(CLAIMS, name), "input", `"${name ?? ""}" is not a claim`);
  const [number, ...readers] = CLAIMS[name];
  const canOpen = ["atom", "edge", "event"].includes(name);
  const hasState = [1, 3, 5, 6, 16].includes(number);
  const hasRange = isList(number);
  const sealed = canOpen && words.at(-1) === SEALED;
  if (sealed) words.pop();
  const state = hasState ? parseState(words.length > readers.length ? words.pop() : "live") : null;
  const range = hasRange ? parseRange(words.length > readers.length ? words.pop() : `0-${ORDINAL_MAX}`) : NOTHING;
  const type = number === EDGES_OF && words.length > readers.length ? parseType(words.pop()) : NOTHING;
  check(words.length === readers.length, "input", `"${name}" takes ${readers.length} words, not ${words.length}`);
  const subject = join(range, ...readers.map((read, at) => read(words[at])), type);
  return { number, subject, state, opened: canOpen && !sealed && state !== ERASED };
}

function parseState(word) {
  check(STATES.includes(word), "input", `"${word}" is not a state`);
  return STATES.indexOf(word);
}
