// Tags as people write them, and their identities (SPEC.md, section 10), which claims need.

/** The place of the tag among the words of each claim about one. */
const PLACES = { tag: 2, "no-tag": 2, tagged: 1, "none-tagged": 1 };

/** Return a character with its case folded, as Unicode 14 folds it. */
function folded(character) {
  if (character === "\u1e9e") return "ss";
  if (character === "\u0131") return character;
  // Cherokee is the one script whose small letters fold to capital letters.
  if (/[\u13a0-\u13fd\uab70-\uabbf]/u.test(character)) return character.toUpperCase();
  // Each character of the capital form alone: of a word, Σ at its end would become ς.
  return [...character.toUpperCase()].map((capital) => capital.toLowerCase()).join("");
}

/** Return the identity of a tag in any spelling: without a leading #, its case folded. */
export const tagIdentity = (tag) =>
  [...tag.normalize("NFC").replace(/^#+/, "")].map(folded).join("").normalize("NFC");

/** Return a claim in words with the identity of the tag that it is about, if it is about one. */
export function withIdentity(claim) {
  const words = claim.split(/\s+/u);
  const place = Object.hasOwn(PLACES, words[0]) ? PLACES[words[0]] : words.length;
  return words.map((word, at) => (at === place ? tagIdentity(word) : word)).join(" ");
}
