// What is shown in place of an answer, in sentences for people: the service's own hints are for programs.

import { CallFailed, hasToken } from "./client.mjs";
import { element, mark, quoted } from "./dom.mjs";
import { pending } from "./marks.mjs";
import { Refused } from "./verifier/index.mjs";

const MEMORY = (name) => `There is no memory ${name} that this token may read.`;

/** Return why a token is asked for. */
export const whyToken = () =>
  hasToken()
    ? "The service refuses the token of this page. It was mistyped, has expired or was revoked."
    : "The service shows its memories only to people who have a token.";

/** Return the sentence about a failed call, and what to do. */
function said(error) {
  const { code, status, message, hint } = error;
  if (error instanceof Refused) return [message, null];
  // An answer of another form than the page reads ends in an error of the language.
  if (!(error instanceof CallFailed)) return ["The service answers in a form that this page does not read.", message];
  if (code === "unreachable") return [message, "If “engine ui” has ended, start it again, and open the address that it prints. Otherwise ask whoever runs the service."];
  if (status === 401) return [whyToken(), null];
  if (status === 403) return ["This token may not read this memory.", null];
  return [message, /^GET /.test(hint ?? "") ? null : hint];
}

/** Return what a part of the page says of a call that failed, or of an answer in a form that it does not read. */
export const noAnswer = (error) => [mark("plain", "No answer"), element("p", {}, quoted(error.message))];

/** Carry out a check whose marks go to a place; where it cannot be carried out, the place says so. */
export function checking(place, check) {
  place.replaceChildren(pending());
  check().catch((error) => place.replaceChildren(...noAnswer(error)));
}

const another = () => (hasToken() ? "Give another token" : "Give a token");

/** Return what can be pressed: the words, and what they do. */
function choices({ status }, { retry, ask }) {
  if (status === 401 || status === 403) return [[another(), ask]];
  return status === 0 || status === 429 || status >= 500 ? [["Try again", retry]] : [];
}

function card(sentence, hint, buttons, ...more) {
  return element(
    "div",
    { class: "card empty" },
    mark("plain", "No answer"),
    element("p", {}, quoted(sentence)),
    hint ? element("p", { class: "muted" }, quoted(hint)) : null,
    ...more,
    ...buttons.map(([words, act]) => element("div", {}, element("button", { class: "button", type: "button", onclick: act }, words))),
  );
}

/** Return what is shown for a failed call. `retry` begins again, and `ask` asks for another token. */
export const failure = (error, acts) => card(...said(error), choices(error, acts));

/** Return what is shown if the token may not read the memory `name`, or, where that is null, any memory at all. */
export function noMemory(name, names, route, acts) {
  if (names.length === 0) return card("This token may read no memory, or there is none.", null, [[another(), acts.ask]]);
  const links = names.map((one) => element("li", {}, element("a", { href: route.to({ memory: one, at: null, atom: null }) }, quoted(one))));
  return card(MEMORY(name), "It may read these:", [[another(), acts.ask]], element("ul", { class: "links" }, ...links));
}
