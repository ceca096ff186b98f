// Rows of index segments: the row of a term, or its two neighbours (SPEC.md, sections 12 and 20).

import { bigEndian, compare, equal, fromBigEndian, isBytes } from "./bytes.mjs";
import { unsalted } from "./chunks.mjs";
import { anyBytes, bytes, integer, record } from "./fields.mjs";
import { H, HASH_BYTES } from "./hashes.mjs";
import { check } from "./refusal.mjs";

const ROW_HEAD_BYTES = 5;
const BYTES_A_DOCUMENT = 3;
const NAME_BYTES_MAX = 16;

const ENTRY = record([
  ["index", integer()],
  ["shown", (item) => item],
  ["hashes", anyBytes],
]);

const rowLeaf = (name, inner) => H("row", bigEndian(name.length, 2), name, inner);

/** Return [offset, tf] of each document that a row value names, by ascending offset. */
function readRow(value, segment) {
  check(value.length >= ROW_HEAD_BYTES, "row", "the row is too short");
  const count = Number(fromBigEndian(value.subarray(0, 4)));
  const greatest = value[4];
  check(count >= 1 && BigInt(count) <= segment.documents, "row", "no row of the segment has so many documents");
  check(value.length === ROW_HEAD_BYTES + BYTES_A_DOCUMENT * count, "row", "the row has another length");
  const found = [];
  for (let at = 0; at < count; at++) {
    const place = ROW_HEAD_BYTES + 2 * at;
    const offset = value[place] | (value[place + 1] << 8);
    const frequency = value[ROW_HEAD_BYTES + 2 * count + at];
    check(at === 0 || offset > found[at - 1][0], "row", "the offsets do not ascend");
    check(offset < segment.ordinals, "row", "an offset is beyond the segment");
    check(frequency > 0, "row", "a document has the term 0 times");
    found.push([offset, frequency]);
  }
  const most = found.reduce((most, [, frequency]) => Math.max(most, frequency), 0);
  check(most === greatest, "row", "the greatest frequency is another one");
  return found;
}

/** Return the neighbours of the place where the term would stand: one row, or two. */
function readNeighbours(items, term, index, segment) {
  check(Array.isArray(items) && (items.length === 2 || items.length === 4), "form", "not one or two rows");
  const rows = [];
  for (let at = 0; at < items.length; at += 2) {
    const name = anyBytes(items[at], "form");
    const inner = bytes(32)(items[at + 1], "form");
    check(name.length >= 1 && name.length <= NAME_BYTES_MAX, "neighbours", "no row has such a name");
    rows.push({ name, inner });
  }
  const [before, behind] = rows;
  check(compare(before.name, term) < 0, "neighbours", "the first row does not stand before the term");
  if (behind === undefined) {
    check(index === segment.rows - 1n, "neighbours", "the row is not the last one");
  } else {
    check(compare(term, behind.name) < 0, "neighbours", "the second row does not stand behind the term");
  }
  return rows;
}

/** Return the root over `count` rows, of which the leaves in `shown` begin at `index`: part(0, rows). */
function rowsRoot(count, index, shown, hashes) {
  const end = index + BigInt(shown.length);
  let used = 0;
  const part = (from, to) => {
    if (to <= index || from >= end) {
      used += HASH_BYTES;
      check(used <= hashes.length, "row", "there are too few hashes");
      return hashes.subarray(used - HASH_BYTES, used);
    }
    if (to - from === 1n) return shown[Number(from - index)];
    let left = 1n;
    while (left * 2n < to - from) left *= 2n;
    return H("rows-node", part(from, from + left), part(from + left, to));
  };
  const root = part(0n, count);
  check(used === hashes.length, "row", "some hashes are left over");
  return root;
}

/** Return [offset, tf] of each document of the segment that has the term; none if the row is absent. */
function readEntry(item, term, segment) {
  const { index, shown, hashes } = ENTRY(item, "form");
  let found = [];
  let leaves;
  if (isBytes(shown)) {
    found = readRow(unsalted(shown), segment);
    leaves = [rowLeaf(term, H("row-inner", shown))];
  } else {
    const rows = readNeighbours(shown, term, index, segment);
    leaves = rows.map(({ name, inner }) => rowLeaf(name, inner));
  }
  check(index + BigInt(leaves.length) <= segment.rows, "row", "the segment has no such row");
  check(equal(rowsRoot(segment.rows, index, leaves, hashes), segment.root), "row", "not a row of the segment");
  return found;
}

/**
 * Return a Map from ordinal to tf, ascending, of all documents from `first` to `last` that have the term, dead or not,
 * and the starts of the segments with a row of the term, whether or not one of these documents is in it.
 */
export function readRows(item, name, { first, last }, { segments }) {
  const wanted = segments.filter(({ start, ordinals }) => start <= last && first < start + ordinals);
  check(Array.isArray(item), "form", "the rows are not an array");
  check(item.length === wanted.length, "form", "not one entry of rows for each segment");
  const found = new Map();
  const starts = [];
  wanted.forEach((segment, at) => {
    const documents = readEntry(item[at], name, segment);
    if (documents.length > 0) starts.push(segment.start);
    for (const [offset, frequency] of documents) {
      const ordinal = segment.start + offset;
      if (first <= ordinal && ordinal <= last) found.set(ordinal, frequency);
    }
  });
  return { frequencies: found, starts };
}
