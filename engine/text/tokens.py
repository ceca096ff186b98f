"""How many tokens a text costs a language model, estimated without a vocabulary."""

from __future__ import annotations

import re

_UNITS = re.compile(r"[A-Z]?[a-z]{1,6}|[A-Z]{1,3}|[0-9]{1,2}|[\t\n\r\x0b\x0c ]{2,16}|\n|[!-/:-@\[-`{-~]")
"""One match, one token: at most a few letters of one word, two digits, one mark, one indentation."""

_CYRILLIC_LEADS = bytes(range(0xD0, 0xD4))
_TWO_BYTE_LEADS = bytes([*range(0xC2, 0xD0), *range(0xD4, 0xE0)])
_THREE_BYTE_LEADS = bytes(range(0xE0, 0xF0))
_FOUR_BYTE_LEADS = bytes(range(0xF0, 0xF5))


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` costs; meant to err upwards, never far below a byte-pair tokenizer.

    Common vocabularies (cl100k and later) give English prose about 1.3 tokens a word with its
    punctuation; counting one for every six letters and for every mark gives about 1.45. Runs that
    no vocabulary holds (hashes, base64) change case and kind every few characters, and so do the
    counted units. Outside ASCII a token is seldom more than one character: 0.6 a Cyrillic letter,
    1 any other two-byte character, 1.5 a three-byte one (CJK, Indic, Thai), 3 a four-byte one
    (emoji). An answer that promises to fit a budget may rely on it; equality with some tokenizer
    may not be relied on.

    A lone surrogate counts as a three-byte character. The answer is 0 for the empty text or one space,
    and never more than 3 a character. Time is linear.
    """
    units = len(_UNITS.findall(text))
    if text.isascii():
        return units
    raw = text.encode("utf-8", "surrogatepass")
    tenths = (
        6 * _count(raw, _CYRILLIC_LEADS)
        + 10 * _count(raw, _TWO_BYTE_LEADS)
        + 15 * _count(raw, _THREE_BYTE_LEADS)
        + 30 * _count(raw, _FOUR_BYTE_LEADS)
    )
    return units + (tenths + 9) // 10


def _count(raw: bytes, leads: bytes) -> int:
    """How many bytes of `raw` are among `leads`."""
    return len(raw) - len(raw.translate(None, leads))
