// Canonical CBOR (SPEC.md, section 3): one item that takes all the bytes, every number and length in its shortest form.
//
// An unsigned or negative integer is read as a BigInt, a byte string as a Uint8Array, text as a string, an array as
// an array. The bodies of events may also hold maps (read as a Map), false, true and floats (read as a number).

import { compare, fromBigEndian, fromUtf8 } from "./bytes.mjs";
import { check } from "./refusal.mjs";

const ITEMS_MAX = 2 ** 20;
const DEPTH_MAX = 16;
/** The two infinities and NaN in their shortest form; no body has them. */
const NON_FINITE = [0x7c00n, 0xfc00n, 0x7e00n];
const NULL = 0xf6;
const FALSE = 0xf4;
const TRUE = 0xf5;
const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const IN_PROOFS = [UNSIGNED, BYTES, TEXT, ARRAY];
const IN_BODIES = [UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP];

const checkEncoding = (condition, detail) => check(condition, "encoding", detail);

class Reader {
  constructor(bytes, inBody) {
    this.bytes = bytes;
    this.at = 0;
    this.items = 0;
    this.inBody = inBody;
  }

  take(length) {
    checkEncoding(length <= this.bytes.length - this.at, "an item is cut off");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  item(depth) {
    this.items++;
    check(this.items <= ITEMS_MAX, "size", "there are more than 2^20 items");
    const [first] = this.take(1);
    if (first === NULL) return null;
    if (this.inBody && first === FALSE) return false;
    if (this.inBody && first === TRUE) return true;
    if (this.inBody && first >= 0xf9 && first <= 0xfb) return this.float(1 << (first - 0xf8));
    const major = first >> 5;
    checkEncoding((this.inBody ? IN_BODIES : IN_PROOFS).includes(major), "an item is of a type that is not allowed");
    const argument = this.argument(first & 31);
    switch (major) {
      case UNSIGNED:
        return argument;
      case NEGATIVE:
        return -1n - argument;
      case BYTES:
        return this.take(Number(argument));
      case TEXT:
        return this.text(Number(argument));
      case ARRAY:
        return this.array(argument, depth + 1);
      default:
        return this.map(argument, depth + 1);
    }
  }

  /** Read the number behind the first byte of an item. */
  argument(info) {
    if (info < 24) return BigInt(info);
    checkEncoding(info <= 27, "an item has no definite length");
    const width = 1 << (info - 24);
    const number = fromBigEndian(this.take(width));
    const least = width === 1 ? 24n : 1n << BigInt(4 * width);
    checkEncoding(number >= least, "a number or length is not in its shortest form");
    return number;
  }

  text(length) {
    const text = fromUtf8(this.take(length));
    checkEncoding(text !== null, "a text is not UTF-8");
    return text;
  }

  array(length, depth) {
    check(length === 0n || depth <= DEPTH_MAX, "encoding", "an array with items lies inside 16 others");
    const items = [];
    for (let left = length; left > 0n; left--) items.push(this.item(depth));
    return items;
  }

  map(length, depth) {
    check(length === 0n || depth <= DEPTH_MAX, "encoding", "a map with entries lies inside 16 others");
    const start = this.at;
    const entries = new Map();
    let before = null;
    for (let left = length; left > 0n; left--) {
      const from = this.at;
      const key = this.item(depth);
      const written = this.bytes.subarray(from, this.at);
      const order = before === null ? -1 : before.length - written.length || compare(before, written);
      checkEncoding(order < 0, "the keys of a map do not ascend");
      before = written;
      entries.set(key, this.item(depth));
    }
    entries.contentBytes = this.at - start;
    return entries;
  }

  float(width) {
    const bytes = this.take(width);
    const number = floatOf(bytes);
    const shortest = Number.isFinite(number)
      ? width === 2 || !fitsIn(width / 2, number)
      : NON_FINITE.includes(fromBigEndian(bytes));
    checkEncoding(shortest, "a float is not in its shortest form");
    return number;
  }
}

function floatOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length === 8) return view.getFloat64(0);
  return bytes.length === 4 ? view.getFloat32(0) : halfOf(view.getUint16(0));
}

/** Return the number that 16 bits are in IEEE 754 binary16. */
function halfOf(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 25) * (1024 + fraction) : sign * 2 ** -24 * fraction;
}

/** Tell whether a float of `width` bytes, 2 or 4, holds `number`. */
function fitsIn(width, number) {
  if (width === 4) return Math.fround(number) === number;
  const size = Math.abs(number);
  if (size > 65504) return false;
  // Beside 0, the steps of binary16 are 2^-24 below 2^-14, and 2^-10 of the power of two above it.
  let step = 2 ** -24;
  for (let power = 2 ** -13; power <= size; power *= 2) step *= 2;
  return Number.isInteger(size / step);
}

/** Read the one canonical item that a proof, header or value is. */
export const readItem = (bytes) => readAll(new Reader(bytes, false));

/** Read the one canonical item that the body of an event is. */
export const readBodyItem = (bytes) => readAll(new Reader(bytes, true));

function readAll(reader) {
  const item = reader.item(0);
  checkEncoding(reader.at === reader.bytes.length, "there are bytes behind the item");
  return item;
}

/** Return the canonical bytes of an unsigned integer; `major` gives the head of a longer item. */
export function writeNumber(number, major = UNSIGNED) {
  const value = BigInt(number);
  if (value < 24n) return Uint8Array.of((major << 5) | Number(value));
  const info = [24, 25, 26, 27].find((one) => value < 1n << BigInt(8 << (one - 24)));
  const bytes = new Uint8Array(1 + (1 << (info - 24)));
  bytes[0] = (major << 5) | info;
  for (let at = bytes.length - 1, rest = value; at > 0; at--, rest >>= 8n) bytes[at] = Number(rest & 255n);
  return bytes;
}

/** Return the head of a byte string or array of this length. */
export const writeHead = (major, length) => writeNumber(length, major);
export const HEAD = { BYTES, ARRAY };
