// Headers and payloads of events (SPEC.md, section 5).

import { compare, equal, utf8 } from "./bytes.mjs";
import { readBodyItem, readItem } from "./cbor.mjs";
import {
  ORDINAL_MAX,
  SEQ_MAX,
  bytes,
  bytesUpTo,
  code,
  integer,
  label,
  list,
  number,
  optional,
  predicateCode,
  record,
  text,
} from "./fields.mjs";
import { readFurther } from "./further.mjs";
import { FORMAT, H } from "./hashes.mjs";
import { check } from "./refusal.mjs";

const SALT_BYTES = 32;
const CREATED_MIN = -62_135_596_800_000_000n;
const CREATED_MAX = 253_402_300_799_999_999n;
export const ATOM_ADDED = 1;
export const EDGE_ADDED = 8;
export const CHECKPOINT = 10;
export const FOREIGN_HEAD = 14;

const COMMON = [
  ["format", integer()],
  ["seq", integer(SEQ_MAX)],
  ["time", integer()],
  ["kind", number(255n)],
  ["actor", label],
  ["commitment", bytes(32)],
  ["prev", optional(integer(SEQ_MAX))],
];

const ATOM = [
  ["id", bytes(16)],
  ["ordinal", number(ORDINAL_MAX)],
];
const REVISION = [...ATOM, ["replaced", number(ORDINAL_MAX)]];
const EDGE = [
  ["src", bytes(16)],
  ["type", code],
  ["dst", bytes(16)],
];
const tags = list(text(256), 256);
const ATOM_BODY = [
  ["content", text(1_048_576)],
  ["title", optional(text(512))],
  ["kind", label],
  ["tags", tags],
  ["buckets", list(label, 16)],
  ["source", optional(text(512))],
  ["sequence", optional(integer())],
  ["provenance", label],
  ["trust", optional(integer(100n))],
  ["created", optional(integer(CREATED_MAX, CREATED_MIN))],
  ["occurrence", optional(integer())],
  ["key", optional(text(512))],
];
const GENESIS = [
  ["store_id", bytes(16)],
  ["analyzer", label],
  ["fingerprint", bytes(32)],
  ["label_commitment", bytes(32)],
  ["rules", integer(255n, 1n)],
];
const FOREIGN_DETAIL = [
  ["store_id", bytes(16)],
  ["size", integer(SEQ_MAX + 1n, 1n)],
  ["log_root", bytes(32)],
  ["root", optional(bytes(32))],
];
/** The event of another store that an event takes in or restates: the last item of its header. */
const origin = record([
  ["store_id", bytes(16)],
  ["seq", integer(SEQ_MAX)],
  ["kind", number(255n)],
  ["commitment", bytes(32)],
  ["time", integer()],
]);
/** The kinds of events that never have an origin, and those that always have one. */
const NEVER_REPEATED = [0, CHECKPOINT];
const ALWAYS_REPEATED = [15, 16, 17];
const FACT = [[["id", optional(bytes(16))]], [["data", bytesUpTo(1_048_576)]]];
/** The kinds without a subject; a fact has none if it has no atom. */
const NO_SUBJECT = [0, 7, CHECKPOINT, FOREIGN_HEAD];
const REASON = [["reason", text(1024)]];
const TAGS = [["tags", tags]];
const EDGE_NOTED = [
  ["weight", optional(bytes(4))],
  ["data", optional(bytesUpTo(4096))],
  ["reason", optional(text(1024))],
];

export const NAMESPACES = ["atoms", "edges", "index", "tags"];
const namedRootList = list(record([["name", text(32, 1)], ["root", bytes(32)]]), 64);

/** The roots of namespaces: pairs of a name and a root, ascending by name, with the four names among them. */
export function namedRoots(item, reason) {
  const pairs = namedRootList(item, reason);
  const names = pairs.map(({ name }) => name);
  const ascending = names.every((name, at) => at === 0 || compare(utf8(names[at - 1]), utf8(name)) < 0);
  check(ascending && NAMESPACES.every((name) => names.includes(name)), reason, "not the roots of the namespaces");
  return pairs.map(({ name, root }) => [name, root]);
}

/** Of each kind of event the detail fields of its header and the fields of its body. */
const KINDS = new Map([
  [0, [GENESIS, ["id_key", "label_key", "row_key"].map((name) => [name, bytes(32)])]], // genesis
  [ATOM_ADDED, [ATOM, ATOM_BODY]],
  [2, [REVISION, ATOM_BODY]], // atom_revised
  [3, [ATOM, REASON]], // atom_tombstoned
  [4, [ATOM, REASON]], // atom_revived
  [5, [ATOM, TAGS]], // tags_added
  [6, [ATOM, TAGS]], // tags_removed
  [7, [[["code", predicateCode]], [["name", label]]]], // edge_type_registered
  [EDGE_ADDED, [EDGE, [["weight", bytes(4)], ["data", bytesUpTo(4096)]]]],
  [9, [EDGE, REASON]], // edge_removed
  [CHECKPOINT, [[["root", bytes(32)]], [["roots", namedRoots]]]],
  [11, [ATOM, [...REASON, ["contents", list(bytes(32), 65_536)]]]], // erased
  [13, [EDGE, REASON]], // edge_erased
  [FOREIGN_HEAD, [FOREIGN_DETAIL, [["note", optional(text(65_536))]]]], // foreign_head
  [15, [ATOM, ATOM_BODY]], // version_noted
  [16, [ATOM, [["reason", optional(text(1024))], ...TAGS]]], // atom_noted
  [17, [EDGE, EDGE_NOTED]], // edge_noted
  ...Array.from({ length: 32 }, (_, at) => [32 + at, FACT]), // facts
]);

/** Return the fields of a canonical header; those of its kind are in `detail`. */
export function readHeader(raw) {
  const reason = "header";
  const items = readItem(raw);
  check(Array.isArray(items) && items.length >= COMMON.length, reason, "not an array of the common fields");
  const { format, ...header } = record(COMMON)(items.slice(0, COMMON.length), reason);
  check(format === BigInt(FORMAT), reason, "of another format");
  check(KINDS.has(header.kind), reason, "of a kind of event that is not known");
  const [detail] = KINDS.get(header.kind);
  const repeats = items.length === COMMON.length + detail.length + 1 && !NEVER_REPEATED.includes(header.kind);
  check(repeats || !ALWAYS_REPEATED.includes(header.kind), reason, "an event of this kind without an origin");
  const from = repeats ? origin(items.pop(), reason) : null;
  const own = record(detail)(items.slice(COMMON.length), reason);
  const noSubject = NO_SUBJECT.includes(header.kind) || own.id === null;
  check(!noSubject || header.prev === null, reason, "an event without a subject that has a previous event");
  return { ...header, detail: own, origin: from };
}

/** Return the body in a payload that `commitment` binds; canonical for an event of this kind. */
export function readPayload(payload, commitment, kind) {
  const reason = "payload";
  check(equal(H("commitment", payload), commitment), reason, "not what the commitment binds");
  const items = readBodyItem(payload.subarray(SALT_BYTES));
  check(Array.isArray(items), reason, "not an array");
  const [, fields] = KINDS.get(kind);
  const further = items.at(-1) instanceof Map ? items.pop() : undefined;
  const body = record(fields)(items, reason);
  return { ...body, ...readFurther(further, fields === ATOM_BODY, reason) };
}
