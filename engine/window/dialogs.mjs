// The two dialogs: what is trusted, and the token.

import { keepToken } from "./client.mjs";
import { details, element, mark } from "./dom.mjs";
import { hash } from "./facts.mjs";
import { explained, sentenceOf, short } from "./marks.mjs";
import { toHex } from "./verifier/bytes.mjs";
import { Refused, trustCheckpoint, trustRoot } from "./verifier/index.mjs";

const at = (id) => document.getElementById(id);

/** Show on the button in the bar whether the service continues what is pinned. */
export function showTrust(trust) {
  at("trust-button").replaceChildren(trustMark(trust));
  const isSaid = at("unkept").childElementCount > 0;
  if (trust.pins.last === isSaid) at("unkept").replaceChildren(...(isSaid ? [] : [unkept()]));
}

const unkept = () =>
  element("p", { class: "notice warned" }, "This browser keeps nothing for this page: its storage is blocked or full. What is pinned lasts until you close the page or load it again. Allow the page to store data, or pin your own root on each visit.");

function trustMark(trust) {
  if (trust.refused !== null) return mark("refused", "Refused");
  if (trust.head === null) return mark("plain", "Nothing pinned");
  const { pin } = trust.pins.read();
  return pin.how === "given" ? mark("verified", `Continues ${pin.root.slice(0, 8)}…`) : mark("plain", `Pinned ${short(trust.head.root)}`);
}

const HOW = {
  given: "You gave it.",
  "first use": "This page pinned it on your first visit, without a check: compare it with a root from a source that you trust.",
};

/** Open the dialog that says what is trusted, and that takes another root or checkpoint. */
export function openTrust(trust, changed) {
  const kept = trust.pins.read();
  const given = element("textarea", { class: "mono", id: "given", rows: "4", spellcheck: "false" });
  const said = element("div", { role: "status" });
  const pin = async () => {
    try {
      const store = kept === null ? null : kept.pin.store;
      await trust.pin(await readTrusted(given.value.trim(), store));
      at("trust").close();
      changed();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      said.replaceChildren(element("p", { class: "notice refused" }, `This cannot be pinned: ${error.detail}.`));
    }
  };
  const body = [
    element("h2", { id: "trust-title" }, "What you trust"),
    explained(),
    trust.refused === null
      ? null
      : element("p", { class: "notice refused" }, `${sentenceOf(trust.refused)} (${trust.refused.message}) Nothing on this page is verified.`),
    kept === null
      ? null
      : details([
          ["pinned", hash(kept.pin.root)],
          ["since", `${kept.pin.since}. ${HOW[kept.pin.how]}`],
          ["store", hash(kept.pin.store)],
          ["newest", trust.head === null ? null : element("span", {}, hash(toHex(trust.head.root)), ` ${trust.head.size} events`)],
        ]),
    element(
      "div",
      { class: "field" },
      element("label", { for: "given" }, "Pin another root or checkpoint"),
      given,
      element("p", { class: "hint" }, "An overall root, or the lines of a checkpoint, from a source that you trust."),
    ),
    said,
    element(
      "div",
      { class: "buttons" },
      element("button", { class: "button", type: "button", onclick: () => at("trust").close() }, "Close"),
      element("button", { class: "button primary", type: "button", onclick: pin }, "Pin"),
    ),
  ];
  at("trust").replaceChildren(element("div", {}, ...body));
  at("trust").showModal();
}

function readTrusted(text, store) {
  if (text.includes("\n")) return trustCheckpoint(`${text}\n`);
  return trustRoot({ root: text, store: store ?? "" });
}

const HOW_TOKEN = "Whoever runs the service makes tokens, with “engine token new NAME”. A token begins with mr_.";
const NO_TOKEN = "This is no token: a token is one word, without spaces and accents. Copy it again.";
/** What can stand in a header. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Ask for a token, and say why; `changed` is called when there is one. */
export function openToken(why, changed) {
  if (at("token").open) return;
  const said = element("div", { role: "status" });
  const token = element("input", { class: "mono", type: "text", id: "given-token", autocomplete: "off", spellcheck: "false" });
  const form = element(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        const given = token.value.trim();
        if (!TOKEN.test(given)) return said.replaceChildren(element("p", { class: "notice refused" }, NO_TOKEN));
        keepToken(given);
        at("token").close();
        return changed();
      },
    },
    element("h2", { id: "token-title" }, "A token is needed"),
    element("p", {}, why),
    element("div", { class: "field" }, element("label", { for: "given-token" }, "Token"), token, element("p", { class: "hint" }, HOW_TOKEN)),
    said,
    element("div", { class: "buttons" }, element("button", { class: "button primary", type: "submit" }, "Use it")),
  );
  at("token").replaceChildren(form);
  at("token").showModal();
}

const KEYS = { "/": "to the search field", "↑ ↓": "from hit to hit", Enter: "read the hit", Escape: "close what is read", e: "edit the text that is read", "?": "show these keys" };

/** Open the dialog that lists the keys. */
export function openHelp() {
  if (document.querySelector("dialog[open]") !== null) return;
  const close = element("button", { class: "button", type: "button", onclick: () => at("help").close() }, "Close");
  at("help").replaceChildren(element("div", {}, element("h2", { id: "help-title" }, "Keys"), details(Object.entries(KEYS).map(([key, words]) => [key, words])), element("div", { class: "buttons" }, close)));
  at("help").showModal();
}
