// What changed between two texts, word by word.

import { element, visible } from "./dom.mjs";

const WORDS_MAX = 2_000;

const ELEMENTS = { same: "span", gone: "del", new: "ins" };

/** Return an element with two texts in one: what is gone is struck out, and what is new is underlined. */
export const differenceNode = (before, after, isFolded = true) =>
  element(
    "p",
    isFolded ? { class: "change folded", dir: "auto", tabindex: "0", role: "group", "aria-label": "Difference" } : { class: "change", dir: "auto" },
    ...differences(before ?? "", after ?? "").map(({ kind, text }) => element(ELEMENTS[kind], {}, ...visible(text))),
  );

const parts = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

/** Return runs {kind, text} of two texts: "same", "gone" or "new". Texts too long to compare are gone and new as a whole. */
function differences(before, after) {
  const [old, now] = [parts(before), parts(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const shorter = Math.min(old.length, now.length) - start;
  while (end < shorter && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const middle = between(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return joined([...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))]);
}

const same = (words) => words.map((text) => ({ kind: "same", text }));

function between(old, now) {
  const changed = [
    ...old.map((text) => ({ kind: "gone", text })),
    ...now.map((text) => ({ kind: "new", text })),
  ];
  if (old.length === 0 || now.length === 0 || old.length * now.length > WORDS_MAX ** 2) return changed;
  // lengths[i][j]: the length of the longest sequence that old from i and now from j have in common.
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i][j] = old[i] === now[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const runs = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      runs.push({ kind: "same", text: old[i++] });
      j++;
    } else if (j >= now.length || (i < old.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      runs.push({ kind: "gone", text: old[i++] });
    } else {
      runs.push({ kind: "new", text: now[j++] });
    }
  }
  return runs;
}

function joined(runs) {
  const found = [];
  for (const { kind, text } of runs) {
    if (found.at(-1)?.kind === kind) found.at(-1).text += text;
    else found.push({ kind, text });
  }
  return found;
}
