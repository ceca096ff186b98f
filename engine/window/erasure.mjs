// What an erasure would reach, before it is done.

import { command, commandNode, engine } from "./commands.mjs";
import { details, element } from "./dom.mjs";
import { noAnswer } from "./failures.mjs";
import { counted, hash } from "./facts.mjs";

const OUT_OF_REACH = "An erasure does not reach copies, exports and backups that were made before, proofs that show the content, or answers that somebody received.";

/** Return the card, which begins with the atom of the address. */
export function erasureCard({ memory, route }) {
  const id = element("input", { type: "text", id: "erase-id", class: "mono", value: route.erase ?? route.atom ?? "", autocomplete: "off", spellcheck: "false" });
  const place = element("div", { class: "stack", "aria-live": "polite" });
  const look = () => showReach(place, id.value.trim(), memory, route);
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

async function showReach(place, words, memory, route) {
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
      element("p", { class: "small muted" }, "The first command shows more and changes nothing. The second asks, and then erases for good; write your reason, without quoting the text:"),
      commandNode(engine(memory, command`erase ${id} --dry-run`)),
      commandNode(engine(memory, command`erase ${id} --reason REASON`)),
    );
  } catch (error) {
    place.replaceChildren(...noAnswer(error));
  }
}
