// The command that `engine prove` prints, such as `python -m proofs verify FILE --root HEX --store-id ID CLAIM`.

const OPTIONS = { "--root": "root", "--store-id": "store", "--store": "store", "--size": "size" };
const NAME = /\b(?:proofs\s+verify|verify-proof)\s/;
const OF_FILES = ["--checkpoint", "--claims"];

/** Return the words of a line as a shell reads it: quotes hold a word together, and are left out. */
function shellWords(line) {
  const words = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    words.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double));
  }
  return words;
}

/** Return {claims, root, store, size, checkpoint} of a pasted command, or null if the text has none. */
export function readCommand(text) {
  const line = text.split("\n").find((one) => NAME.test(one));
  if (line === undefined) return null;
  const words = shellWords(line.slice(line.search(NAME)).replace(NAME, ""));
  const found = { claims: "", root: null, store: null, size: null, checkpoint: false };
  const rest = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === "--checkpoint") found.checkpoint = true;
    if (Object.hasOwn(OPTIONS, word)) found[OPTIONS[word]] = words[++at] ?? "";
    else if (OF_FILES.includes(word)) at++;
    else if (word !== "--") rest.push(word);
  }
  // The first word is the file of the proof.
  return { ...found, claims: rest.slice(1).join(" ") };
}
