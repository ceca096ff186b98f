"""Detectors of secrets, one for each kind of secret.

For every text, matching a pattern takes time linear in the length of the text. To ensure this, each pattern
begins with a literal, or matches only at the start of a run of matching characters. Its repeats are
possessive (without backtracking) or bounded by a small number. If a pattern alone is not specific enough, a
checksum or the entropy of the value is also checked.

Sources of the formats: the issuers' own pages on their tokens; RFC 7519 (JWT), RFC 6750 (bearer), RFC 7617
(basic), RFC 7468 (PEM), RFC 3986 (URLs), ISO/IEC 7812 (card numbers), ISO 13616 (IBAN).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

PASSWORD_BITS: Final = 22.0
"""The minimum entropy in bits, as `bits` estimates it, of a value assigned to a name like `password`."""

TOKEN_CHARS: Final = 16
TOKEN_BITS_PER_CHAR: Final = 3.3
"""The minimum entropy, in bits per character, of a value that is assigned to `token`, `secret` or a key.

Most words and names have a lower entropy. The value must also have at least TOKEN_CHARS characters, or look
like a short token.
"""

SHORT_TOKEN_CHARS: Final = 12
SHORT_TOKEN_BITS_PER_CHAR: Final = 2.8
SHORT_TOKEN_CHANGES: Final = 3
"""The minimum number of places in a short token at which capitals, small letters, digits and other characters
follow each other. In `production2024`, there is only one.

Measured: in 7,780 texts of notes and chats, no value is taken for a short token. Of random values of 12
letters and digits, 88 % are found.
"""

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
    """Return the Shannon entropy of `value` in bits, summed over its characters."""
    size = len(value)
    return -sum(count * math.log2(count / size) for count in Counter(value).values())


def is_random(value: str) -> bool:
    """Return True if a token has letters and digits, many of them distinct, so that it looks random."""
    return _is_mixed(value) and not _WORDS.fullmatch(value) and bits(value) >= 3.0 * min(len(value), 64)


def is_password(value: str, *, bare: bool, strict: bool) -> bool:
    """Return True if the value assigned to a name such as `password` looks like a password.

    Args:
        value: The assigned value.
        bare: True if the value has no quotes, so that it may be program code.
        strict: True for a name such as `token` or `secret`. The value must then look more random, because
            values that are not passwords are often assigned to such names, too.
    """
    if _STANDS_FOR.match(value) or not _is_mixed(value) or (bare and _WORDS.fullmatch(value)):
        return False
    if not strict:
        return bits(value) >= PASSWORD_BITS and value.count(" ") <= 2
    if " " in value or _UUID.fullmatch(value) or _WORDS.fullmatch(value):
        return False
    if len(value) < TOKEN_CHARS:
        return _is_short_token(value)
    return bits(value) >= TOKEN_BITS_PER_CHAR * min(len(value), 64)


def _is_short_token(value: str) -> bool:
    kinds = [(one.isdigit(), one.isupper(), one.islower()) for one in value]
    return (
        len(value) >= SHORT_TOKEN_CHARS
        and bits(value) >= SHORT_TOKEN_BITS_PER_CHAR * len(value)
        and sum(before != after for before, after in pairwise(kinds)) >= SHORT_TOKEN_CHANGES
    )


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_card(text: str) -> bool:
    """Return True if the digits form a payment card number with a known issuer and a right Luhn checksum.

    Spaces and hyphens between the digits are ignored.
    """
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


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector for one kind of secret."""

    kind: str
    """The name of the kind, which is part of the label that replaces a secret: `[REDACTED:kind]`."""
    find: Callable[[str], Iterator[Span]]
    """A function that yields the position (start and end) of each secret in a text, in order."""
    usual: bool = True
    """True if policies use the detector by default; False if a policy must name the kind to use it."""
    literals: tuple[str, ...] = ()
    """Every text with such a secret contains at least one of these strings. Empty if none are known."""
    any_case: bool = False
    """True if `literals` are in lower case and are compared without case."""
    issued: bool = False
    """True if the secret is one token that begins with one of `literals`."""

    def may_be_in(self, text: str) -> bool:
        """Return False if the text cannot contain such a secret. This is much faster than `find`."""
        if not self.literals:
            return True
        looked = text.lower() if self.any_case else text
        for literal in self.literals:  # noqa: SIM110  any() with a generator takes twice the time
            if literal in looked:
                return True
        return False


def _matching(
    kind: str,
    pattern: str,
    *literals: str,
    check: Callable[[re.Match[str]], bool] | None = None,
    flags: re.RegexFlag = re.NOFLAG,
    usual: bool = True,
    issued: bool = False,
) -> Detector:
    """Return a detector for texts that match `pattern` and are accepted by `check`.

    The secret is the group `secret` of a match or, if the pattern has no such group, the whole match. Every
    text that matches the pattern contains at least one of `literals`.
    """
    compiled = re.compile(pattern, re.ASCII | flags)
    has_group = "secret" in compiled.groupindex

    def find(text: str) -> Iterator[Span]:
        for match in compiled.finditer(text):
            if check is None or check(match):
                yield match.span("secret" if has_group and match["secret"] else 0)

    return Detector(kind, find, usual, literals, any_case=bool(flags & re.IGNORECASE), issued=issued)


BODY_CHARS_MIN: Final = 40
"""The minimum number of base64 characters in a private key block. With fewer characters, the text probably
only mentions such blocks."""

BLOCK_CHARS_MAX: Final = 32_768

# SSH2 (RFC 4716) has four hyphens and a space.
_BEGIN = re.compile(r"-----?(?:-| )BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?(?: |-)-----?", re.ASCII)
_END = re.compile(r"-----?(?:-| )END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?(?: |-)-----?", re.ASCII)
_BASE64 = re.compile(r"[0-9A-Za-z+/]{16,}+=*+", re.ASCII)
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\n]{0,128}+"
# The base64 text may be quoted: as an e-mail (`> `), with line numbers, or as strings of a program.
_SEPARATOR = r"""\s|\\[nr]|[>|"'`,;+]|[0-9]{1,5}+[ \t:|]"""
_BODY = re.compile(rf"(?:[0-9A-Za-z+/]{{16,}}+=*+|{_HEADER}|{_SEPARATOR})*+", re.ASCII)
_BODIES = re.compile(rf"(?:[0-9A-Za-z+/]{{16,}}+=*+|{_SEPARATOR})++", re.ASCII)


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of private key blocks. A block without an end marker ends after its base64 text."""
    if "PRIVATE KEY" not in text:
        return
    begins = list(_BEGIN.finditer(text))
    ends = list(_END.finditer(text))
    closings = [match.end() for match in ends]
    done = 0
    for index, begin in enumerate(begins):
        following = begins[index + 1].start() if index + 1 < len(begins) else len(text)
        at = bisect_left(closings, begin.end())
        body = _BODY.match(text, begin.end())
        end = body.end() if body else begin.end()
        if at < len(closings) and closings[at] <= min(following, begin.start() + BLOCK_CHARS_MAX):
            end = closings[at]
        if _base64_chars(text, begin.end(), end) >= BODY_CHARS_MIN:
            yield begin.start(), end
    before = [match.start() for match in begins]
    for closing in ends:
        # This block began in an earlier piece of the text.
        at = bisect_left(before, closing.start())
        start = _body_before(text, closing.start(), max(done, before[at - 1] if at else 0))
        done = closing.end()
        if _base64_chars(text, start, closing.start()) >= BODY_CHARS_MIN:
            yield start, closing.end()


def _base64_chars(text: str, start: int, end: int) -> int:
    return sum(len(found[0]) for found in _BASE64.finditer(text, start, end))


def _body_before(text: str, end: int, least: int) -> int:
    """Return the start of the base64 text directly before `end`, or `end`. It is not before `least`."""
    for body in _BODIES.finditer(text, least, end):
        if body.end() == end:
            first = _BASE64.search(text, body.start(), end)
            return first.start() if first else end
    return end


_KEYS_OF_PASSWORDS = (
    r"pass(?:word|wd|phrase|code|wort)|pwd|(?<![0-9a-z])pass(?![0-9a-z])|(?<=[_-])pass(?![0-9a-z])"
)
_OTHER_KEYS = r"secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|credential"
_VALUE = r"""(?:"(?P<double>[^"\n]{8,}+)"|'(?P<single>[^'\n]{8,}+)'|(?P<bare>[^\s"'`,;<>(){}\[\]|]{8,}+))"""
_ASSIGNED = (
    rf"(?P<key>{_KEYS_OF_PASSWORDS}|{_OTHER_KEYS})[a-z0-9_-]{{0,24}}[\"'`]?[ \t]{{0,8}}"
    rf"(?:=>|:=|==?|:)[ \t]{{0,8}}{_VALUE}"
)


def _assignments(text: str) -> Iterator[Span]:
    """Yield the positions of random-looking values that are assigned to a name like `password`."""
    lowered = text.lower()
    if not any(key in lowered for key in ("pass", "pwd", "secret", "token", "key", "credential")):
        return
    for match in _ASSIGNMENT.finditer(text):
        group = next(name for name in ("double", "single", "bare") if match[name] is not None)
        strict = re.match(_KEYS_OF_PASSWORDS, match["key"], re.IGNORECASE) is None
        if not _PLACE.match(match[group]) and is_password(match[group], bare=group == "bare", strict=strict):
            yield match.span(group)


_PLACE = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:\\\\?|ISBN", re.IGNORECASE)
"""A pattern for the beginning of a path or an ISBN. If an assigned value begins like this, it is not a
secret: `pwd` often means a folder."""

_ASSIGNMENT = re.compile(_ASSIGNED, re.IGNORECASE | re.ASCII)

_IBAN_START = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?=[ ]?[0-9A-Z])", re.ASCII)


def _ibans(text: str) -> Iterator[Span]:
    for match in _IBAN_START.finditer(text):
        end = iban_end(text, match.start())
        if end is not None:
            yield match.start(), end


_AFTER_WORD = r"(?<![0-9A-Za-z])"
_GLUED = r"(?<![0-9A-Za-z+/_-]{24})"
"""Matches before a token. The token may follow a word without a space, but not a long run of base64."""
_CARD = (
    r"(?<![0-9A-Za-z._+-])(?:[2-6][0-9]{3}([ ._/-]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}"
    r"|3[47][0-9]{2}([ ._/-]?)[0-9]{6}\2[0-9]{5}|3[068][0-9]{2}([ ._/-]?)[0-9]{6}\3[0-9]{4})"
    r"(?![0-9A-Za-z_-]|\.[0-9])"
)


def _random_if_glued(match: re.Match[str]) -> bool:
    """Return True if the token looks random, or if no letter or digit directly precedes it."""
    before = match.string[match.start() - 1 : match.start()]
    return not (before.isascii() and before.isalnum()) or is_random(match[0])


DETECTORS: Final[tuple[Detector, ...]] = (
    Detector("private-key", private_keys),
    _matching(
        "aws-key",
        rf"{_GLUED}(?:AKIA|ASIA|ABIA|ACCA)(?=[A-Z]{{0,15}}[0-9])[A-Z0-9]{{16}}",
        *("AKIA", "ASIA", "ABIA", "ACCA"),
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "github-token",
        rf"{_GLUED}(?:gh[pousr]_[0-9A-Za-z]{{36,}}+|github_pat_[0-9A-Za-z_]{{40,}}+)",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "gitlab-token",
        rf"{_GLUED}gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[0-9A-Za-z_.-]{{20,}}+",
        *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "slack-token",
        rf"{_GLUED}(?:xox[abeoprs]-[0-9A-Za-z-]{{10,}}+|xapp-[0-9A-Za-z-]{{10,}}+)"
        r"|hooks\.slack\.com/(?:services|workflows)/(?P<secret>[0-9A-Za-z/]{20,}+)",
        *("xox", "xapp-", "hooks.slack.com"),
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        # Issued by `engine token new`.
        "memroot-token",
        rf"{_GLUED}mr_[0-9A-Za-z_-]{{43}}(?![0-9A-Za-z_-])",
        "mr_",
        check=lambda match: is_random(match[0]),
        issued=True,
    ),
    _matching(
        "anthropic-key",
        rf"{_GLUED}sk-ant-[a-z0-9]{{3,12}}-[0-9A-Za-z_-]{{20,}}+",
        "sk-ant-",
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "openai-key",
        rf"{_GLUED}sk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{{20,}}+|{_AFTER_WORD}sk-[0-9A-Za-z]{{40,}}+",
        "sk-",
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "stripe-key",
        rf"{_GLUED}(?:[sr]k_(?:live|test)_[0-9A-Za-z]{{16,}}+|whsec_[0-9A-Za-z+/]{{24,}}+={{0,2}})",
        *("k_live_", "k_test_", "whsec_"),
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "google-key",
        rf"{_GLUED}(?:AIza[0-9A-Za-z_-]{{35}}(?![0-9A-Za-z_-])|GOCSPX-[0-9A-Za-z_-]{{20,}}+"
        r"|ya29\.[0-9A-Za-z_-]{20,}+)",
        *("AIza", "GOCSPX-", "ya29."),
        check=_random_if_glued,
        issued=True,
    ),
    _matching(
        "jwt", r"(?<![0-9A-Za-z+/_-]{24})eyJ[0-9A-Za-z_-]{6,}+\.eyJ[0-9A-Za-z_-]{6,}+\.[0-9A-Za-z_-]*+", "eyJ"
    ),
    _matching(
        "bearer",
        rf"{_AFTER_WORD}(?:bearer[ \t]{{1,8}}(?P<secret>[0-9A-Za-z._~+/-]{{16,}}+=*+))",
        "bearer",
        check=lambda match: is_random(match["secret"]),
        flags=re.IGNORECASE,
    ),
    _matching(
        "basic-auth",
        r"authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic[ \t]{1,4}"
        r"(?P<secret>[0-9A-Za-z+/]{8,}+={0,2})",
        "basic",
        flags=re.IGNORECASE,
    ),
    _matching(
        "url-password",
        r"(?<![0-9a-z+.-])[a-z][0-9a-z+.-]{1,20}+://[^\s/:@?#\"'<>]{0,128}+:(?P<secret>[^\s/\"'<>]{1,256})@",
        "://",
        check=lambda match: match["secret"][0] not in "[$<{*%" and len(set(match["secret"])) > 1,
        flags=re.IGNORECASE,
    ),
    Detector("password", _assignments),
    _matching("credit-card", _CARD, *"23456", check=lambda match: is_card(match[0])),
    Detector("iban", _ibans),
    _matching(
        "email",
        r"(?<![0-9A-Za-z._%+-])[0-9A-Za-z._%+-]{1,64}+@[0-9A-Za-z-]{1,63}+(?:\.[0-9A-Za-z-]{1,63}+){1,8}+",
        "@",
        usual=False,
    ),
    _matching(
        "phone",
        r"(?<![0-9A-Za-z.+-])\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{2,4}"
        r"(?:[ .-]?[0-9]{2,4}){1,4}(?![0-9])",
        "+",
        usual=False,
    ),
)
"""All built-in detectors. If two of them match at the same position, the first of the two is used."""
