// The window into a memory: from the address to what is shown, and from what the person does to the address.

import { Memory, memories, tokenOfAddress } from "./client.mjs";
import { openToken, openTrust, showTrust } from "./dialogs.mjs";
import { element } from "./dom.mjs";
import { EarlierTrust } from "./earlier.mjs";
import { failure, noMemory, whyToken } from "./failures.mjs";
import { filterForm, showChips } from "./filters.mjs";
import { MomentControl } from "./moment.mjs";
import { graphed } from "./graph.mjs";
import { failed } from "./marks.mjs";
import { overview } from "./overview.mjs";
import { Pins } from "./pins.mjs";
import { reading } from "./read.mjs";
import { NO_FILTERS, Route } from "./routes.mjs";
import { searched } from "./search.mjs";
import { tagged } from "./tagged.mjs";
import { timeline } from "./timeline.mjs";
import { Trust } from "./trust.mjs";
import { Typing } from "./typing.mjs";
import { upkeep } from "./upkeep.mjs";

/** The forms of an answer that are shown while the question is typed; the others cost too much to make. */
const QUICK = ["hits", "context"];
/** The views that stand in the address; without one, the page searches. */
const VIEWS = { time: timeline, upkeep };
const at = (id) => document.getElementById(id);

/** The memory that is shown, or null as long as none can be. */
let memory = null;
let trust = null;
let control = null;
/** What is verified of the moment that is shown, kept while the moment is the same. */
let earlier = null;
let route = null;
/** What is shown, so that a step that changes nothing of it asks for nothing. */
let shown = { list: null, atom: null };
let running = new AbortController();
const typing = new Typing(showTyped, endTyping);

// ---- What is shown ----

async function show() {
  typing.stop();
  const before = route;
  route = Route.ofAddress();
  if (memory === null || route.memory !== before.memory) return start();
  if (before.view !== route.view) window.scrollTo({ top: 0 });
  return showRoute();
}

async function showRoute() {
  if (document.activeElement !== at("query")) at("query").value = route.query;
  for (const radio of document.getElementsByName("form")) radio.checked = radio.value === (route.form === "names" ? "graph" : route.form);
  showFilters();
  showPlace();
  running.abort();
  running = new AbortController();
  await Promise.all([showList(), showAtom(), showMoment()]);
}

async function showList() {
  const key = route.to({ atom: null });
  markCurrent();
  if (shown.list === key) return;
  const isNarrowed = route.filters().length > 0;
  const asks = route.query.trim() !== "";
  const draws = asks ? ["graph", "names"].includes(route.form) : route.around.length > 0 && !isNarrowed;
  const answers = draws ? graphed : asks ? searched : isNarrowed ? tagged : overview;
  const view = VIEWS[route.view] ?? answers;
  if (await fill("list", () => view(given()))) shown.list = key;
}

async function showAtom() {
  const key = route.atom === null ? null : `${route.atom} ${route.at}`;
  const opens = key !== null && shown.atom !== key;
  at("reading").hidden = route.atom === null;
  at("panes").classList.toggle("reads", route.atom !== null);
  shown.atom = key;
  if (!opens) return;
  if (!(await fill("reading", () => reading(given())))) return;
  if (!at("moment").contains(document.activeElement)) at("reading").focus();
  window.scrollTo({ top: 0 });
}

/** Mark the view that is shown, and say nothing of what does not belong to it. */
function showPlace() {
  document.querySelector(".bar").classList.toggle("times", route.view === "time");
  for (const link of document.querySelectorAll("#views a")) {
    const view = link.dataset.view || null;
    link.href = route.to({ view, atom: null, erase: null });
    if (view === route.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function showMoment() {
  try {
    await control.show(route.moment(), route.view === "time" || route.moment() !== null);
  } catch (error) {
    at("moment").replaceChildren(failed(error));
  }
}

function given() {
  const moment = route.moment();
  const now = { memory, trust };
  const asked = { now, route, signal: running.signal, ended: typing.ended };
  if (moment === null) return { ...now, ...asked };
  if (earlier?.moment !== moment || earlier.trust !== trust) earlier = new EarlierTrust(trust, moment);
  return { memory: earlier.memory, trust: earlier, ...asked };
}

/** Show what `make` makes; return false if that is no longer wanted. */
async function fill(id, make) {
  const { signal } = running;
  at(id).setAttribute("aria-busy", "true");
  try {
    const made = await make();
    if (typing.waits || signal.aborted) return false;
    at(id).replaceChildren(...made);
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return false;
    if (error.status === 401) askToken();
    at(id).replaceChildren(failure(error, acts));
  }
  at(id).setAttribute("aria-busy", "false");
  markCurrent();
  return true;
}

function markCurrent() {
  for (const link of document.querySelectorAll("#list .hit-title")) {
    const current = route.atom !== null && new URLSearchParams(link.hash.slice(1)).get("atom") === route.atom;
    link.closest(".hit").classList.toggle("current", current);
    if (current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function showFilters() {
  showChips(at("filters"), route, go, at("narrow-button"));
}

// ---- What the person does ----

function go(changes) {
  location.hash = route.to(changes);
}

/** Return what is different in the place where the question in the field is answered. */
const asking = () => ({ query: at("query").value, view: null, around: [], atom: null, erase: null });

async function showTyped() {
  if (memory === null) return;
  route = new Route({ ...route, ...asking() });
  await showRoute();
}

/** Keep the question in the address, which browsers do not allow at every key. */
function endTyping() {
  history.replaceState(null, "", route.to(asking()));
  if (memory === null || !QUICK.includes(route.form)) show();
}

at("query").addEventListener("input", () => {
  at("list").setAttribute("aria-busy", "true");
  shown.list = null;
  typing.key(QUICK.includes(route.form));
});
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  go(asking());
});
at("search").addEventListener("change", (event) => {
  if (event.target.name === "form") go({ form: event.target.value, query: at("query").value, view: null, around: [] });
});
at("memory").addEventListener("change", (event) => go({ memory: event.target.value, at: null, atom: null, erase: null, around: [], ...NO_FILTERS }));
at("narrow-button").addEventListener("click", () => showForm(at("narrow").hidden));
at("skip").addEventListener("click", () => at("list").focus());
at("trust-button").addEventListener("click", () => memory !== null && openTrust(trust, again));
document.addEventListener("keydown", (event) => {
  const types = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !types) {
    event.preventDefault();
    at("query").focus();
  }
  if (event.key === "Escape" && route.atom !== null && document.querySelector("dialog[open]") === null) go({ atom: null });
  if (event.key === "ArrowDown" || event.key === "ArrowUp") step(event);
});
window.addEventListener("hashchange", show);

/** Show the form that adds a filter, or hide it. */
function showForm(open) {
  at("narrow").hidden = !open;
  at("narrow-button").setAttribute("aria-expanded", String(open));
  if (!open || memory === null) return at("narrow-button").focus();
  const add = (part, word) => go({ ...route.withFilter(part, word), view: null });
  const tags = async () => {
    const { people, dreamer } = await given().memory.call("tags");
    return { ...dreamer, ...people };
  };
  at("narrow").replaceChildren(filterForm(add, tags, () => showForm(false)));
  return at("narrow").querySelector("select").focus();
}

/** Go from hit to hit, and from the search field to the first. */
function step(event) {
  const links = [...document.querySelectorAll("#list .hit-title")];
  const here = links.indexOf(document.activeElement);
  if (here < 0 && document.activeElement !== at("query")) return;
  const next = links[here + (event.key === "ArrowDown" ? 1 : -1)];
  if (next === undefined && here !== 0) return;
  event.preventDefault();
  (next ?? at("query")).focus();
}

// ---- The start ----

const askToken = () => openToken(whyToken(), start);
const acts = { retry: () => start(), ask: askToken };

function again() {
  shown = { list: null, atom: null };
  showTrust(trust);
  return show();
}

async function start() {
  route = Route.ofAddress();
  try {
    const names = await memories();
    const name = route.memory ?? names[0];
    if (!names.includes(name)) return showNothing(noMemory(name, names, route, acts));
    at("memory").replaceChildren(...names.map((one) => element("option", { value: one, selected: one === name }, one === "~" ? "the memory" : one)));
    at("memory").hidden = names.length < 2;
    memory = new Memory(name);
    trust = new Trust(memory, new Pins(name));
    control = new MomentControl(at("moment"), trust, (moment) => go({ at: moment === null ? null : String(moment) }));
    at("moment").replaceChildren();
    trust.onchange = () => showTrust(trust);
    trust.start().catch(() => null);
  } catch (error) {
    if (error.status === 401) askToken();
    return showNothing(failure(error, acts));
  }
  return again();
}

/** Say why no memory is shown. */
function showNothing(card) {
  memory = null;
  running.abort();
  for (const id of ["reading", "moment", "memory"]) at(id).hidden = true;
  at("trust-button").replaceChildren();
  at("list").replaceChildren(card);
  at("list").setAttribute("aria-busy", "false");
}

tokenOfAddress();
start();
