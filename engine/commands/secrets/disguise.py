"""Other forms of a text, in which a disguised secret is visible.

Positions in a form can be mapped to positions in the text.

A secret may contain invisible characters, or characters that only look like ASCII. It may be divided by line
breaks, quotes or spaces. Both forms take time linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from functools import cache
from typing import NamedTuple


class Looked(NamedTuple):
    """A form of a text.

    For each character of the form, `positions` has the position in the text. None means the same positions.
    """

    text: str
    positions: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the part of the original text that corresponds to this part of the form."""
        if self.positions is None:
            return start, end
        return self.positions[start], self.positions[end - 1] + 1


_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)

_LETTERS = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХҮЗаеіјорсухѕһԁԛԝӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαιυν" + "ıɑɡ",
        "ABESIJKMHOPCTYXY3aeijopcyxshdqwl" + "ABEZHIKMNOPTYXoaiuv" + "iag",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like ASCII letters, and the letters that they look like."""

_DASHES = "\u2010-\u2015\u2212\ufe58\ufe63"
_SPACES = "\u00a0\u2000-\u200a\u202f\u205f\u3000"
_COMPATIBLE = (
    "\uff01-\uff5e\u2460-\u249b\u24b6-\u24ea\U0001d400-\U0001d7ff\U0001f130-\U0001f149\U0001fbf0-\U0001fbf9"
)
_DIGITS = "\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59"

_HIDDEN = re.compile(f"[{_INVISIBLE}]+")
_ODD = re.compile(f"[{_INVISIBLE}{''.join(_LETTERS)}{_DASHES}{_SPACES}{_COMPATIBLE}{_DIGITS}]")


def folded(text: str) -> Looked | None:
    """Return the text without invisible characters, and with ASCII characters in place of look-alikes.

    Returns None if the text has neither invisible characters nor look-alikes.
    """
    if text.isascii() or not _ODD.search(text):
        return None
    looked = _ODD.sub(_fold, text)
    positions, done = list[int](), 0
    for hidden in _HIDDEN.finditer(looked):
        positions += range(done, hidden.start())
        done = hidden.end()
    if not done:
        return Looked(looked)
    positions += range(done, len(looked))
    return Looked(_HIDDEN.sub("", looked), positions)


def _fold(match: re.Match[str]) -> str:
    return _folded_character(match[0])


@cache
def _folded_character(character: str) -> str:
    """Return the one character that `character` looks like, or `character` itself if it is invisible."""
    if _HIDDEN.match(character):
        return character
    if character in _LETTERS:
        return _LETTERS[character]
    category = unicodedata.category(character)
    if category == "Pd" or character == "\u2212":
        return "-"
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.digit(character))
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain.isascii() else character


_RUN_CHARS = "0-9A-Za-z_.:+/=~-"
_JOINT = re.compile(
    r"(?:[\"'`][ \t]{0,4}[+.,&\\]?[ \t]{0,4}(?:\r?\n)?[ \t]{0,8}[+.&]?[ \t]{0,4}[\"'`]"
    r"|[ \t]{0,4}\\?\r?\n[ \t>#*|]{0,16}|(?P<space>[ \t]{1,4})"
    rf")(?P<piece>[0-9A-Za-z_+/-][{_RUN_CHARS}]{{1,255}}+)(?P<alone>(?=[ \t\"'`|)\\]{{0,4}}(?:\r?\n|\Z)))?",
    re.ASCII,
)
_LINE_BEFORE = re.compile(r"(?P<piece>[0-9a-f]{8,64})[ \t]{0,4}\r?\n[ \t>#*|]{0,16}\Z")
"""A piece of a token whose literal is at its end."""

_RUN = re.compile(rf"[{_RUN_CHARS}]{{0,256}}+", re.ASCII)
_WORD = re.compile(r"[A-Za-z]?[a-z]+[.:]?")

JOINTS_MAX = 24
"""The maximum number of places at which one token may be divided."""


def pieces_after(text: str, end: int, *, spaced: bool) -> Iterator[tuple[int, int]]:
    """Yield the positions of the further pieces of a token whose first piece ends at `end`.

    A piece follows a line break or a pair of quotes or, with `spaced`, a space. It has letters and digits, or
    is the only text of its line and not a word.
    """
    for _ in range(JOINTS_MAX):
        joint = _JOINT.match(text, end)
        if joint is None or (joint["space"] and not spaced):
            return
        piece = joint["piece"]
        mixed = any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))
        if not mixed and (joint["alone"] is None or _WORD.fullmatch(piece)):
            return
        end = joint.end("piece")
        yield joint.span("piece")


def joined(looked: Looked, literals: Iterable[str], ends: Container[int]) -> Iterator[Looked]:
    """Yield the tokens around `literals` that are divided in the text.

    Each form contains one whole token, and text that directly precedes it. A token that ends at one of `ends`
    was found; it is not continued after a space.
    """
    text = looked.text
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            end = _end_of_run(text, at + len(literal))
            start = at - _end_of_run(text[max(0, at - 64) : at][::-1], 0)
            line = _LINE_BEFORE.search(text, max(0, start - 80), start)
            pieces = [line.span("piece")] if line else []
            pieces += [(start, end), *pieces_after(text, end, spaced=end not in ends)]
            if len(pieces) > 1:
                positions = [here for piece in pieces for here in range(*piece)]
                origin = positions if looked.positions is None else [looked.positions[at] for at in positions]
                yield Looked("".join([text[here] for here in positions]), origin)
                end = positions[-1] + 1
            at = text.find(literal, end)


def _end_of_run(text: str, at: int) -> int:
    match = _RUN.match(text, at)
    return at if match is None else match.end()
