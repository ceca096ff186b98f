"""Other forms of a text, in which a disguised secret is visible.

Positions in a form can be mapped to positions in the text.

A secret may contain invisible characters, or characters that only look like ASCII. It may be divided by line
breaks, quotes or spaces. Both forms take time linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
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


_BEGINNINGS = (
    *("AKIA", "ASIA", "ABIA", "ACCA", "AIza", "GOCSPX-", "ya29.", "xapp-"),
    *("mr_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
    *("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"),
    *("sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
)
"""A token that begins with one of these strings is also found if it is divided."""

_BEGINNING = re.compile("(?<![0-9A-Za-z])(?:" + "|".join(map(re.escape, _BEGINNINGS)) + ")", re.ASCII)

_JOINT = re.compile(
    r"(?:[\"'`][ \t]{0,4}[+.,&\\]?[ \t]{0,4}(?:\r?\n)?[ \t]{0,8}[+.&]?[ \t]{0,4}[\"'`]"
    r"|[ \t]{0,4}\\?\r?\n[ \t>#*|]{0,16}|[ \t]{1,4}"
    r")(?=(?P<next>[0-9A-Za-z_-]{2,128}))",
    re.ASCII,
)

_RUN = re.compile(r"[0-9A-Za-z_.-]{0,256}", re.ASCII)

JOINTS_MAX = 24
"""The maximum number of places at which one token may be divided."""


def joined(looked: Looked) -> Iterator[Looked]:
    """Yield the tokens of known issuers that are divided in the text.

    Each form contains one whole token and nothing else. A piece after a line break, a space or a pair of
    quotes belongs to the token if the piece has letters and digits.
    """
    text = looked.text
    for beginning in _BEGINNING.finditer(text):
        positions = list(range(beginning.start(), _end_of_run(text, beginning.end())))
        for _ in range(JOINTS_MAX):
            at = positions[-1] + 1
            joint = _JOINT.match(text, at)
            if joint is None or not _is_piece(joint["next"]):
                break
            positions += range(joint.end(), _end_of_run(text, joint.end()))
        else:
            continue
        if positions[-1] - positions[0] >= len(positions):
            origin = positions if looked.positions is None else [looked.positions[at] for at in positions]
            yield Looked("".join([text[at] for at in positions]), origin)


def _end_of_run(text: str, at: int) -> int:
    match = _RUN.match(text, at)
    return at if match is None else match.end()


def _is_piece(piece: str) -> bool:
    return any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))
