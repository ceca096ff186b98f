// The window into a memory: from the address to what is shown, and from what the person does to the address.

import { writing } from "./changing.mjs";
import { Memory, findToken, memories } from "./client.mjs";
import { openHelp, openToken, openTrust, showTrust } from "./dialogs.mjs";
import { element } from "./dom.mjs";
import { EarlierTrust } from "./earlier.mjs";
import { failure, noMemory, whyToken } from "./failures.mjs";
import { filterForm, showChips } from "./filters.mjs";
import { MomentControl } from "./moment.mjs";
import { graphed } from "./graph.mjs";
import { failed } from "./marks.mjs";
import { overview } from "./overview.mjs";
import { paged } from "./pages.mjs";
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
const VIEWS = { graph: graphed, time: timeline, upkeep, write: writing };
/** So many sources are suggested as filters. */
const WORDS = 500;
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
  at("forms").hidden = route.query.trim() === "" || route.view !== null;
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
  const reads = route.atom !== null || route.page !== null;
  const key = reads ? `${route.page} ${route.atom} ${route.at}` : null;
  const opens = reads && shown.atom !== key;
  at("reading").hidden = !reads;
  at("panes").classList.toggle("reads", reads);
  shown.atom = key;
  if (!opens) return;
  if (!(await fill("reading", () => (route.page === null ? reading : paged)(given())))) return;
  if (!at("moment").contains(document.activeElement)) at("reading").focus({ preventScroll: true });
  window.scrollTo({ top: 0 });
  if (route.page === null) at("reading").scrollTo({ top: 0 });
  else at("reading").querySelector(".current")?.scrollIntoView({ block: "center" });
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
  const asked = { now, route, signal: running.signal, ended: typing.ended, changed: again };
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
  showTitle();
  return true;
}

/** Say in the title of the tab where the person is. */
function showTitle() {
  const read = at("reading").hidden ? null : at("reading").querySelector("h2")?.textContent;
  const view = document.querySelector("#views [aria-current]")?.textContent;
  document.title = [read, route.query.trim() || (route.view === null ? null : view), "memroot"].filter((part) => part).join(" · ").slice(0, 200);
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
const asking = () => ({ query: at("query").value, view: null, around: [], page: null, atom: null, erase: null });

async function showTyped() {
  if (memory === null) return;
  route = new Route({ ...route, ...asking() });
  await showRoute();
}

/** Keep the question in the address, which browsers do not allow at every key. Going back leads to what was before it. */
function endTyping() {
  const address = route.to(asking());
  if (history.state === "typed") history.replaceState("typed", "", address);
  else history.pushState("typed", "", address);
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
at("forms").addEventListener("change", (event) => {
  go({ form: event.target.value, query: at("query").value, view: null, around: [] });
});
at("memory").addEventListener("change", (event) => event.target.value !== "" && go({ memory: event.target.value, at: null, atom: null, erase: null, around: [], ...NO_FILTERS }));
at("narrow-button").addEventListener("click", () => showForm(at("narrow").hidden));
at("memory").addEventListener("focus", ({ target }) => (target.value = ""));
at("memory").addEventListener("blur", ({ target }) => (target.value ||= memory?.name ?? ""));
at("copy-link").addEventListener("click", async ({ target }) => {
  await navigator.clipboard.writeText(location.href);
  target.textContent = "Copied";
  setTimeout(() => (target.textContent = "Copy link"), 2_000);
});
at("help-button").addEventListener("click", openHelp);
at("skip").addEventListener("click", () => at("list").focus());
at("trust-button").addEventListener("click", () => memory !== null && openTrust(trust, again));
document.addEventListener("keydown", (event) => {
  const types = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || event.ctrlKey || event.metaKey || event.altKey;
  if (event.key === "?" && !types) openHelp();
  if (event.key === "e" && !types) edit(event);
  if (event.key === "/" && !types) {
    event.preventDefault();
    at("query").focus();
  }
  if (event.key === "Escape" && (route.atom ?? route.page) !== null && document.querySelector("dialog[open]") === null) go({ atom: null });
  if (event.key === "ArrowDown" || event.key === "ArrowUp") step(event);
});
window.addEventListener("hashchange", show);

/** How far the page was scrolled: where there is little room, the bar goes out of sight on the way down. */
let scrolled = 0;
window.addEventListener("scroll", () => {
  document.querySelector(".bar").classList.toggle("away", scrollY > scrolled && scrollY > 120);
  scrolled = scrollY;
});

/** Show the form that adds a filter, or hide it. */
function showForm(open) {
  at("narrow").hidden = !open;
  at("narrow-button").setAttribute("aria-expanded", String(open));
  if (!open || memory === null) return at("narrow-button").focus();
  const add = (part, word) => go({ ...route.withFilter(part, word), view: null });
  const words = async () => {
    const now = given().memory;
    const [{ people, dreamer }, sources, recent] = await Promise.all([now.call("tags"), now.call("sources", { limit: WORDS }), now.call("recent")]);
    const tags = Object.entries({ ...dreamer, ...people }).sort(([, one], [, other]) => other - one).map(([tag]) => tag);
    return { tags, buckets: [...new Set(recent.flatMap(({ atom }) => atom.buckets))], sources: sources.map(({ source }) => source) };
  };
  at("narrow").replaceChildren(filterForm(add, words, () => showForm(false)));
  return at("narrow").querySelector("select").focus();
}

/** Open the form that changes the atom that is read. */
function edit(event) {
  const form = at("reading").querySelector(".action");
  if (form === null) return;
  event.preventDefault();
  form.open = true;
  form.querySelector("textarea").focus();
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
    const { memories: names, scopes } = await memories();
    const name = route.memory ?? names[0];
    if (!names.includes(name)) return showNothing(noMemory(name, names, route, acts));
    at("memories").replaceChildren(...names.map((one) => element("option", { value: one }, one === "~" ? "the memory" : one)));
    at("memory").value = name;
    at("memory").hidden = names.length < 2;
    memory = new Memory(name, scopes[name]);
    document.querySelector("#views [data-view=write]").hidden = !memory.mayWrite;
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

findToken().then(start);
