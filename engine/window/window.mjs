// The window into a memory: from the address to what is shown, and from what the person does to the address.

import { CallFailed, Memory, memories, tokenOfAddress } from "./client.mjs";
import { openToken, openTrust, showTrust } from "./dialogs.mjs";
import { element, mark, quoted } from "./dom.mjs";
import { graphed } from "./graph.mjs";
import { overview } from "./overview.mjs";
import { Pins } from "./pins.mjs";
import { reading } from "./read.mjs";
import { Route } from "./routes.mjs";
import { searched, tagWord } from "./search.mjs";
import { tagged } from "./tagged.mjs";
import { Trust } from "./trust.mjs";

const PAUSE = 120;
const at = (id) => document.getElementById(id);

let memory = null;
let trust = null;
let route = null;
/** What is shown, so that a step that changes nothing of it asks for nothing. */
let shown = { list: null, atom: null };
let running = new AbortController();

// ---- What is shown ----

async function show() {
  const before = route;
  route = Route.ofAddress();
  if (before !== null && route.memory !== before.memory) return start();
  if (document.activeElement !== at("query")) at("query").value = route.query;
  for (const radio of document.getElementsByName("form")) radio.checked = radio.value === (route.form === "names" ? "graph" : route.form);
  showFilters();
  running.abort();
  running = new AbortController();
  await Promise.all([showList(), showAtom()]);
}

async function showList() {
  const key = route.to({ atom: null });
  markCurrent();
  if (shown.list === key) return;
  const isNarrowed = route.tags.length + route.sources.length > 0;
  const asks = route.query.trim() !== "";
  const draws = asks ? ["graph", "names"].includes(route.form) : route.around.length > 0 && !isNarrowed;
  const view = draws ? graphed : asks ? searched : isNarrowed ? tagged : overview;
  await fill("list", () => view(given()));
  shown.list = key;
}

async function showAtom() {
  const opens = route.atom !== null && shown.atom !== route.atom;
  at("reading").hidden = route.atom === null;
  at("panes").classList.toggle("reads", route.atom !== null);
  shown.atom = route.atom;
  if (!opens) return;
  await fill("reading", () => reading(given()));
  at("reading").focus();
  window.scrollTo({ top: 0 });
}

const given = () => ({ memory, trust, route, signal: running.signal });

async function fill(id, make) {
  at(id).setAttribute("aria-busy", "true");
  try {
    at(id).replaceChildren(...(await make()));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof CallFailed)) throw error;
    if (error.status === 401) openToken(error.message, start);
    at(id).replaceChildren(failure(error));
  }
  at(id).setAttribute("aria-busy", "false");
  markCurrent();
}

const failure = ({ message, hint }) =>
  element("div", { class: "card empty" }, mark("plain", "No answer"), element("p", {}, quoted(message)), hint ? element("p", { class: "muted" }, quoted(hint)) : null);

function markCurrent() {
  for (const link of document.querySelectorAll("#list .hit-title")) {
    const current = route.atom !== null && new URLSearchParams(link.hash.slice(1)).get("atom") === route.atom;
    link.closest(".hit").classList.toggle("current", current);
    if (current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function showFilters() {
  const chip = (kind, word) =>
    element(
      "button",
      { class: "chip", type: "button", onclick: () => go({ [kind]: route[kind].filter((one) => one !== word) }) },
      kind === "tags" ? tagWord(word) : element("span", {}, "from ", quoted(word)),
      element("span", { class: "unseen" }, ", remove this filter"),
      element("span", { "aria-hidden": "true" }, "×"),
    );
  at("filters").replaceChildren(
    ...route.tags.map((tag) => chip("tags", tag)),
    ...route.sources.map((source) => chip("sources", source)),
  );
  at("filters").hidden = route.tags.length + route.sources.length === 0;
}

// ---- What the person does ----

function go(changes) {
  location.hash = route.to(changes);
}

let waiting = null;

at("query").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    history.replaceState(null, "", route.to({ query: at("query").value, around: [], atom: null }));
    show();
  }, PAUSE);
});
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  go({ query: at("query").value, around: [], atom: null });
});
at("search").addEventListener("change", (event) => {
  if (event.target.name === "form") go({ form: event.target.value, around: [] });
});
at("memory").addEventListener("change", (event) => go({ memory: event.target.value, atom: null, around: [], tags: [], sources: [] }));
at("skip").addEventListener("click", () => at("list").focus());
at("trust-button").addEventListener("click", () => openTrust(trust, again));
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
    at("memory").replaceChildren(...names.map((one) => element("option", { value: one, selected: one === name }, one === "~" ? "the memory" : one)));
    at("memory").hidden = names.length < 2;
    memory = new Memory(name);
    trust = new Trust(memory, new Pins(name));
    trust.onchange = () => showTrust(trust);
    trust.start().catch(() => null);
  } catch (error) {
    if (error instanceof CallFailed && error.status === 401) return openToken(error.message, start);
    if (!(error instanceof CallFailed)) throw error;
    at("list").replaceChildren(failure(error));
    return null;
  }
  return again();
}

tokenOfAddress();
start();
