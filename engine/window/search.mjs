// Search: hits by page, with the check of each, or the context as an agent would be given it.

import { element, mark, quoted, visible } from "./dom.mjs";
import { counted } from "./facts.mjs";
import { unprovable } from "./marks.mjs";
import { checkedHits, nothingFound } from "./search_checks.mjs";

const LIMIT = 20;
const TAGS_MAX = 8;
const WORD = /[\p{L}\p{N}]+/gu;

/** Return the nodes of an answer, and start the checks of what they show. */
export async function searched({ memory, trust, route, signal, ended }) {
  const filters = route.narrowing();
  if (route.form === "context") {
    return contextNodes(await memory.call("context", { query: route.query, ...filters }, signal));
  }
  const recall = await memory.call("recall", { query: route.query, limit: LIMIT, explain: true, ...filters }, signal);
  if (recall.hits.length === 0) return nothingNodes(recall, trust, ended);
  return hitNodes(recall, trust, route, ended);
}

function hitNodes(recall, trust, route, ended) {
  const places = new Map(recall.hits.map(({ id }) => [id, element("span", { class: "place" })]));
  const most = Math.max(...recall.hits.map(({ score }) => score));
  const groups = new Map();
  for (const hit of recall.hits) {
    const page = hit.page ?? hit.source ?? "";
    groups.set(page, [...(groups.get(page) ?? []), hit]);
  }
  checkedHits(recall.hits, places, trust, ended);
  return [
    element(
      "div",
      { class: "summary" },
      element("span", {}, counted(recall.hits.length, "hit")),
      element("span", {}, `about ${recall.tokens.toLocaleString("en")} tokens for an agent`),
      unprovable("Order and scores"),
    ),
    ...[...groups].map(([page, hits]) => group(page, hits, { places, most, route, terms: recall.terms })),
  ];
}

const group = (page, hits, given) =>
  element(
    "section",
    { class: "card group" },
    element("h2", {}, page === "" ? "No page" : quoted(page)),
    ...hits.map((hit) => hitNode(hit, given)),
  );

function hitNode(hit, { places, most, route, terms }) {
  const current = hit.id === route.atom;
  const title = element(
    "a",
    { class: "hit-title", href: route.to({ atom: hit.id }), "aria-current": current && "true", dir: "auto" },
    ...visible(hit.title ?? firstWords(hit.snippet)),
  );
  return element(
    "div",
    { class: current ? "hit current" : "hit" },
    title,
    element("p", { class: "snippet", dir: "auto" }, ...marked(hit.snippet, terms)),
    element(
      "div",
      { class: "row" },
      places.get(hit.id),
      ...hit.tags.slice(0, TAGS_MAX).map((tag) => tagChip(tag, route)),
      hit.tags.length > TAGS_MAX ? element("span", {}, `and ${counted(hit.tags.length - TAGS_MAX, "tag")} more`) : null,
      provenanceOf(hit),
      element("span", { class: "end" }, counted(hit.tokens, "token")),
    ),
    scoreNode(hit, most),
  );
}

const provenanceOf = ({ provenance }) => {
  if (provenance === "internal") return null;
  return provenance === "quarantine" ? mark("warned", "In quarantine") : element("span", {}, "provenance ", quoted(provenance));
};

const firstWords = (text) => text.split(/\s+/u).slice(0, 8).join(" ");

export const tagChip = (tag, route) =>
  element("a", { class: "chip", href: route.to({ tags: [...new Set([...route.tags, tag])], atom: null }) }, tagWord(tag));

export const tagWord = (tag) => element("span", {}, "#", quoted(tag));

/** Return a snippet with its words that begin with a term of the question marked. */
function marked(snippet, terms) {
  const nodes = [];
  let from = 0;
  for (const { 0: word, index } of snippet.matchAll(WORD)) {
    const lower = word.toLowerCase();
    if (!terms.some((term) => lower.startsWith(term))) continue;
    nodes.push(...visible(snippet.slice(from, index)), element("mark", {}, word));
    from = index + word.length;
  }
  return [...nodes, ...visible(snippet.slice(from))];
}

function scoreNode(hit, most) {
  const signals = Object.entries(hit.signals ?? {}).sort(([, a], [, b]) => b - a);
  return element(
    "details",
    { class: "small muted" },
    element("summary", {}, `Score ${hit.score.toFixed(2)}`),
    element(
      "div",
      { class: "signals" },
      ...signals.flatMap(([name, value]) => [
        element("span", {}, name),
        element("meter", { min: 0, max: most, value: Math.max(0, value), "aria-label": name }),
        element("span", {}, value.toFixed(2)),
      ]),
    ),
  );
}

function nothingNodes(recall, trust, ended) {
  const place = element("div", { class: "stack" });
  nothingFound(recall.terms, place, trust, ended);
  return [
    element("div", { class: "card empty" }, element("h2", {}, "Nothing found"), place),
  ];
}

const contextNodes = (context) => [
  element(
    "div",
    { class: "summary" },
    element("span", {}, `${context.tokens.toLocaleString("en")} of ${context.budget.toLocaleString("en")} tokens`),
    unprovable("The choice of texts"),
  ),
  element("div", { class: "content card", dir: "auto", tabindex: "0", role: "group", "aria-label": "Context" }, ...visible(context.text)),
];
