// Types and bounds of the fields of an array. A reader takes an item and the reason to refuse it for, and returns the
// value of the field.

import { isBytes, utf8 } from "./bytes.mjs";
import { check } from "./refusal.mjs";

export const INTEGER_MAX = 2n ** 63n - 1n;
export const SEQ_MAX = 2n ** 53n - 1n;
export const ORDINAL_MAX = 2n ** 32n - 1n;

/** An unsigned integer, as a BigInt. */
export const integer =
  (most = INTEGER_MAX, least = 0n) =>
  (item, reason) => {
    check(typeof item === "bigint" && item >= least && item <= most, reason, `not an integer of ${least} to ${most}`);
    return item;
  };

/** An unsigned integer below 2^53, as a number. */
export const number = (most) => {
  const read = integer(most);
  return (item, reason) => Number(read(item, reason));
};

export const bytes = (width) => (item, reason) => {
  check(isBytes(item) && item.length === width, reason, `not ${width} bytes`);
  return item;
};

export const bytesUpTo = (most) => (item, reason) => {
  check(isBytes(item) && item.length <= most, reason, `not a byte string of at most ${most} bytes`);
  return item;
};

export const anyBytes = bytesUpTo(Infinity);

export const text =
  (most, least = 0) =>
  (item, reason) => {
    check(typeof item === "string", reason, "not text");
    const length = utf8(item).length;
    check(length >= least && length <= most, reason, `not a text of ${least} to ${most} bytes`);
    return item;
  };

/** A label as a reader of stored bytes takes it (section 3). */
export const label = text(32);

export const optional = (read) => (item, reason) => (item === null ? null : read(item, reason));

export const optionalBytes = optional(anyBytes);

export const list =
  (read, most = Infinity, least = 0) =>
  (item, reason) => {
    check(Array.isArray(item), reason, "not an array");
    check(item.length >= least && item.length <= most, reason, `not an array of ${least} to ${most} items`);
    return item.map((one) => read(one, reason));
  };

/** An array of exactly the named fields, as an object; `fields` are pairs of a name and a reader. */
export const record = (fields) => (item, reason) => {
  check(Array.isArray(item), reason, "not an array");
  check(item.length === fields.length, reason, `not an array of ${fields.length} fields`);
  return Object.fromEntries(fields.map(([name, read], at) => [name, read(item[at], reason)]));
};

/** The code of a registered predicate (section 3.4): 8 bytes of which the first is 80 or more. */
export function predicateCode(item, reason) {
  check(isBytes(item) && item.length === 8 && item[0] >= 0x80, reason, "not the code of a registered predicate");
  return item;
}

/** The code of an edge type (section 3.4): one byte of 01 to 7F, or the code of a registered predicate. */
export function code(item, reason) {
  if (isBytes(item) && item.length === 1 && item[0] >= 0x01 && item[0] <= 0x7f) return item;
  return predicateCode(item, reason);
}
