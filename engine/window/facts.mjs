// What a proof shows, in words and elements.

import { details, element, quoted, visible } from "./dom.mjs";
import { fromUtf8, toHex } from "./verifier/bytes.mjs";

const SAYS = {
  LiveAtom: "This atom is recorded, and it is live.",
  TombstonedAtom: "This atom is recorded, and it is tombstoned.",
  ErasedAtom: "This atom was recorded, and its content is erased.",
  AbsentAtom: "No atom with this id was ever recorded.",
  LiveEdge: "This edge is recorded, and it is live.",
  TombstonedEdge: "This edge is recorded, and it is tombstoned.",
  ErasedEdge: "This edge was recorded, and it is erased.",
  AbsentEdge: "No such edge was ever recorded.",
  Tagged: "This atom is live, and it has the tag.",
  Untagged: "This atom is live, and it does not have the tag.",
  AllTagged: "These live atoms have the tag, and no others.",
  TagUnused: "No live atom has the tag.",
  AllMentioning: "These live atoms have the term in their title or content, and no others.",
  TermUnused: "No live atom has the term in its title or content.",
  AllEdges: "These edges were recorded in this direction, and no others.",
  AllTags: "The atom has these tags, and no others.",
  SeenHead: "The store recorded that it saw this root of another store.",
  LoggedEvent: "This event is in the journal.",
  RecordedRoot: "A checkpoint in the journal holds this root.",
  LogPrefix: "Since then, events were only added.",
};
/** What a reason of SPEC.md, section 20.9, means to somebody who has not read it. The others mean a broken proof. */
const MEANS = {
  root: "The proof belongs to a different root or store.",
  "log-size": "The root covers a different number of events.",
  header: "The proof is about a different event.",
  inclusion: "The event is not in the log that you trust.",
  consistency: "The log that you trust does not begin with the earlier one.",
  kind: "The proof is about different claims.",
  missing: "The proof lacks something that the claims need.",
  unneeded: "The proof is about different claims.",
  absent: "The atom, edge or tag is not what the proof says.",
  tree: "The proof is about a different atom, edge or tag, or it was changed.",
  index: "The index in the proof is not that of the root.",
  neighbours: "The term stands elsewhere in the index.",
  list: "The list is not complete, or has too much.",
  state: "The atom or edge is in a different state.",
  tagged: "The proof says the opposite about the tag.",
  payload: "The content in the proof is not the content that was recorded.",
  note: "The checkpoint is not in the form that a checkpoint has.",
  origin: "The checkpoint is about a different store.",
  signature: "The checkpoint is not signed by a key that you gave.",
  version: "The proof is of a different version, or it is no proof.",
  encoding: "The file is not a proof, or it is damaged.",
  size: "The proof is larger than a proof may be.",
  rollback: "The log has fewer events than were seen before.",
  fork: "The log is not the one that was seen before.",
};
const BROKEN = "The proof is damaged or forged.";

/** Return one sentence that says what a reason of a refusal means. */
export const means = (reason) => (Object.hasOwn(MEANS, reason) ? MEANS[reason] : BROKEN);

export const KINDS = [
  "genesis",
  "atom added",
  "atom revised",
  "atom tombstoned",
  "atom revived",
  "tags added",
  "tags removed",
  "edge type registered",
  "edge added",
  "edge removed",
  "checkpoint",
  "erased",
  "analyzer changed",
  "edge erased",
  "foreign head",
  "version noted",
  "atom noted",
  "edge noted",
];
const ABOUT_TERMS =
  "The claim is about this one term, usually the stem of a word. Of a word that is no term, it is true and says nothing: “engine terms” shows the terms of a word.";

/** Return one sentence that says what a fact is. */
export const says = ({ shows }) => SAYS[shows];

export const uuid = (id) => toHex(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** Return a time, in microseconds since 1970, in UTC. */
export function moment(microseconds) {
  const milliseconds = Number(microseconds / 1000n);
  if (Math.abs(milliseconds) > 8.64e15) return `${microseconds} µs since 1970`;
  return new Date(milliseconds).toISOString().replace("T", " ").replace(/\.000Z$|Z$/, " UTC");
}

/** Return a time, in microseconds since 1970, in UTC, to the second. */
export const second = (microseconds) => moment(microseconds).replace(/\.\d{3} UTC$/, " UTC");

/** Return a time of the service, in ISO 8601 and UTC, to the second. */
export const day = (time) => time.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");

const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Return the day of a time, in microseconds since 1970, in UTC, in words. */
export const dayOf = (microseconds) => (Math.abs(Number(microseconds)) > 8.64e18 ? moment(microseconds) : DAY.format(Number(microseconds / 1000n)));

/** Return the hour and minute of a time, in microseconds since 1970, in UTC. */
export const minuteOf = (microseconds) => second(microseconds).slice(11, 16);

export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number == 1 ? "" : "s"}`;

const chips = (words) =>
  words.length === 0 ? null : element("span", { class: "chips" }, ...words.map((word) => element("span", { class: "chip" }, quoted(word))));
const text = (value) => (value === null || value === undefined || value === "" ? null : quoted(value));
const whole = (value) => (value === null || value === undefined ? null : value.toLocaleString("en"));

/** Return a text of a memory in full, as it was written. */
export const content = (value) =>
  element("div", { class: "content", dir: "auto", tabindex: "0", role: "group", "aria-label": "Content" }, ...visible(value));

function bodyOfAtom(body) {
  return [
    body.title === null ? null : element("p", { class: "title", dir: "auto" }, ...visible(body.title)),
    content(body.content),
    details([
      ["written as", text(body.kind)],
      ["tags then", chips(body.tags)],
      ["buckets", chips(body.buckets)],
      ["source", text(body.source)],
      ["provenance", text(body.provenance)],
      ["trust", whole(body.trust)],
      ["of the time", body.created === null ? null : moment(body.created)],
      ["aliases", chips(body.aliases ?? [])],
      ["folder", text(body.folder)],
      ["meta", body.meta === null ? null : chips([...body.meta].map(([key, value]) => `${key}: ${value}`))],
      ["request", text(body.request)],
      ["pipeline", text(body.pipeline)],
    ]),
  ];
}

function bodyOf(body) {
  if (body === null || body === undefined) return [];
  if (body.content !== undefined) return bodyOfAtom(body);
  const data = (body.data ?? []).length === 0 ? null : fromUtf8(body.data) ?? toHex(body.data);
  return [
    details([
      ["reason", text(body.reason)],
      ["tags", body.tags === undefined ? null : chips(body.tags)],
      ["name", text(body.name)],
      ["weight", (body.weight ?? null) === null ? null : String(floatOf(body.weight))],
      ["data", text(data)],
      ["request", text(body.request)],
      ["pipeline", text(body.pipeline)],
    ]),
  ];
}

const floatOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0);

function record({ value }) {
  if (value === undefined) return null;
  const { version, created_seq: created, payload_seq: written, last_seq: changed } = value;
  const events = `created by event ${created}, content of event ${written}, last changed by event ${changed}`;
  return details([["record", `version ${version}, ${events}`]]);
}

function eventOf({ header }) {
  if (header === undefined) return null;
  const { root, id } = header.detail;
  const from = header.origin;
  return details([
    ["event", `${header.seq}: ${KINDS[header.kind] ?? `fact ${header.kind}`}`],
    ["at", moment(header.time)],
    ["by", text(header.actor)],
    ["atom", id === undefined ? null : hash(uuid(id))],
    ["root", (root ?? null) === null ? null : hash(toHex(root))],
    ["taken from", from === null ? null : `event ${from.seq} of store ${uuid(from.store_id)}, of ${moment(from.time)}`],
  ]);
}

export const hash = (words) => element("span", { class: "hash" }, words);

function listOf({ atoms, edges, tags }) {
  const rows = [
    ...(atoms ?? []).map(({ id, tf }) => [hash(uuid(id)), tf === null ? "" : `  ${tf}×`]),
    ...(edges ?? []).map(({ type, other, value }) => [hash(`${toHex(type)} ${uuid(other)}`), `  ${EDGE_STATES[value.state]}`]),
    ...(tags ?? []).map((tag) => [quoted(tag)]),
  ];
  if (rows.length === 0) return null;
  const items = rows.map((row) => element("li", {}, ...row));
  return element("ul", { class: "listed", tabindex: "0", "aria-label": counted(items.length, "item") }, ...items);
}

const EDGE_STATES = ["live", "tombstoned", "erased"];

/** Return the elements that show a fact, under a heading that says it. */
export function factCard(fact) {
  const counts = [
    ["listed", fact.atoms === undefined ? null : counted(fact.atoms.length, "atom")],
    ["among", fact.ordinals === undefined ? null : counted(fact.ordinals, "recorded atom")],
    ["events", fact.into === undefined ? null : `the first ${whole(fact.size)} of ${whole(fact.into)}`],
  ];
  const isAboutTerm = fact.shows === "TermUnused" || fact.shows === "AllMentioning";
  return element(
    "section",
    { class: "fact" },
    element("h3", {}, says(fact)),
    element("p", { class: "hash muted" }, ...visible(fact.claim)),
    ...bodyOf(fact.body),
    listOf(fact),
    eventOf(fact),
    record(fact),
    counts.some(([, value]) => value !== null) ? details(counts) : null,
    isAboutTerm ? element("p", { class: "small muted" }, ABOUT_TERMS) : null,
  );
}
