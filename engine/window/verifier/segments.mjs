// The segments of an index, and the root of `index` that they make up (SPEC.md, sections 12 and 20).

import { bigEndian, join } from "./bytes.mjs";
import { HEAD, writeHead, writeNumber } from "./cbor.mjs";
import { bytes, integer, list, number, record } from "./fields.mjs";
import { keyDigest, valueDigest } from "./hashes.mjs";
import { check } from "./refusal.mjs";
import { treeRoot } from "./trees.mjs";

const ORDINALS_MAX = 2n ** 32n;
const SMALLEST = 256;
const LEVEL_MAX = 4;
const LENGTH_MAX = 65_535n;
const ROWS_MIN = 2n;
const TAIL = 0xff;
const COUNT_KEY = Uint8Array.of(0xfe);

const SUMMARY = [
  ["documents", integer()],
  ["sum", integer()],
  ["rows", integer()],
  ["root", bytes(32)],
];
/** The part `segments` of a proof: {count, summaries}. */
export const readSegments = record([
  ["count", number(ORDINALS_MAX)],
  ["summaries", list(record(SUMMARY))],
]);

/** Return the key, start and number of ordinals of each segment of an index of `count` ordinals, and of the tail. */
function segmentsOf(count) {
  const found = [];
  let start = 0;
  const add = (level, ordinals) => {
    found.push({ key: join(Uint8Array.of(level), bigEndian(start, 4)), start, ordinals });
    start += ordinals;
  };
  for (let level = LEVEL_MAX; level >= 0; level--) {
    const ordinals = SMALLEST * 4 ** level;
    while (count - start >= ordinals) add(level, ordinals);
  }
  if (start < count) add(TAIL, count - start);
  return found;
}

/** Return {count, segments} of an index, each segment with its place and the fields of its summary. */
export function checkSegments({ count, summaries }) {
  const places = segmentsOf(count);
  check(summaries.length === places.length, "segments", "not one summary for each segment");
  const segments = places.map((place, at) => ({ ...place, ...summaries[at] }));
  for (const { documents, ordinals, sum, rows } of segments) {
    check(documents <= BigInt(ordinals), "segments", "a segment has more documents than ordinals");
    check(sum <= documents * LENGTH_MAX, "segments", "the documents are longer than documents can be");
    check(rows >= ROWS_MIN, "segments", "a segment has fewer than two rows");
  }
  return { count, segments };
}

const summaryValue = ({ documents, sum, rows, root }) =>
  join(
    writeHead(HEAD.ARRAY, SUMMARY.length),
    writeNumber(documents),
    writeNumber(sum),
    writeNumber(rows),
    writeHead(HEAD.BYTES, root.length),
    root,
  );

export function indexRoot({ count, segments }) {
  const leaves = segments.map((segment) => [segment.key, summaryValue(segment)]);
  if (count > 0) leaves.push([COUNT_KEY, join(writeHead(HEAD.ARRAY, 1), writeNumber(count))]);
  return treeRoot(leaves.map(([key, value]) => [keyDigest("index", key), valueDigest("index", value)]));
}
