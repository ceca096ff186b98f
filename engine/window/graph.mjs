// Graph: the bright nodes of a question or the names across it, and what is around an atom or entity.

import { element, mark, quoted } from "./dom.mjs";
import { counted } from "./facts.mjs";
import { checking } from "./failures.mjs";
import { checkGraph } from "./graph_checks.mjs";
import { legendRows, listOf } from "./graph_list.mjs";
import { Graph } from "./graph_model.mjs";
import { brightNodes, namesAcross, neighbourhood } from "./graph_sources.mjs";
import { GraphView } from "./graph_view.mjs";
import { unchanged, unprovable } from "./marks.mjs";
import { NO_FILTERS } from "./routes.mjs";

const ANSWER = "answer";
const WAYS_MAX = 8;

/** What is shown, kept so that it grows in place: the memory, the question, and the graph. */
let kept = { memory: null, question: "", graph: new Graph() };
/** The one drawing, made when it is first needed. */
let view = null;

/** Return the nodes of the graph at a place, and start the checks of what they show. */
export async function graphed({ memory, trust, route, signal }) {
  const focused = document.activeElement;
  const question = route.to({ around: [], atom: null, memory: memory.name });
  if (route.query.trim() === "" && route.around.length === 0) return [wayForm(route), element("div", { class: "card empty" }, element("h2", {}, "What is connected with what"), element("p", {}, "Ask for the way between two names, or type a question and choose Graph. “Draw them as a graph”, beside the connections of a text, draws what is around it."))];
  const keys = [...(route.query.trim() === "" ? [] : [ANSWER]), ...route.around];
  view ??= new GraphView(expand);
  const isNew = kept.memory !== memory || kept.question !== question;
  const { parts } = kept.graph;
  // A graph that does not grow is asked for and checked anew: the memory may have changed, or what is pinned.
  const grows = !isNew && parts.length < keys.length && parts.every((part, at) => part === keys[at]);
  const graph = grows ? kept.graph : new Graph();
  for (const key of keys.slice(graph.parts.length)) {
    const part = key === ANSWER ? await answerOf(memory, route, signal) : await neighbourhood(memory, key, signal);
    await graph.add(key, part, pauseFor(signal));
  }
  kept = { memory, question, graph };
  view.show(graph, route, isNew);
  if (view.root.contains(focused)) requestAnimationFrame(() => focused.focus({ preventScroll: true }));
  return nodesOf(graph, { memory, trust }, route);
}

const answerOf = (memory, route, signal) => (route.form === "names" ? namesAcross : brightNodes)(memory, route, signal);

/** Let the page do other things; the layout ends when the person goes elsewhere. */
const pauseFor = (signal) => async () => {
  await new Promise((resolve) => setTimeout(resolve));
  signal.throwIfAborted();
};

/** Go to the same graph with one neighbourhood more, or fewer. */
function expand({ id }) {
  const { route } = view;
  const around = route.around.includes(id) ? route.around.filter((one) => one !== id) : [...route.around, id];
  location.hash = route.to({ around });
}

function nodesOf(graph, given, route) {
  if (graph.nodes.size === 0) return [wayForm(route), choice(route), element("div", { class: "card empty" }, element("h2", {}, "Nothing found"))];
  const found = element("div", { class: "summary" });
  const list = listOf(graph, { route, expand });
  const legend = element("ul", { class: "legend", "aria-label": "Types of relations" }, ...legendRows(graph));
  const tell = (counts) => {
    found.replaceChildren(...summaryOf(counts, given.trust));
    list.refresh();
    legend.replaceChildren(...legendRows(graph));
    view.retitle();
    return kept.graph === graph && found.isConnected;
  };
  checking(found, () => checkGraph(graph, given, tell));
  return [
    wayForm(route),
    choice(route),
    graph.ways.length === 0 ? "" : element("ol", { class: "ways card said" }, ...graph.ways.slice(0, WAYS_MAX).map((way) => element("li", {}, quoted(way)))),
    found,
    element(
      "div",
      { class: "summary" },
      element("span", {}, `${counted(graph.nodes.size, "node")}, ${counted(graph.links.size, "relation")}`),
      unprovable("That these are all, and how bright and strong they are"),
      ...graph.left.map((words) => element("span", {}, `Left out: ${words}`)),
    ),
    element("section", { class: "card graph", "aria-label": "Drawing" }, view.root, legend, view.pictureButtons()),
    element("h2", {}, "The same as a list"),
    list.node,
  ];
}

/** Say how much of a graph proofs opened; what has no claim never counts as that. */
function summaryOf({ open, atoms, unproved, altered, links, proved: right, refused, said }, trust) {
  if (open > 0) return [mark("plain", `Checking… ${open.toLocaleString("en")} left`)];
  const some = (number, all, noun, what, tone = "refused") => (number === 0 ? null : mark(tone, `${number.toLocaleString("en")} of ${counted(all, noun)} ${what}`));
  const isAny = atoms - unproved + right > 0;
  return [
    isAny ? unchanged(trust.head, `${counted(atoms - unproved, "node")}, ${counted(right, "relation")}`) : null,
    some(unproved, atoms, "node", "not proved", "warned"),
    some(altered, atoms, "node", "altered by the service"),
    some(refused, links, "relation", "refused"),
    said === 0 ? null : unprovable(counted(said, "relation")),
  ].filter((node) => node !== null);
}

/** Return the form that asks for the ways between two names. */
function wayForm(route) {
  const [from, to] = route.form === "names" ? route.query.split(" and ") : [];
  const field = (name, words, value = "") => element("label", { class: "field" }, element("span", {}, words), element("input", { type: "text", name, value, required: true, autocomplete: "off" }));
  const submit = (event) => {
    event.preventDefault();
    const asked = new FormData(event.target);
    location.hash = route.to({ ...NO_FILTERS, query: `${asked.get("from")} and ${asked.get("to")}`, form: "names", view: "graph", around: [] });
  };
  return element("form", { class: "moments", "aria-label": "The way between two names", onsubmit: submit }, field("from", "From", from), field("to", "to", to), element("button", { class: "button", type: "submit" }, "Show the way"));
}

/** Return the choice between the texts and the names that answer a question. */
function choice(route) {
  if (route.query.trim() === "") return "";
  const one = (form, words) => element("a", { class: "chip", href: route.to({ form, around: [] }), "aria-current": route.form === form && "true" }, words);
  return element("nav", { class: "chips", "aria-label": "Nodes are" }, one("graph", "Texts"), one("names", "Names across domains"));
}
