// Byte strings: hex, joining, comparing, big-endian numbers, UTF-8.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const isBytes = (value) => value instanceof Uint8Array;

const HEX = [...Array(256).keys()].map((byte) => byte.toString(16).padStart(2, "0"));

export function toHex(bytes) {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Return the bytes that `text` spells in hex, or null if it does not spell any. */
export function fromHex(text) {
  if (typeof text !== "string" || text.length % 2 || /[^0-9a-fA-F]/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/** Return the bytes that canonical base64 with padding spells, or null. */
export function fromBase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4) return null;
  const spelled = atob(text);
  return btoa(spelled) === text ? Uint8Array.from(spelled, (character) => character.charCodeAt(0)) : null;
}

export function join(...parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Return a number below, equal to or above 0: the order of `a` and `b` as byte strings. */
export function compare(a, b) {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at] - b[at];
  return a.length - b.length;
}

export const equal = (a, b) => a.length === b.length && compare(a, b) === 0;

export const isZero = (bytes) => bytes.every((byte) => byte === 0);

/** Return `number` in `width` bytes, big-endian. */
export function bigEndian(number, width) {
  const bytes = new Uint8Array(width);
  let rest = BigInt(number);
  for (let at = width - 1; at >= 0; at--) {
    bytes[at] = Number(rest & 255n);
    rest >>= 8n;
  }
  return bytes;
}

/** Return the number that the bytes are in big-endian, as a BigInt. */
export function fromBigEndian(bytes) {
  let number = 0n;
  for (const byte of bytes) number = (number << 8n) | BigInt(byte);
  return number;
}

export const utf8 = (text) => encoder.encode(text);

/** Return the text that the bytes are in UTF-8, or null if they are not UTF-8. */
export function fromUtf8(bytes) {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
