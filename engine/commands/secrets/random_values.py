"""Whether a value looks random, as keys, tokens and passwords do: its entropy and its characters."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

PASSWORD_BITS: Final = 22.0
"""The minimum entropy in bits, as `bits` estimates it, of a value assigned to a name like `password`."""

TOKEN_CHARS: Final = 12
TOKEN_BITS_PER_CHAR: Final = 2.5
"""The minimum entropy of a token, in bits per character of up to 64 characters. `ghp_xxxxxxxx` has less."""

CORE_CHARS: Final = 8
CORE_RUNS: Final = 3
"""One part of a token without separators has at least CORE_CHARS characters and CORE_RUNS runs.

A run is a word, digits, or capitals. `production2024` has two runs, and the parts of `gpt-4o-mini-2024` are
short.
"""

RUN_CHARS_MAX: Final = 3.5
"""The maximum average length of the runs of a token in small and large letters. The words of a name such as
`CertificateIssuerKey` are longer."""

PASSWORD_RUN_CHARS_MAX: Final = 4.0
"""The same of a password without digits, which has at least CORE_RUNS runs."""

SIGNS_MIN: Final = 3
"""The minimum number of signs such as `#` of a password without digits that consists of words."""

_SIGN = re.compile(r"[!#$%&*+=?@^~]")
_CORE = re.compile(r"[0-9A-Za-z]+")
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_NAME = re.compile(r"[A-Za-z]++[0-9]{0,2}+(?:[._/:-]++[A-Za-z]*+[0-9]{0,2}+)++|[A-Za-z]++")
_STANDS_FOR = re.compile(
    r"\[REDACTED:|[$<{]|%[(A-Z_]{4}|\*{3}|\.\.\.|x{4}|your|example|placeholder|change-?me|dummy"
    r"|[a-z][a-z0-9+.-]*(?:://|%3a)",
    re.IGNORECASE,
)


def bits(value: str) -> float:
    """Return the Shannon entropy of `value` in bits, summed over its characters."""
    size = len(value)
    return -sum(count * math.log2(count / size) for count in Counter(value).values())


def has_entropy(value: str) -> bool:
    """Return True if the value has enough different characters for a token."""
    return bits(value) >= TOKEN_BITS_PER_CHAR * min(len(value), 64)


def is_token(value: str) -> bool:
    """Return True if the value looks random, as a key or token does: not like words, a name or a date."""
    return len(value) >= TOKEN_CHARS and has_entropy(value) and any(map(_is_core, _CORE.findall(value)))


def _is_core(part: str) -> bool:
    if len(part) < CORE_CHARS or len(_RUN.findall(part)) < CORE_RUNS:
        return False
    one_case = part == part.lower() or part == part.upper()
    return _run_chars(part) <= RUN_CHARS_MAX or (one_case and any(map(str.isdigit, part)))


def is_password(value: str, *, bare: bool) -> bool:
    """Return True if the value assigned to a name such as `password` looks like a password.

    Args:
        value: The assigned value.
        bare: True if nothing encloses the value, so that it may be a name in program code.
    """
    if bits(value) < PASSWORD_BITS or value.count(" ") > 2 or (bare and _is_name(value)):
        return False
    letters = "".join(re.findall("[A-Za-z]", value))
    if any(map(str.isdigit, value)) or len(_SIGN.findall(value)) >= SIGNS_MIN:
        return bool(letters)
    return len(_RUN.findall(letters)) >= CORE_RUNS and _run_chars(letters) <= PASSWORD_RUN_CHARS_MAX


def is_placeholder(value: str) -> bool:
    """Return True if the value only stands for a secret: a variable, a template, or words such as `your`."""
    return _STANDS_FOR.match(value) is not None


def _is_name(value: str) -> bool:
    return _NAME.fullmatch(value) is not None and _run_chars(value) > PASSWORD_RUN_CHARS_MAX


def _run_chars(value: str) -> float:
    """Return the average length of the runs of a value, and of what stands between them."""
    return len(value) / max(1, len(_RUN.findall(value)))
