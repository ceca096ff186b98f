// Markdown as elements. The parser gives tokens, and each becomes an element made here, so nothing in a text is ever read
// as markup of the page: no HTML, no image of another host, no address that a browser would run.

import { element, visible } from "./dom.mjs";
import { markdownIt } from "./vendor/markdown-it.mjs";

/** A longer text is shown as it was written. */
const CHARACTERS_MAX = 200_000;
/** So far apart the brackets of a link to a page may stand, so that a text of open brackets is read in linear time. */
const LINK_CHARACTERS = 300;
const LEVEL_MAX = 6;
const ELEMENTS = { paragraph: "p", bullet_list: "ul", ordered_list: "ol", list_item: "li", blockquote: "blockquote", table: "table", thead: "thead", tbody: "tbody", tr: "tr", th: "th", td: "td", strong: "strong", em: "em", s: "s" };
const TASK = /^\[([ xX])\]\s/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const SAFE = /^(?:https?:\/\/|mailto:)/i;

const parser = markdownIt({ html: false, linkify: true, breaks: true });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.inline.ruler.before("link", "page", pageLink);

/** Read [[a page]] or [[a page|words]], also with ! in front. */
function pageLink(state, silent) {
  const { src, pos } = state;
  const from = pos + (src[pos] === "!" ? 3 : 2);
  if (!src.startsWith("[[", from - 2)) return false;
  const inner = src.slice(from, from + LINK_CHARACTERS).split("]]", 2);
  if (inner.length < 2 || inner[0].trim() === "" || /[[\n]/.test(inner[0])) return false;
  const [name, words] = inner[0].split("|", 2);
  if (!silent) Object.assign(state.push("page", "", 0), { content: (words ?? name).trim(), meta: name.split("#")[0].trim() || name });
  state.pos = from + inner[0].length + 2;
  return true;
}

/** Return an element that shows a text as Markdown. `linkTo` gives the address of a page by its name. */
export function rendered(text, linkTo) {
  const place = element("div", { class: "content markdown", dir: "auto" });
  if (text.length > CHARACTERS_MAX) place.append(...visible(text));
  else build(parser.parse(text, {}), place, { linkTo, level: 2 });
  place.classList.toggle("plain", text.length > CHARACTERS_MAX);
  return place;
}

function build(tokens, place, given) {
  const open = [place];
  for (const token of tokens) {
    const here = open.at(-1);
    if (token.type === "inline") {
      task(token, here);
      build(token.children, here, given);
    } else if (token.nesting === 1) open.push(token.hidden ? here : opened(token, here, given));
    else if (token.nesting === -1) open.pop();
    else here.append(...leaf(token, given));
  }
}

/** Put a box in place of the brackets of a task. */
function task({ content, children }, here) {
  const found = here.closest("li") === null ? null : TASK.exec(content);
  if (found === null) return;
  const isDone = found[1] !== " ";
  children[0].content = children[0].content.slice(found[0].length);
  here.closest("li").classList.add("task");
  here.append(element("span", { class: isDone ? "box done" : "box", role: "img", "aria-label": isDone ? "Done: " : "To do: " }));
}

function opened(token, here, given) {
  const name = token.type.slice(0, -"_open".length);
  let made;
  if (name === "heading") {
    // Levels follow each other, so that a heading can be found by ear.
    given.level = Math.min(given.level + 1, Number(token.tag[1]) + 2, LEVEL_MAX);
    made = element(`h${given.level}`, { class: `heading-${token.tag[1]}`, dir: "auto" });
  } else if (name === "link") made = linked(token.attrGet("href") ?? "", given);
  else made = element(ELEMENTS[name] ?? "span", { dir: ["p", "li", "th", "td"].includes(token.tag) ? "auto" : null, start: token.attrGet("start") });
  here.append(name === "table" ? element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Table" }, made) : made);
  return made;
}

/** Return a link: to another host only by its own press, to a page of the memory, or none. */
function linked(href, { linkTo }) {
  if (SAFE.test(href)) return element("a", { href, target: "_blank", rel: "noopener noreferrer", class: "outside" });
  return SCHEME.test(href) || href.startsWith("#") ? element("span") : element("a", { href: linkTo(unescaped(href.split("#")[0])) });
}

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function leaf(token, given) {
  const { type, content } = token;
  if (type === "softbreak" || type === "hardbreak") return [element("br")];
  if (type === "hr") return [element("hr")];
  if (type === "code_inline") return [element("code", {}, ...visible(content))];
  if (type === "fence" || type === "code_block") return [element("pre", { tabindex: "0" }, element("code", {}, ...visible(content.replace(/\n$/, ""))))];
  if (type === "page") return [element("a", { href: given.linkTo(token.meta), class: "inside" }, ...visible(content))];
  if (type !== "image") return visible(content);
  const link = linked(token.attrGet("src") ?? "", given);
  link.append("Picture", content === "" ? "" : ": ", ...visible(content));
  return [link];
}
