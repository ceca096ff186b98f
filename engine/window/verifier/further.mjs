// The further fields of a body: one map from number to value behind the other fields (SPEC.md, section 5).

import { integer, list, text } from "./fields.mjs";
import { check } from "./refusal.mjs";
import { writeHead } from "./cbor.mjs";

const META_ENTRIES_MAX = 32;
const META_BYTES_MAX = 4096;
const META_INTEGER_MAX = 2n ** 53n - 1n;
const MAP = 5;

const metaKey = text(64, 1);
const metaText = text(1024);
const metaInteger = integer(META_INTEGER_MAX, -META_INTEGER_MAX);

function metaValue(item, reason) {
  if (typeof item === "boolean") return item;
  if (typeof item === "string") return metaText(item, reason);
  if (typeof item === "number") {
    check(Number.isFinite(item) && !Number.isInteger(item), reason, "a float in meta is an integer or not finite");
    return item;
  }
  return metaInteger(item, reason);
}

function meta(item, reason) {
  check(item instanceof Map, reason, "meta is not a map");
  check(item.size >= 1 && item.size <= META_ENTRIES_MAX, reason, "meta does not have 1 to 32 entries");
  const length = writeHead(MAP, item.size).length + item.contentBytes;
  check(length <= META_BYTES_MAX, reason, "meta has more than 4,096 bytes");
  return new Map([...item].map(([key, value]) => [metaKey(key, reason), metaValue(value, reason)]));
}

const OF_EVERY_BODY = new Map([
  [0n, ["request", text(128, 1)]],
  [1n, ["pipeline", text(256, 1)]],
]);
const OF_AN_ATOM = new Map([
  ...OF_EVERY_BODY,
  [2n, ["meta", meta]],
  [3n, ["aliases", list(text(512, 1), 32, 1)]],
  [4n, ["folder", text(512, 1)]],
]);

/** Return every further field by name, null where it is absent; `map` is undefined where the body has none. */
export function readFurther(map, ofAtom, reason) {
  const fields = ofAtom ? OF_AN_ATOM : OF_EVERY_BODY;
  const found = Object.fromEntries([...fields.values()].map(([name]) => [name, null]));
  if (map === undefined) return found;
  check(map.size > 0, reason, "the map of further fields is empty");
  for (const [key, value] of map) {
    check(fields.has(key), reason, "a further field has no such number");
    const [name, read] = fields.get(key);
    found[name] = read(value, reason);
  }
  return found;
}
