"""Format text for a page so that it is readable, exact, and never parsed as part of the page's structure.

The content of an atom is data. Plain prose is written as it is. Any other content is put into a fence that is
longer than all fences in it. Invisible characters, and characters that change the writing direction, are
written as their code points: `⟨U+202E⟩`.
"""

from __future__ import annotations

import re
from typing import Final

SNIPPET_CHARS: Final = 80
_SNIPPET_SOURCE_CHARS: Final = 400

_INVISIBLE_CLASS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
_INVISIBLE: Final = re.compile(f"[{_INVISIBLE_CLASS}]")
_ESCAPED: Final = re.compile(f"[{_INVISIBLE_CLASS}\u27e8]")
_ESCAPED_IN_LINE: Final = re.compile(f"[\t\n{_INVISIBLE_CLASS}\u27e8]|^ | $")
_MARKUP: Final = re.compile(r"[\\`*\[\]<>#|~^&]|%(?=%)|\$(?=\$)|=(?==)|\{(?=[{%])|_(?=_)")
_NOT_IN_ALIAS: Final = re.compile(r"[\\`*\[\]<>#|~^&%$={}]")
_BACKTICKS: Final = re.compile("`+")

# Everything that could begin a block, a tag, a link, HTML, an entity, a comment or a formula, and white space
# at the ends of lines, which editors strip. Each alternative has a bounded length, so matching is linear.
_NOT_PROSE: Final = re.compile(
    r"[\t<\[\]#^]|%%|\$\$|==|\{[{%]|&#?[0-9A-Za-z]{1,40};"
    r"|^(?:[^\S\n]|[-+*_=>`~:|]|[0-9]{1,9}[.)])"
    r"|[^\S\n]$",
    re.MULTILINE,
)


def make_visible(text: str) -> str:
    """Return `text` with invisible characters escaped, except line breaks and tabs; this is reversible."""
    return _ESCAPED.sub(_code_point, text)


def inline(text: str, also: str = "") -> str:
    """Return `text` on one line, with backslashes before Markdown characters; this is reversible.

    `also` is a further character to escape with a backslash.
    """
    line = _MARKUP.sub(r"\\\g<0>", _ESCAPED_IN_LINE.sub(_code_point, text))
    return line.replace(also, "\\" + also) if also else line


def snippet(title: str | None, content: str) -> str:
    """Return the title, or the beginning of the content, on one line of at most 80 characters, unescaped."""
    text = " ".join((title or "").split()) or " ".join(content[:_SNIPPET_SOURCE_CHARS].split())
    if len(text) <= SNIPPET_CHARS:
        return text
    cut = text[: SNIPPET_CHARS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[SNIPPET_CHARS // 2 :] else cut) + "…"


def alias(text: str) -> str:
    """Return `text` without markup, for the name in an Obsidian link, in which backslashes do not escape."""
    return " ".join(_NOT_IN_ALIAS.sub(" ", _ESCAPED_IN_LINE.sub(_code_point, text)).split()) or "…"


def body(content: str) -> str:
    """Return the content as a Markdown block from which the exact content can be recovered.

    Plain prose is returned unchanged. Other content is fenced as `text`, or as `escaped` if it has characters
    that must be escaped.
    """
    if _INVISIBLE.search(content):
        return _fenced("escaped", make_visible(content))
    if content == content.strip() and not _NOT_PROSE.search(content):
        return content
    return _fenced("text", content)


def _fenced(info: str, text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}{info}\n{text}\n{fence}"


def yaml(text: str) -> str:
    """Return `text` as a double-quoted YAML scalar on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _ESCAPED_IN_LINE.sub(_yaml_escape, escaped) + '"'


def _yaml_escape(found: re.Match[str]) -> str:
    return found[0] if found[0] in {" ", "\u27e8"} else f"\\U{ord(found[0]):08X}"


def _code_point(found: re.Match[str]) -> str:
    return f"\u27e8U+{ord(found[0]):04X}\u27e9"
