// Chunks of sets of ordinals, and the keys of their rows (SPEC.md, section 10).

import { keyedHash } from "./blake3.mjs";
import { bigEndian, join } from "./bytes.mjs";
import { check } from "./refusal.mjs";

export const CHUNK_ORDINALS = 65_536;
const BITS_BYTES = 8192;
const LISTED_MAX = 4095;
const SALT_BYTES = 16;
const TERMS = 0;
const TAGS_OF = 8;
export const GROUP_LIVE = 1;
export const GROUP_TAG = 2;

/** Return the members of a chunk that follows its salt, ascending; null stands for a chunk without members. */
export function membersOf(committed) {
  if (committed === null) return [];
  check(committed.length > SALT_BYTES, "chunk", "no chunk follows the salt");
  const bytes = unsalted(committed);
  return bytes.length === BITS_BYTES ? membersOfBits(bytes) : membersOfList(bytes);
}

function membersOfBits(bytes) {
  const members = [];
  for (let member = 0; member < CHUNK_ORDINALS; member++) {
    if ((bytes[member >> 3] >> (member & 7)) & 1) members.push(member);
  }
  check(members.length > LISTED_MAX, "chunk", "bits stand for fewer than 4,096 members");
  return members;
}

function membersOfList(bytes) {
  const whole = bytes.length % 2 === 0 && bytes.length >= 2 && bytes.length <= 2 * LISTED_MAX;
  check(whole, "chunk", "not of a length that a chunk has");
  const members = [];
  for (let at = 0; at < bytes.length; at += 2) {
    const member = bytes[at] | (bytes[at + 1] << 8);
    check(at === 0 || member > members.at(-1), "chunk", "members do not ascend");
    members.push(member);
  }
  return members;
}

/** Return the bytes that follow the salt. */
export const unsalted = (committed) => committed.subarray(SALT_BYTES);

const LABEL_BYTES = 16;
function labelOf(labelKey, group, value) {
  const label = keyedHash(labelKey, join(Uint8Array.of(group), value)).subarray(0, LABEL_BYTES);
  label[0] |= 0x80;
  return label;
}

/** Return the name of the index row of a term. */
export const termLabel = (labelKey, term) => labelOf(labelKey, TERMS, term);

/** Return the key of a chunk of the set that a group and a value name. */
export const setRow = (labelKey, group, value, chunk) =>
  join(Uint8Array.of(group), labelOf(labelKey, group, value), bigEndian(chunk, 2));

/** Return the key of the tags of an ordinal. */
export const tagsRow = (ordinal) => join(Uint8Array.of(TAGS_OF), bigEndian(ordinal, 4));
