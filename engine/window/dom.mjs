// Elements made of text. No page has another way to put text on the screen, so nothing is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Characters that nobody sees, but that change what a text seems to say (engine/base/characters.py has the same). */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const EMOJI = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}";
const JOINING =
  "\u0600-\u061b\u061d-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af\u1b00-\u1bff\ua840-\ua87f\ua980-\ua9df\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\u{10a00}-\u{10aff}\u{11000}-\u{11fff}\u{1e900}-\u{1e95f}";
const WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff";
const HAN = "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}";
/** Where such a character is needed: in an emoji, a word of Persian or Hindi, between words of Thai, after Han. */
const NEEDED = new RegExp(
  `(?:[${EMOJI}][\ufe0e\ufe0f]?\u200d|[${EMOJI}0-9][\ufe0e\ufe0f]|[${JOINING}][\u200c\u200d]|[${WITHOUT_SPACES}]\u200b|[${HAN}][\ufe00-\ufe02\u{e0100}-\u{e010f}]|[\u1820-\u18aa][\u180b-\u180d\u180f])$`,
  "u",
);

/**
 * Return an element. `attributes` are set as attributes, `on…` as listeners; strings among the children become text.
 * A child that is null is left out.
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Return a text with `shown(character)` in place of each character that nobody would see. */
export const hidden = (text, shown) => text.replaceAll(HIDDEN, (character, at) => (isNeeded(text, at + character.length) ? character : shown(character)));

const isNeeded = (text, end) => NEEDED.test(text.slice(Math.max(0, end - 5), end));

/** Return the parts of a text as nodes, with a name in place of each character that nobody would see. */
export function visible(text) {
  const nodes = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    const end = index + character.length;
    if (isNeeded(text, end)) continue;
    if (index > from) nodes.push(text.slice(from, index));
    nodes.push(element("span", { class: "code-point" }, codePoint(character)));
    from = end;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Show nodes in a place; the link that has the focus keeps it. */
export function show(place, nodes) {
  const href = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  place.replaceChildren(...nodes);
  if (href !== null) [...place.querySelectorAll("a")].find((link) => link.getAttribute("href") === href)?.focus();
}

/** Return a text of a memory on one line, in its own direction. */
export const quoted = (text) => element("bdi", {}, ...visible(text));

const ICONS = {
  verified: ["M4.5 10.5l3.5 3.5 7.5-8"],
  warned: ["M10 6v5", "M10 14.2v.1", "M10 2.6l7.8 14H2.2z"],
  refused: ["M5.5 5.5l9 9", "M14.5 5.5l-9 9"],
  plain: ["M5 10h10"],
};

function icon(paths) {
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("viewBox", "0 0 20 20");
  drawn.setAttribute("aria-hidden", "true");
  for (const path of paths) {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", path);
    drawn.append(line);
  }
  return drawn;
}

/** Return the mark of a `tone`: verified, warned, refused or plain. */
export const mark = (tone, words, size = "") =>
  element("p", { class: `mark ${tone} ${size}`.trim() }, icon(ICONS[tone]), words);

/** Return the pairs of a name and a value as a list; pairs whose value is null are left out. */
export function details(pairs) {
  const shown = pairs.filter(([, value]) => value !== null);
  const items = shown.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return element("dl", { class: "details" }, ...items);
}
