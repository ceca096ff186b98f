"""Detectors of secrets, one for each kind of secret.

For every text, matching a pattern takes time linear in the length of the text. To ensure this, each pattern
begins with a literal, or matches only at the start of a run of matching characters. Its repeats are
possessive (without backtracking) or bounded by a small number. If a pattern alone is not specific enough, a
checksum or the entropy of the value is also checked.

Sources of the formats: the issuers' own pages on their tokens; RFC 7519 (JWT), RFC 6750 (bearer), RFC 7617
(basic), RFC 7468 (PEM), RFC 3986 (URLs), ISO/IEC 7812 (card numbers), ISO 13616 (IBAN).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.commands.secrets.api_keys import API_KEYS
from engine.commands.secrets.assigned_values import ASSIGNED_VALUES
from engine.commands.secrets.detector import Detector, Span, matching
from engine.commands.secrets.private_keys import LITERALS, private_keys

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


def is_card(text: str) -> bool:
    """Return True if the digits form a payment card number with a known issuer and a right Luhn checksum.

    Spaces and hyphens between the digits are ignored.
    """
    digits = [int(character) for character in text if character.isdigit()]
    if len(set(digits)) < 2:
        return False
    first2, first4 = digits[0] * 10 + digits[1], int("".join(map(str, digits[:4])))
    networks = {
        16: digits[0] == 4
        or 51 <= first2 <= 55
        or 2221 <= first4 <= 2720
        or first4 == 6011
        or 6440 <= first4 <= 6599
        or 3528 <= first4 <= 3589,
        15: first2 in (34, 37),
        14: first2 in (36, 38) or 3000 <= first4 <= 3059,
    }
    if not networks.get(len(digits), False):
        return False
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def iban_end(text: str, start: int) -> int | None:
    """Return the end of the IBAN that begins at `start`, or None if no IBAN begins there.

    Single spaces between groups of four characters are allowed.
    """
    length = _IBAN_LENGTHS.get(text[start : start + 2])
    if length is None:
        return None
    characters: list[str] = []
    at = start
    while len(characters) < length:
        character = text[at : at + 1]
        at += 1
        if character == " " and characters and len(characters) % 4 == 0 and text[at - 2] != " ":
            continue
        if not (character.isascii() and (character.isdigit() or character.isupper())):
            return None
        characters.append(character)
    after = text[at : at + 1]
    if after.isascii() and after.isalnum():
        return None
    number = "".join(str(int(character, 36)) for character in characters[4:] + characters[:4])
    return at if int(number) % 97 == 1 else None


# The place before the number is looked at last, so that most characters are skipped at once.
_IBAN_START = re.compile(r"[A-Z][A-Z][0-9]{2}(?=[ ]?[0-9A-Z])(?<![0-9A-Za-z].{4})", re.ASCII | re.DOTALL)


def _ibans(text: str) -> Iterator[Span]:
    for match in _IBAN_START.finditer(text):
        end = iban_end(text, match.start())
        if end is not None:
            yield match.start(), end


_CARD = (
    r"[2-6](?<![0-9A-Za-z._+-].)(?:[0-9]{3}([ ._/-]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}"
    r"|(?<=3)[47][0-9]{2}([ ._/-]?)[0-9]{6}\2[0-9]{5}|(?<=3)[068][0-9]{2}([ ._/-]?)[0-9]{6}\3[0-9]{4})"
    r"(?![0-9A-Za-z_-]|\.[0-9])"
)


DETECTORS: Final[tuple[Detector, ...]] = (
    Detector("private-key", private_keys, literals=LITERALS),
    *API_KEYS,
    *ASSIGNED_VALUES,
    matching("credit-card", _CARD, *"23456", check=lambda match: is_card(match[0])),
    Detector("iban", _ibans),
    matching(
        "email",
        r"(?<![0-9A-Za-z._%+-])[0-9A-Za-z._%+-]{1,64}+@[0-9A-Za-z-]{1,63}+(?:\.[0-9A-Za-z-]{1,63}+){1,8}+",
        "@",
        usual=False,
    ),
    matching(
        "phone",
        r"(?<![0-9A-Za-z.+-])\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{2,4}"
        r"(?:[ .-]?[0-9]{2,4}){1,4}(?![0-9])",
        "+",
        usual=False,
    ),
)
"""All built-in detectors. If two of them match at the same position, the first of the two is used."""
