"""What tells a secret from what only looks like one: sums of digits, and how random a value is."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

PASSWORD_BITS: Final = 22.0
"""What a value given to `password` must hold at least, as `bits` estimates it."""

TOKEN_CHARS: Final = 16
TOKEN_BITS_PER_CHAR: Final = 3.3
"""What a value given to `token`, `secret` or a key must have: most words and names have less."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WORDS = re.compile(r"[A-Za-z]++[0-9]{0,4}+(?:[._/:-]++[A-Za-z]*+[0-9]{0,4}+)++|[A-Za-z]++")
_STANDS_FOR = re.compile(
    r"\[REDACTED:|[$<{%*]|\.\.\.|x{4}|your|example|placeholder|change-?me|dummy|[a-z][a-z0-9+.-]*(?:://|%3a)",
    re.IGNORECASE,
)

_IBAN_LENGTHS: Final = {
    country: int(length)
    for length, countries in {
        "15": "NO", "16": "BE", "18": "DK FI FO GL NL", "19": "MK SI", "20": "AT BA EE KZ LT LU XK",
        "21": "CH HR LI LV", "22": "BG BH CR DE GB GE IE ME RS VA", "23": "AE GI IL IQ TL",
        "24": "AD CZ ES MD PK SA SE SK TN VG", "25": "LY PT", "26": "IS TR", "27": "FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO GT HU LB PL SV", "29": "BR EG PS QA UA", "30": "JO KW MU", "31": "MT SC",
        "32": "LC",
    }.items()
    for country in countries.split()
}  # fmt: skip


def bits(value: str) -> float:
    """The Shannon entropy of the characters of `value`, all of them together."""
    size = len(value)
    return -sum(count * math.log2(count / size) for count in Counter(value).values())


def is_random(value: str) -> bool:
    """Whether a token is random enough not to be words: letters and digits, many different ones."""
    return _is_mixed(value) and not _WORDS.fullmatch(value) and bits(value) >= 3.0 * min(len(value), 64)


def is_password(value: str, *, bare: bool, strict: bool) -> bool:
    """Whether what is given to a name such as `password` is one.

    Args:
        value: as it stands, without quotes.
        bare: it stood without quotes, so it may be code.
        strict: the name is one such as `token` or `secret`, which are given much that is none.
    """
    if _STANDS_FOR.match(value) or not _is_mixed(value) or (bare and _WORDS.fullmatch(value)):
        return False
    if not strict:
        return bits(value) >= PASSWORD_BITS and value.count(" ") <= 2
    return (
        len(value) >= TOKEN_CHARS
        and " " not in value
        and not _UUID.fullmatch(value)
        and not _WORDS.fullmatch(value)
        and bits(value) >= TOKEN_BITS_PER_CHAR * min(len(value), 64)
    )


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_card(text: str) -> bool:
    """Whether digits, with spaces or hyphens between, are a payment card's: issuer and Luhn's sum."""
    digits = [int(character) for character in text if character.isdigit()]
    if len(set(digits)) < 2:
        return False
    first2, first4 = digits[0] * 10 + digits[1], int("".join(map(str, digits[:4])))
    known = {
        16: digits[0] == 4
        or 51 <= first2 <= 55
        or 2221 <= first4 <= 2720
        or first4 == 6011
        or 6440 <= first4 <= 6599
        or 3528 <= first4 <= 3589,
        15: first2 in (34, 37),
        14: first2 in (36, 38) or 3000 <= first4 <= 3059,
    }
    if not known.get(len(digits), False):
        return False
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def iban_end(text: str, start: int) -> int | None:
    """Where the IBAN that begins at `start` ends, spaces between groups of four allowed; None: it is none."""
    length = _IBAN_LENGTHS.get(text[start : start + 2])
    if length is None:
        return None
    kept: list[str] = []
    at = start
    while len(kept) < length:
        character = text[at : at + 1]
        at += 1
        if character == " " and kept and len(kept) % 4 == 0 and text[at - 2] != " ":
            continue
        if not (character.isascii() and (character.isdigit() or character.isupper())):
            return None
        kept.append(character)
    after = text[at : at + 1]
    if after.isascii() and after.isalnum():
        return None
    number = "".join(str(int(character, 36)) for character in kept[4:] + kept[:4])
    return at if int(number) % 97 == 1 else None
