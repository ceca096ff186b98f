"""Text as it may stand in a page: readable, exact, and nothing in it taken for the page's own structure.

What an atom says is data. It stands as it is where it is plain prose, and else in a fence longer than any in
it; characters that nobody sees, or that turn what follows, are written out as `⟨U+202E⟩`.
"""

from __future__ import annotations

import re
from typing import Final

SNIPPET_CHARS: Final = 80
_LOOK_CHARS: Final = 400

_UNSEEN_CLASS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
_UNSEEN: Final = re.compile(f"[{_UNSEEN_CLASS}]")
_WRITTEN_OUT: Final = re.compile(f"[{_UNSEEN_CLASS}\u27e8]")
_WRITTEN_OUT_IN_LINE: Final = re.compile(f"[\t\n{_UNSEEN_CLASS}\u27e8]|^ | $")
_MARKUP: Final = re.compile(r"[\\`*\[\]<>#|~^&]|%(?=%)|\$(?=\$)|=(?==)|\{(?=[{%])|_(?=_)")
_NO_ALIAS: Final = re.compile(r"[\\`*\[\]<>#|~^&%$={}]")
_BACKTICKS: Final = re.compile("`+")

# Everything that could begin a block, a tag, a link, HTML, an entity, a comment or a formula; white space at
# the ends of lines, which editors strip. Each part looks at a bounded stretch: linear in the text.
_NO_PROSE: Final = re.compile(
    r"[\t<\[\]#^]|%%|\$\$|==|\{[{%]|&#?[0-9A-Za-z]{1,40};"
    r"|^(?:[^\S\n]|[-+*_=>`~:|]|[0-9]{1,9}[.)])"
    r"|[^\S\n]$",
    re.MULTILINE,
)


def seen(text: str) -> str:
    """`text` with what nobody sees written out, line breaks and tabs excepted; it can be read back."""
    return _WRITTEN_OUT.sub(_code_point, text)


def inline(text: str, also: str = "") -> str:
    """`text` on one line, as itself in Markdown: exact, once the backslashes before signs are taken off.

    `also` is one more sign to put a backslash before.
    """
    line = _MARKUP.sub(r"\\\g<0>", _WRITTEN_OUT_IN_LINE.sub(_code_point, text))
    return line.replace(also, "\\" + also) if also else line


def snippet(title: str | None, content: str) -> str:
    """The title, or the beginning of the content, in at most 80 characters on one line; not marked up yet."""
    text = " ".join((title or "").split()) or " ".join(content[:_LOOK_CHARS].split())
    if len(text) <= SNIPPET_CHARS:
        return text
    cut = text[: SNIPPET_CHARS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[SNIPPET_CHARS // 2 :] else cut) + "…"


def alias(text: str) -> str:
    """`text` as the name of a link, where no backslash helps: signs that mean something are left out."""
    return " ".join(_NO_ALIAS.sub(" ", _WRITTEN_OUT_IN_LINE.sub(_code_point, text)).split()) or "…"


def body(content: str) -> str:
    """A content as a block of its own that reads back exactly.

    Plain prose is itself. All else is fenced, as `text`, or as `escaped` where characters are written out.
    """
    if _UNSEEN.search(content):
        return _fenced("escaped", seen(content))
    if content == content.strip() and not _NO_PROSE.search(content):
        return content
    return _fenced("text", content)


def _fenced(info: str, text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}{info}\n{text}\n{fence}"


def yaml(text: str) -> str:
    """`text` as a double-quoted scalar of YAML, on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _WRITTEN_OUT_IN_LINE.sub(_yaml_escape, escaped) + '"'


def _yaml_escape(found: re.Match[str]) -> str:
    return found[0] if found[0] in {" ", "\u27e8"} else f"\\U{ord(found[0]):08X}"


def _code_point(found: re.Match[str]) -> str:
    return f"\u27e8U+{ord(found[0]):04X}\u27e9"
