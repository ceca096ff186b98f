// Values of the leaves of `atoms` and `edges` (SPEC.md, section 9).

import { readItem } from "./cbor.mjs";
import { ORDINAL_MAX, SEQ_MAX, bytes, integer, number, record } from "./fields.mjs";
import { check } from "./refusal.mjs";

export const LIVE = 0;
export const ERASED = 2;

const VALUE = record([
  ["state", number(2n)],
  ["ordinal", number(ORDINAL_MAX)],
  ["version", integer()],
  ["created_seq", integer(SEQ_MAX)],
  ["payload_seq", integer(SEQ_MAX)],
  ["last_seq", integer(SEQ_MAX)],
  ["commitment", bytes(32)],
]);

export function readValue(raw, ofEdge) {
  const value = VALUE(readItem(raw), "value");
  check(!ofEdge || value.ordinal === 0, "value", "an edge has no ordinal");
  return value;
}
