"""Compare an edited page with the page as it was written, section by section.

Only the texts of atoms can be edited. Everything else on a page is generated: its beginning, the headings,
the properties and the order of the sections. An edited text is applied only if its beginning and its end are
certain: the headings before and after the text must be the same as on the page that was written, and each
heading must occur on the page only once.

The content of an atom is recovered from its block on the page, the inverse of `mirror_text.body`. A block
that could mean two contents is refused, because a wrong guess would change the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.files.mirror.mirror_pages import Page, Section
from engine.files.mirror.mirror_text import inline, snippet

_HEADING: Final = re.compile(r"^## \[([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\]", re.MULTILINE)

_OPENING: Final = re.compile(r"(`{3,})(text|escaped)[ \t]*")

_FENCE: Final = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")

_WRITTEN_OUT: Final = re.compile("\u27e8U\\+([0-9A-F]{4,6})\u27e9")


class Edit(NamedTuple):
    """A text that a person edited on a page."""

    atom: str
    before: str
    """The content when the page was written."""
    after: str


class Change(NamedTuple):
    """A change that a pull cannot record in the store."""

    atom: str
    """The id in the heading of the section, or an empty string if the change concerns the whole page."""
    reason: str


@dataclass(slots=True)
class PageEdits:
    """The changes on one page."""

    edits: list[Edit] = field(default_factory=list)
    refused: list[Change] = field(default_factory=list)


class _Found(NamedTuple):
    """A section of the edited page, from its heading to the next heading."""

    text: str
    following: str | None
    """The id in the next heading, or None at the end of the page."""


def read_edits(page: Page, data: bytes) -> PageEdits:
    """Return the differences between a page as it was written and the bytes of the edited page."""
    edits = PageEdits()
    try:
        text = _normal(data.decode())
    except UnicodeDecodeError as error:
        edits.refused.append(Change("", f"the page is not UTF-8 text: byte {error.start:,} is not valid"))
        return edits
    headings = _Headings(page, text)
    edits.refused += headings.refused
    for index, section in enumerate(page.sections):
        present = headings.sections.get(index)
        if present is not None:
            following = page.sections[index + 1].atom if index + 1 < len(page.sections) else None
            _compare(section, present, following, headings, edits)
    return edits


def _normal(text: str) -> str:
    """Return the text without a byte order mark, with LF as line end and exactly one LF at the end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n") + "\n"


class _Headings:
    """The sections of an edited page whose headings are certain."""

    def __init__(self, page: Page, text: str) -> None:
        self.refused: list[Change] = []
        self.sections: dict[int, _Found] = {}
        """The sections by their index on the page that was written."""
        wanted = _HEADING.findall(page.data.decode())
        self._matches = list(_HEADING.finditer(text))
        self._ids = [match[1] for match in self._matches]
        self.counts = Counter(self._ids)
        """The number of headings with each id on the edited page."""
        self.is_exact = self._ids == wanted
        """True if the page has the same headings as before, including headings that are parts of texts."""
        if self.is_exact:
            starts = self._real(page)
        elif len(wanted) > len(page.sections):
            self.refused.append(
                Change("", "headings were changed on a page with a text that contains such headings itself")
            )
            return
        else:
            starts = self._unique(page)
        self._cut(page, text, starts)

    def _real(self, page: Page) -> dict[int, int]:
        """Return the headings that begin sections, as index of the section → number of the heading."""
        starts, number = {}, 0
        for index, section in enumerate(page.sections):
            starts[index] = number
            number += len(_HEADING.findall(section.frame)) + len(_HEADING.findall(section.text))
        return starts

    def _unique(self, page: Page) -> dict[int, int]:
        numbers = {atom: number for number, atom in enumerate(self._ids) if self.counts[atom] == 1}
        atoms = {section.atom for section in page.sections}
        for atom in dict.fromkeys(self._ids):
            if self.counts[atom] > 1:
                self.refused.append(Change(atom, "the heading is on the page more than once"))
            elif atom not in atoms:
                self.refused.append(Change(atom, "the page had no section with this heading"))
        for section in page.sections:
            if section.atom not in self.counts:
                self.refused.append(Change(section.atom, "the section or its heading was removed or changed"))
        order = [atom for atom in self._ids if atom in atoms]
        if not self.refused and order != [section.atom for section in page.sections]:
            self.refused.append(Change("", "the sections were moved"))
        return {
            index: numbers[section.atom]
            for index, section in enumerate(page.sections)
            if section.atom in numbers
        }

    def _cut(self, page: Page, text: str, starts: dict[int, int]) -> None:
        first = self._matches[0].start() if self._matches else len(text)
        if text[:first] != page.head:
            self.refused.append(Change("", "the beginning of the page was changed"))
        real = sorted(starts.values()) if self.is_exact else list(range(len(self._matches)))
        after = dict(zip(real, [*real[1:], None], strict=False))
        for index, number in starts.items():
            following = after[number]
            end = len(text) if following is None else self._matches[following].start()
            self.sections[index] = _Found(
                text[self._matches[number].start() : end],
                None if following is None else self._ids[following],
            )


def _compare(
    section: Section, present: _Found, following: str | None, headings: _Headings, found: PageEdits
) -> None:
    """Add the difference between a section and its present text to `found`."""
    text, ends = _without_end(present, following)
    if text == section.frame + section.text:
        if not ends and present.following == following:
            found.refused.append(Change(section.atom, "the rule after the text was removed or changed"))
        return
    is_certain = ends and (headings.is_exact or following is None or headings.counts[following] == 1)
    try:
        content = _content(section, text, is_certain=is_certain)
    except UnclearBlockError as unclear:
        found.refused.append(Change(section.atom, str(unclear)))
        return
    if content != section.content:
        found.edits.append(Edit(section.atom, section.content or "", content))


def _content(section: Section, text: str, *, is_certain: bool) -> str:
    """Return the content in the changed text of a section.

    Raises:
        UnclearBlockError: Something else was changed, or the content is not clear.
    """
    if section.content is None:
        raise UnclearBlockError("the text is on another page; this page only refers to it")
    if text.rstrip() == section.frame.rstrip():
        raise UnclearBlockError(f"the text was deleted; `engine tombstone {section.atom}` hides the atom")
    heading, _, properties = section.frame.partition("\n")
    present = text.partition("\n")[0]
    if not text.startswith(f"{present}\n{properties}"):
        raise UnclearBlockError("the heading or the properties were changed")
    if not is_certain:
        raise UnclearBlockError("the end of the text is not clear, because the lines after it were changed")
    content = content_of(text.removeprefix(f"{present}\n{properties}"), section.text)
    if present != heading and not _follows(section, heading, section.content, present, content):
        raise UnclearBlockError("the heading or the properties were changed")
    return content


def _follows(section: Section, heading: str, before: str, present: str, after: str) -> bool:
    """Return True if the heading shows the beginning of the text, and both were changed in the same way."""
    return [heading, present] == [
        f"## [{section.atom}] {inline(snippet(None, text))}" for text in (before, after)
    ]


def _without_end(present: _Found, following: str | None) -> tuple[str, bool]:
    """Return a section without the rule or line break after it, and True if its end was not changed."""
    before_rule = _before_rule(present.text)
    if following is None and present.following is None:
        return present.text.removesuffix("\n"), True
    if before_rule is None:
        return present.text.rstrip("\n"), False
    return before_rule, present.following == following


def _before_rule(text: str) -> str | None:
    """Return the text before the rule that ends a section, or None if there is no rule."""
    lines = text.rstrip("\n")
    at = lines.rfind("\n")
    return lines[:at].rstrip("\n") if at >= 0 and lines[at + 1 :].rstrip(" \t") == "---" else None


class UnclearBlockError(ValueError):
    """Raised if the content of an edited block is not clear. The message is the reason."""


def content_of(block: str, was: str) -> str:
    """Return the content that an edited block represents.

    If a text is not in the fence, blank lines around the text are dropped. A text before or after the fence
    is a part of the content.

    Args:
        block: The lines between the properties of an atom and the end of its section.
        was: The block when the page was written.

    Raises:
        UnclearBlockError: The fence is incomplete, or its end is not clear.
    """
    lines, former = block.split("\n"), was.split("\n")
    fenced = _OPENING.fullmatch(former[0]) is not None
    opening = _opening(lines) if fenced else None
    if opening is None:
        if fenced and any(map(_FENCE.fullmatch, lines)) and not _is_complete(lines):
            raise UnclearBlockError("a line of the fence around the text is missing")
        return "\n".join(_trimmed(lines))
    at, fence, info = opening
    end = _closing(lines, at, fence, former[1:-1])
    before, inner, after = lines[:at], lines[at + 1 : end], lines[end + 1 :]
    if _trimmed(before):
        inner = [*_trimmed(before, end=False), *inner]
    if _trimmed(after):
        inner = [*inner, *_trimmed(after, start=False)]
    text = "\n".join(inner)
    return _WRITTEN_OUT.sub(_character, text) if info == "escaped" else text


def _opening(lines: Sequence[str]) -> tuple[int, str, str] | None:
    """Return the line that opens the fence around the content: its index, its backticks and its word."""
    for at, line in enumerate(lines):
        opening = _OPENING.fullmatch(line)
        if opening:
            if not _is_complete(lines[:at]):
                raise UnclearBlockError("a fence before the text is not closed")
            return at, opening[1], opening[2]
    return None


def _closing(lines: Sequence[str], at: int, fence: str, former: Sequence[str]) -> int:
    """Return the index of the line that closes the fence that line `at` opens.

    `former` contains the lines that were in the fence when the page was written.
    """
    closing = re.compile(rf" {{0,3}}`{{{len(fence)},}}[ \t]*")
    ends = [index for index in range(at + 1, len(lines)) if closing.fullmatch(lines[index])]
    if not ends:
        raise UnclearBlockError("the line that closes the fence around the text is missing")
    if len(ends) == 1:
        return ends[0]
    # The text has fences of its own. Either they are in the fence of the page, or they follow it.
    first, last = ends[0], ends[-1]
    is_around = not _trimmed(lines[last + 1 :]) and _is_complete(lines[at + 1 : last])
    is_before = not lines[first + 1].strip() and _is_complete(lines[first + 1 :])
    if is_before and (not is_around or list(lines[at + 1 : first]) == list(former)):
        return first
    if is_around and not is_before:
        return last
    raise UnclearBlockError(
        "the text has a fence like the fence around it; use more backticks for the fence around the text"
    )


def _is_complete(lines: Sequence[str]) -> bool:
    """Return True if these lines close every fence that they open."""
    opened = ""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is None:
            continue
        mark = fence[1] or fence[2]
        if not opened:
            opened = mark
        elif mark.startswith(opened) and line.strip(" \t") == mark:
            opened = ""
    return not opened


def _trimmed(lines: Sequence[str], *, start: bool = True, end: bool = True) -> list[str]:
    """Return the lines without the blank lines at the start and at the end."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if not filled:
        return []
    return list(lines[filled[0] if start else 0 : filled[-1] + 1 if end else len(lines)])


def _character(found: re.Match[str]) -> str:
    point = int(found[1], 16)
    return found[0] if point > 0x10FFFF or 0xD800 <= point < 0xE000 else chr(point)
