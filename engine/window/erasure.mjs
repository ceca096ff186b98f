// What an erasure would reach, before it is done.

import { changeForm, fieldOf } from "./changing.mjs";
import { command, commandNode, engine } from "./commands.mjs";
import { details, element } from "./dom.mjs";
import { noAnswer } from "./failures.mjs";
import { counted, hash } from "./facts.mjs";
import { said } from "./marks.mjs";

const NAMED_MAX = 1_000;
const OUT_OF_REACH = "An erasure does not reach copies, exports and backups that were made before, proofs that show the content, or answers that somebody received.";

/** Return the card, which begins with the atom of the address. */
export function erasureCard(given) {
  const { route } = given;
  const id = element("input", { type: "text", id: "erase-id", class: "mono", value: route.erase ?? route.atom ?? "", autocomplete: "off", spellcheck: "false" });
  const place = element("div", { class: "stack", "aria-live": "polite" });
  const look = () => showReach(place, id.value.trim(), given);
  if (id.value !== "") look();
  return element(
    "section",
    { class: "card stack" },
    element("h2", {}, "What an erasure would reach"),
    element("p", { class: "muted small" }, OUT_OF_REACH),
    element(
      "form",
      {
        class: "moments",
        "aria-label": "What an erasure would reach",
        onsubmit: (event) => {
          event.preventDefault();
          look();
        },
      },
      element("div", { class: "field" }, element("label", { for: "erase-id" }, "Id of an atom, or its first digits"), id),
      element("button", { class: "button", type: "submit" }, "Look"),
    ),
    place,
  );
}

async function showReach(place, words, given) {
  const { memory, route } = given;
  try {
    const id = await memory.call("resolve", { id: words });
    const { payloads, payload_bytes: bytes, edges, contents, also_in: others } = await memory.call("erasable", { ids: id });
    const links = others.map((other) => element("li", {}, element("a", { href: route.to({ atom: other, at: null }) }, hash(other))));
    place.replaceChildren(
      details([
        ["would destroy", `${counted(payloads, "payload")} of ${counted(bytes, "byte")}, ${counted(contents, "version")}, ${counted(edges, "edge")}`],
        ["atom", element("a", { href: route.to({ atom: id, at: null }) }, hash(id))],
      ]),
      ...(links.length === 0
        ? [element("p", {}, "No other atom has parts of its text.")]
        : [element("p", {}, "These atoms have parts of the same text, and would keep them:"), element("ul", { class: "links" }, ...links)]),
      ...(memory.scope === "admin" ? [await erasing(id, given)] : commandsFor(id, memory)),
    );
  } catch (error) {
    place.replaceChildren(...noAnswer(error));
  }
}

const commandsFor = (id, memory) => [
  element("p", { class: "small muted" }, "The first command shows more and changes nothing. The second asks, and then erases for good; write your reason, without quoting the text:"),
  commandNode(engine(memory, command`erase ${id} --dry-run`)),
  commandNode(engine(memory, command`erase ${id} --reason REASON`)),
];

/** Return the form that erases an atom and, if it is a name, the texts that have the name. */
async function erasing(id, given) {
  const { memory } = given;
  const { kind, content } = await memory.call("get", { id });
  const named = kind !== "entity" ? [] : (await memory.call("find", { mentions: [content], form: "short", limit: NAMED_MAX })).map((one) => one.id).filter((one) => one !== id);
  const has = named.length === 1 ? "has" : "have";
  const all = element("label", { class: "row" }, element("input", { type: "checkbox", name: "all" }), `Also the ${counted(named.length, "text")} that ${has} the name`);
  const act = async ({ reason, all: isAll }) => {
    const receipt = await memory.call("erase", { ids: isAll ? [id, ...named] : [id], reason });
    const { payloads, payload_bytes: bytes, probe } = receipt;
    return Object.assign([receipt], { words: said(`Erased: ${counted(payloads, "payload")} of ${counted(bytes, "byte")} destroyed${probe ? `; searched afterwards: ${String(probe.verdict).replaceAll("_", " ")}` : ""}`) });
  };
  return changeForm("Erase for good", [named.length === 0 ? "" : all, fieldOf("reason", "Why, without quoting the text: the history keeps it", { required: true })], act, given);
}
