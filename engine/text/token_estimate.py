"""An estimate of the number of tokens of a text in a language model, without a vocabulary."""

from __future__ import annotations

import re

from engine.base.native import NATIVE

_UNITS = re.compile(r"[A-Z]?[a-z]{1,6}|[A-Z]{1,3}|[0-9]{1,2}|[\t\n\r\x0b\x0c ]{2,16}|\n|[!-/:-@\[-`{-~]")
"""A pattern for one token of ASCII text. A token is up to six letters of a word (up to three if they are
capitals), up to two digits, 2 to 16 characters of white space, one line break, or one punctuation mark."""

_CYRILLIC_LEADS = bytes(range(0xD0, 0xD4))
_TWO_BYTE_LEADS = bytes([*range(0xC2, 0xD0), *range(0xD4, 0xE0)])
_THREE_BYTE_LEADS = bytes(range(0xE0, 0xF0))
_FOUR_BYTE_LEADS = bytes(range(0xF0, 0xF5))


def estimate_tokens(text: str) -> int:
    """Return an estimate of the number of tokens of `text`, meant to be too high rather than too low.

    The estimate is never far below the count of a byte-pair tokenizer, so it can be used to fit a text into
    a budget. It does not equal the count of any tokenizer.

    For a word of English prose with its punctuation, common vocabularies (cl100k and later) use about 1.3
    tokens. This estimate, with one token for every six letters and for every mark, is about 1.45. Strings
    that are in no vocabulary (hashes, base64) switch between capitals, lower-case letters and digits every
    few characters, and each switch begins a new token. Outside ASCII a token is seldom more than one
    character: the estimate is 0.6 for a Cyrillic letter, 1 for any other two-byte character, 1.5 for a
    three-byte character (CJK, Indic, Thai) and 3 for a four-byte character (emoji).

    A lone surrogate counts as a three-byte character. The result is 0 for the empty text and for one space,
    and at most 3 per character. The time is linear in the length of the text.
    """
    estimate = None if NATIVE is None else NATIVE.estimate_tokens(text)
    return _estimate(text) if estimate is None else estimate


def _estimate(text: str) -> int:
    """Return the same as `estimate_tokens`."""
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
    """Return the number of bytes in `raw` that also occur in `leads`."""
    return len(raw) - len(raw.translate(None, leads))
