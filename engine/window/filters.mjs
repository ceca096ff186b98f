// Filters: a chip for each, which takes the filter away, and a form that adds one.

import { element, quoted } from "./dom.mjs";

const WORDS_MAX = 500;
const PROVENANCES = ["internal", "external", "quarantine"];

const text = (attributes) => element("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
const date = () => element("input", { type: "date" });
const choice = (words) => element("select", {}, ...words.map((word) => element("option", { value: word }, word)));

/** Each kind of filter: its name in the form, what stands before its word in a chip, and the field for the word. */
const KINDS = {
  tags: ["Tag", "#", () => text({ list: "known-tags", placeholder: "kitchen" })],
  buckets: ["Bucket", "in ", () => text({ list: "known-buckets", placeholder: "inbox" })],
  sources: ["Source", "from ", () => text({ list: "known-sources", placeholder: "notes/kettle.md, or notes/*" })],
  provenances: ["Provenance", "provenance ", () => choice(PROVENANCES)],
  since: ["Since", "since ", date],
  until: ["Before", "before ", date],
};

export const chipWord = (part, word) => element("span", {}, KINDS[part][1], quoted(word));

/** Show the filters of a place as chips. `go` leads to a place; the focus goes to the next chip, or to `last`. */
export function showChips(bar, route, go, last) {
  const filters = route.filters();
  const remove = (part, word, at) => {
    go(route.withoutFilter(part, word));
    const left = [...bar.children].filter((_, other) => other !== at);
    const next = left[at] ?? left[at - 1];
    // The chips are made anew when the address has changed.
    const name = next?.dataset.filter;
    window.addEventListener("hashchange", () => ([...bar.children].find((one) => one.dataset.filter === name) ?? last).focus(), { once: true });
  };
  const chips = filters.map(([part, word], at) =>
    element(
      "button",
      { class: "chip", type: "button", "data-filter": `${part} ${word}`, onclick: () => remove(part, word, at) },
      chipWord(part, word),
      element("span", { class: "unseen" }, ", remove this filter"),
      element("span", { "aria-hidden": "true" }, "×"),
    ),
  );
  bar.replaceChildren(...chips);
  bar.hidden = filters.length === 0;
}

/** Return the parts of the form that adds a filter. `add` is called with a part and a word; `words` gives the known words of each kind. */
export function filterForm(add, words, close) {
  const place = element("span", { class: "narrow-word" });
  const kind = choice([]);
  kind.setAttribute("aria-label", "Kind of filter");
  kind.append(...Object.entries(KINDS).map(([part, [name]]) => element("option", { value: part }, name)));
  const known = ["tags", "buckets", "sources"].map((part) => element("datalist", { id: `known-${part}` }));
  const use = () => {
    const [name, , make] = KINDS[kind.value];
    const field = make();
    field.setAttribute("aria-label", name);
    field.required = true;
    place.replaceChildren(field);
  };
  kind.addEventListener("change", use);
  use();
  fillKnown(known, words);
  const submit = (event) => {
    event.preventDefault();
    const word = place.firstChild.value.trim().replace(kind.value === "tags" ? /^#/ : "", "");
    if (word !== "") add(kind.value, word);
    if (place.firstChild.tagName === "INPUT") place.firstChild.value = "";
    place.firstChild.focus();
  };
  const escape = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return element(
    "form",
    { class: "narrow", "aria-label": "Add a filter", onsubmit: submit, onkeydown: escape },
    kind,
    place,
    ...known,
    element("button", { class: "button", type: "submit" }, "Add"),
  );
}

/** Put the known words behind the fields. Without them, words can still be typed. */
async function fillKnown(lists, words) {
  const known = await words().catch(() => ({}));
  for (const list of lists) list.replaceChildren(...(known[list.id.slice("known-".length)] ?? []).slice(0, WORDS_MAX).map((value) => element("option", { value })));
}
