// Checkpoint notes in their exact form (SPEC.md, section 21, N1 to N4). Signatures are read here, not verified.

import { equal, fromBase64, fromHex, fromUtf8, isBytes, utf8 } from "./bytes.mjs";
import { check } from "./refusal.mjs";
import { sha256 } from "./sha256.mjs";

const NOTE_BYTES_MAX = 65_536;
const NAME_BYTES_MAX = 1024;
const LINES_MAX = 100;
const KEY_ID_BYTES = 4;
const SIZE_MAX = 2n ** 63n - 1n;
const SIZE = /^(0|[1-9][0-9]*)$/;
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f]/u;
/** General category Cf of Unicode 14: in the first 2^16 code points, and behind them. */
const FORMAT_LOW =
  /[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/u;
const FORMAT_HIGH =
  /[\u{110bd}\u{110cd}\u{13430}-\u{13438}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/u;
const WHITE_SPACE = /[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;
const hasFormat = (text) => FORMAT_LOW.test(text) || FORMAT_HIGH.test(text);
const ORIGIN = /^memroot\.local\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const checkNote = (condition, detail) => check(condition, "note", detail);

/** Tell whether `name` may be that of a key. */
export function isKeyName(name) {
  const length = utf8(name).length;
  const spelled = !WHITE_SPACE.test(name) && !hasFormat(name) && !name.includes("+");
  return length >= 1 && length <= NAME_BYTES_MAX && spelled;
}

/** Return {text, origin, size, root, signatures} of a note, given as bytes. */
export function readNote(raw) {
  checkNote(isBytes(raw) && raw.length <= NOTE_BYTES_MAX, "over 65,536 bytes");
  const whole = fromUtf8(raw);
  checkNote(whole !== null, "not UTF-8");
  checkNote(!CONTROL.test(whole), "a control character");
  checkNote(!hasFormat(whole), "a format character");
  checkNote(whole.endsWith("\n"), "the last line has no end");
  const cut = whole.lastIndexOf("\n\n");
  const text = cut < 0 ? whole : whole.slice(0, cut + 1);
  const lines = cut < 0 ? [] : whole.slice(cut + 2, -1).split("\n");
  checkNote(lines.length <= LINES_MAX, "over 100 signature lines");
  checkNote(new Set(lines).size === lines.length, "a signature line occurs twice");
  return { text, ...readText(text), signatures: lines.map(readLine) };
}

function readText(text) {
  const lines = text.slice(0, -1).split("\n");
  checkNote(lines.length === 3, "a text of other than three lines");
  const [origin, size, spelledRoot] = lines;
  checkNote(origin !== "" && utf8(origin).length <= NAME_BYTES_MAX, "an origin that is empty or too long");
  checkNote(SIZE.test(size) && BigInt(size) <= SIZE_MAX, "a size that is not written as a size is");
  const root = fromBase64(spelledRoot);
  checkNote(root !== null && root.length === 32, "a root that is not 32 bytes in base64");
  checkNote(size !== "0" || equal(root, sha256(new Uint8Array(0))), "a log without events has another root");
  return { origin, size: BigInt(size), root };
}

function readLine(line) {
  const [dash, name, spelled, ...more] = line.split(" ");
  checkNote(dash === "\u2014" && spelled !== undefined && more.length === 0, "a signature line of another form");
  checkNote(isKeyName(name), "a name that no key has");
  const bytes = fromBase64(spelled);
  checkNote(bytes !== null && bytes.length > KEY_ID_BYTES, "a signature that is not base64 or too short");
  return { name, keyId: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) };
}

/** Return the log head that the note of a memroot store gives, as a basis. */
export function noteBasis(raw) {
  const { origin, size, root } = readNote(raw);
  const match = ORIGIN.exec(origin);
  check(match !== null, "origin", "not the note of a memroot store");
  return { kind: "log", store: fromHex(match[1].replaceAll("-", "")), size, root };
}
