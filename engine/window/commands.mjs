// Commands for a shell. What a memory holds is data: it is quoted, and no command is made of what cannot be quoted.

import { storeName } from "./client.mjs";
import { element, mark } from "./dom.mjs";

const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.:/-]*$/;
/** A terminal acts on some characters even inside quotes, and a program takes a word with - in front for an option. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|^-|^$/u;

const word = (text) => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Return a command for a shell: the values of a template are quoted. It is null if a value cannot be quoted safely. */
export function command(parts, ...values) {
  const texts = values.map(String);
  if (texts.some((text) => UNSAFE.test(text))) return null;
  return parts.map((part, at) => part + (at < texts.length ? word(texts[at]) : "")).join("");
}

/** Return the words of a line, each of which breaks only if it is longer than the line is wide. */
const words = (line) => line.split(/(\s+)/).map((one, at) => (at % 2 === 1 ? one : element("span", { class: "command-word" }, one)));

/** Return a command as an element, with a button that copies it. */
export function commandNode(line) {
  if (line === null) return mark("warned", "No command is shown, because it could not be pasted safely");
  const code = element("code", { class: "command-line", tabindex: "0", role: "group", "aria-label": "Command" }, ...words(line));
  if (navigator.clipboard === undefined) return element("div", { class: "command" }, code);
  const copy = element("button", { class: "button", type: "button", "aria-label": `Copy the command ${line}` }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(line);
    copy.textContent = "Copied";
  });
  return element("div", { class: "command" }, code, copy);
}

/** Return the part of each command that selects the store and the memory. */
export function selecting({ name }) {
  const parts = [storeName() === "" ? "" : command` --store ${storeName()}`, name === "~" ? "" : command` --memory ${name}`];
  return parts.includes(null) ? null : parts.join("");
}

/** Return a command of `engine` for a memory. */
export const engine = (memory, line) => {
  const which = selecting(memory);
  return line === null || which === null ? null : `engine ${line}${which}`;
};
