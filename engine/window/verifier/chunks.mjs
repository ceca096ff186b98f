// Chunks of sets of ordinals, and the keys of their rows (SPEC.md, section 10).

import { bigEndian, join } from "./bytes.mjs";
import { check } from "./refusal.mjs";

export const CHUNK_ORDINALS = 65_536;
const BITS_BYTES = 8192;
const LISTED_MAX = 4095;
const GROUP_LIVE = 1;
const GROUP_TAG = 2;

/** Return the members of a chunk, ascending. */
export function readChunk(bytes) {
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

const setRow = (group, name, chunk) => join(Uint8Array.of(group), name, Uint8Array.of(0), bigEndian(chunk, 2));

export const tagRow = (identity, chunk) => setRow(GROUP_TAG, identity, chunk);
export const liveRow = (chunk) => setRow(GROUP_LIVE, new Uint8Array(0), chunk);
