// The page that checks a proof: from what the person gives to an answer. It keeps nothing and sends nothing.

import { details, element, mark, quoted } from "./dom.mjs";
import { counted, factCard, hash, means, moment, uuid } from "./facts.mjs";
import { withIdentity } from "./tags.mjs";
import { fromUtf8, toHex } from "./verifier/bytes.mjs";
import { readEnvelope, Refused, startsEnvelope, trustCheckpoint, trustRoot, verify } from "./verifier/index.mjs";

const FILE_BYTES_MAX = 33_554_432;
const TEXT_BYTES_MAX = 65_536;
const PAUSE = 150;
const INPUT = "input";
const at = (id) => document.getElementById(id);

/** The proof: {name, bytes}, or {name, refused} for a file without a proof. */
let proof = null;
/** Whether what is trusted came together with the claims, in one file. */
let cameWithClaims = false;

// ---- Files ----

const startsProof = (bytes) => String.fromCharCode(...bytes.subarray(1, 15)) === "mmemroot-proof";
const isNote = (text) => /^[^\n]+\n[0-9]+\n[A-Za-z0-9+/]{43}=\n/.test(text);
const isKeys = (text) => /^([^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+\s*)+$/.test(text);

/** Put a file in its place; return what it was taken for. */
async function take(file) {
  if (file.size > FILE_BYTES_MAX) {
    proof = { name: file.name, refused: new Refused("size", "the file is larger than a proof may be") };
    return "too large for a proof";
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (startsEnvelope(bytes)) {
    takeEnvelope(file.name, bytes);
    return counted(bytes.length, "byte");
  }
  const text = bytes.length > TEXT_BYTES_MAX || startsProof(bytes) ? null : fromUtf8(bytes);
  if (text === null || /[\0-\x08]/.test(text)) {
    proof = { name: file.name, bytes };
    return counted(bytes.length, "byte");
  }
  if (isNote(text)) {
    choose("checkpoint");
    at("note").value = text;
    cameWithClaims = false;
    return "a checkpoint";
  }
  if (isKeys(text)) {
    at("keys").value = text.trim();
    return "a verifier key";
  }
  at("claims").value = text.trim();
  return "read as claims";
}

/** Put the parts of an envelope in their fields; what the person trusts already stays. */
function takeEnvelope(name, bytes) {
  try {
    const { basis, note, claims, proof: inner } = readEnvelope(bytes);
    proof = { name, bytes: inner };
    at("claims").value = claims.join("\n");
    if (!cameWithClaims && (value("root") !== "" || value("note") !== "")) {
      if (value("store") === "") at("store").value = uuid(basis.store);
      return;
    }
    cameWithClaims = true;
    choose(note === null ? "root" : "checkpoint");
    at("note").value = note ?? "";
    at("root").value = note === null ? toHex(basis.root) : "";
    at("store").value = note === null ? uuid(basis.store) : "";
    at("size").value = "";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    proof = { name, refused: error };
  }
}

async function takeAll(files) {
  setBusy(true);
  const items = [];
  for (const file of files) {
    const kind = await take(file);
    items.push(element("li", {}, element("strong", {}, quoted(file.name)), `, ${kind}`));
  }
  at("received").replaceChildren(...items);
  await answer();
}

// ---- What is given ----

function choose(kind) {
  for (const radio of document.getElementsByName("kind")) radio.checked = radio.value === kind;
  at("by-root").hidden = kind !== "root";
  at("by-checkpoint").hidden = kind !== "checkpoint";
}

const isByRoot = () => document.querySelector('[name="kind"]:checked').value === "root";
const value = (id) => at(id).value.trim();
const lines = (id) =>
  at(id)
    .value.split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Return what is still missing, in words. */
function missing() {
  const words = [];
  if (proof === null) words.push("a proof");
  if (proof?.refused !== undefined) return words;
  if (isByRoot() ? value("root") === "" || value("store") === "" : value("note") === "") {
    words.push(isByRoot() ? "the root and the id of the store that you trust" : "the checkpoint that you trust");
  }
  if (lines("claims").length === 0) words.push("a claim");
  return words;
}

function trusted() {
  if (isByRoot()) return trustRoot({ root: value("root"), store: value("store"), size: value("size") || null });
  const text = at("note").value.replaceAll("\r\n", "\n");
  return trustCheckpoint(text.endsWith("\n") ? text : `${text}\n`, lines("keys"));
}

// ---- The answer ----

const store = (basis) => ["store", hash(uuid(basis.store))];

function basisDetails(basis, size) {
  const events = (number) => (number === null ? null : number.toLocaleString("en"));
  if (basis.kind === "root") {
    return details([["overall root", hash(toHex(basis.root))], store(basis), ["events", events(size)]]);
  }
  return details([["log root", hash(toHex(basis.root))], store(basis), ["events in the log", events(basis.size)]]);
}

function signatureNotices({ kind, signatures }) {
  if (kind !== "log") return [];
  if (signatures.length === 0) return [notice("plain", "Signature not checked: the checkpoint has none.")];
  return signatures.map(({ name, time, unchecked }) => {
    if (unchecked !== null) return notice("warned", "Signature not checked: ", unchecked, " (", quoted(name), ").");
    return notice("verified", "Signed by ", quoted(name), time === null ? "." : `, ${moment(time * 1_000_000n)}.`);
  });
}

const notice = (tone, ...children) => element("p", { class: `notice ${tone}` }, ...children);

function showVerified(basis, { facts, size }) {
  const against = basis.kind === "root" ? "the overall root" : "the checkpoint";
  const claims = facts.length === 1 ? "The proof shows the claim" : `The proof shows all ${facts.length} claims`;
  const what = basis.kind === "root" ? "root" : "checkpoint";
  const unpinned = notice(
    "warned",
    `The ${what} came together with the claim. Compare it with the ${what} that you have from a source that you trust.`,
  );
  return [
    mark("verified", "Verified", "large"),
    element("p", {}, `${claims}, against ${against} ${cameWithClaims ? "that came with it" : "that you gave"}:`),
    basisDetails(basis, size),
    ...(cameWithClaims ? [unpinned] : []),
    ...signatureNotices(basis),
  ];
}

const showRefused = ({ reason, detail }, basis) => [
  mark("refused", "Refused", "large"),
  element("p", {}, means(reason)),
  element("p", { class: "small muted" }, "Reason: ", element("code", {}, reason), ", ", quoted(detail), "."),
  ...(basis === null ? [] : [basisDetails(basis, basis.size)]),
];

const showUnverified = (...children) => [mark("plain", "Not verified", "large"), element("p", {}, ...children)];

/** Return the nodes of the verdict, and the facts that are verified. */
async function judged() {
  const wanted = missing();
  if (wanted.length > 0) return [showUnverified("Still needed: ", wanted.join("; "), "."), []];
  let basis = null;
  try {
    if (proof.refused !== undefined) throw proof.refused;
    basis = await trusted();
    const verified = verify(proof.bytes, basis, lines("claims").map(withIdentity));
    return [showVerified(basis, verified), verified.facts];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.reason === INPUT) return [showUnverified("This is not a question: ", quoted(error.detail), "."), []];
    return [showRefused(error, basis), []];
  }
}

let asked = 0;

/** Say whether the answer on the screen is still to be replaced. */
const setBusy = (busy) => at("answer").setAttribute("aria-busy", String(busy));

async function answer() {
  const mine = ++asked;
  const [verdict, facts] = await judged();
  if (mine !== asked) return;
  at("verdict").replaceChildren(...verdict);
  at("facts").replaceChildren(...facts.map(factCard));
  setBusy(false);
}

// ---- What happens ----

let waiting = null;

function later() {
  setBusy(true);
  asked++;
  clearTimeout(waiting);
  waiting = setTimeout(answer, PAUSE);
}

at("files").addEventListener("change", (event) => takeAll([...event.target.files]));
at("given").addEventListener("submit", (event) => event.preventDefault());
at("given").addEventListener("input", (event) => {
  if (event.target.name === "kind") choose(event.target.value);
  if (["root", "store", "note"].includes(event.target.id)) cameWithClaims = false;
  later();
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dragged");
});
for (const name of ["dragleave", "drop"]) {
  document.addEventListener(name, () => document.body.classList.remove("dragged"));
}
document.addEventListener("drop", (event) => {
  event.preventDefault();
  takeAll([...event.dataTransfer.files]);
});
answer();
