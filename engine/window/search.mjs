// Search: the hits of a question by page. The service names them; each is drawn from what its proof opened.
//
// Until typing has ended, what the service says is shown, slanted, so that no proof is made of an answer that the next key
// replaces.

import { distinct, flat, outcomeOf, titleOf } from "./atoms.mjs";
import { contextNodes } from "./context.mjs";
import { element, quoted, show, visible } from "./dom.mjs";
import { counted } from "./facts.mjs";
import { checking } from "./failures.mjs";
import { alteredNode, failed, pending, proved, provenanceMark, summary, unchanged, unprovable } from "./marks.mjs";
import { openAtoms } from "./opened.mjs";
import { isPiece, marked, snippetOf, stemsOf } from "./snippets.mjs";

const LIMIT = 20;
const TAGS_MAX = 8;

/** Return the nodes of an answer, and start the checks of what they show. */
export async function searched({ memory, trust, route, signal, ended }) {
  const filters = route.narrowing();
  if (route.form === "context") {
    return contextNodes(await memory.call("context", { query: route.query, ...filters }, signal), trust, route, ended);
  }
  const recall = await memory.call("recall", { query: route.query, limit: LIMIT, explain: true, ...filters }, signal);
  const hits = distinct(recall.hits);
  if (hits.length === 0) return nothingNodes(recall, trust, ended);
  const given = { route, stems: stemsOf(route.query), most: Math.max(...hits.map(({ score }) => score)) };
  const [list, place] = [element("div", { class: "stack said" }), element("div", { class: "summary" })];
  show(list, groups(hits.map((told) => ({ told, atom: null, error: null, altered: [] })), given));
  checking(place, () => check(hits, { list, place, trust, ended, given }));
  return [
    place,
    element(
      "div",
      { class: "summary" },
      unprovable(`Choice and order of ${counted(hits.length, "hit")}, scores, about ${recall.tokens.toLocaleString("en")} tokens for an agent`),
    ),
    list,
  ];
}

async function check(hits, { list, place, trust, ended, given }) {
  if (!(await ended)) return;
  const found = await openAtoms(trust, hits.map(({ id }) => id), true);
  const snippet = (told, atom) =>
    isPiece(told.snippet, `${atom.title ?? ""} ${atom.content}`) ? [] : [["snippet", told.snippet, snippetOf(atom.content ?? "", given.stems)]];
  const outcomes = hits.map((told) => outcomeOf(told, found.get(told.id), snippet));
  list.classList.remove("said");
  show(list, groups(outcomes, given));
  place.replaceChildren(...summary(trust, "text", outcomes));
}

/** Return the hits by the source that each is recorded with, in the order of the first of each. */
function groups(outcomes, given) {
  const sources = new Map();
  for (const outcome of outcomes) {
    const source = (outcome.atom ?? outcome.told).source ?? "";
    sources.set(source, [...(sources.get(source) ?? []), outcome]);
  }
  return [...sources].map(([source, some]) => {
    const heading = element("h2", {}, source === "" ? "No source" : quoted(source));
    if (some.every(({ atom }) => atom === null)) heading.classList.add("said");
    return element("section", { class: "card group" }, heading, ...some.map((outcome) => hitNode(outcome, given)));
  });
}

function hitNode({ told, atom, error, altered }, { route, stems, most }) {
  const shown = atom ?? { ...told, content: told.snippet };
  const snippet = marked(atom === null ? flat(told.snippet) : snippetOf(atom.content ?? "", stems), stems);
  const tags = shown.tags ?? [];
  const link = { href: route.to({ atom: told.id }), dir: "auto" };
  // A text without a title is known by what it says, which need not stand there twice.
  const isTitled = flat(shown.title ?? "") !== "" && !flat(shown.content ?? "").startsWith(flat(shown.title));
  const lines = isTitled
    ? [element("a", { class: "hit-title", ...link }, ...visible(titleOf(shown))), element("p", { class: "snippet", dir: "auto" }, ...snippet)]
    : [element("a", { class: "hit-title whole snippet", ...link }, ...snippet)];
  const row = element(
    "div",
    { class: "row" },
    provenanceMark(shown.provenance),
    ...tags.slice(0, TAGS_MAX).map((tag) => element("a", { class: "tag", href: route.to(route.withFilter("tags", tag)) }, tagWord(tag))),
    tags.length > TAGS_MAX ? element("span", {}, `and ${counted(tags.length - TAGS_MAX, "tag")} more`) : null,
    scoreNode(told, most),
  );
  const node = element("div", { class: atom === null ? "stack said" : "stack" }, ...lines, row);
  if (atom !== null) proved(`hit ${told.id}`, node);
  return element("div", { class: told.id === route.atom ? "hit current" : "hit" }, node, error === null ? alteredNode(altered) : failed(error));
}

export const tagChip = (tag, route) => element("a", { class: "chip", href: route.to(route.withFilter("tags", tag)) }, tagWord(tag));

export const tagWord = (tag) => element("span", {}, "#", quoted(tag));

function scoreNode(hit, most) {
  const signals = Object.entries(hit.signals ?? {}).sort(([, a], [, b]) => b - a);
  const rows = signals.flatMap(([name, value]) => [
    element("span", {}, quoted(name)),
    element("meter", { min: 0, max: most, value: Math.max(0, value), "aria-label": name }),
    element("span", {}, value.toFixed(2)),
  ]);
  return element("details", { class: "small said" }, element("summary", {}, `Score ${hit.score.toFixed(2)}, ${counted(hit.tokens, "token")}`), element("div", { class: "signals" }, ...rows));
}

const NO_ATOM = "The proof is that no live atom has the term. Look whether the terms are those of your words: a service that lies could prove the absence of others.";

/** Return what is shown where nothing is found: the terms, of each of which it is proved that no live atom has it. */
function nothingNodes({ terms }, trust, ended) {
  const rows = terms.map((term) => [term, element("span", {}, pending())]);
  checkTerms(rows, trust, ended);
  const asked = [
    element("p", {}, "Asked about these terms, which the service made of the question:"),
    element("ul", { class: "links" }, ...rows.map(([term, place]) => element("li", {}, element("code", {}, quoted(term)), place))),
    element("p", { class: "small muted" }, NO_ATOM),
  ];
  const words = terms.length === 0 ? [element("p", {}, "The question has no word that is searched for.")] : asked;
  return [element("div", { class: "card empty" }, element("h2", {}, "Nothing found"), element("div", { class: "stack" }, ...words))];
}

async function checkTerms(rows, trust, ended) {
  if (!(await ended)) return;
  for (const [term, place] of rows) {
    try {
      await trust.check([`no-term ${term}`]);
      place.replaceChildren(proved(`no-term ${term}`, unchanged(trust.head, "no text has it")));
    } catch (error) {
      place.replaceChildren(failed(error));
    }
  }
}
