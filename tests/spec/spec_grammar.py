"""The grammar of claims in section 20.2, translated from ABNF to a regular expression."""

from __future__ import annotations

import re

from proofs.forms import WHITE_SPACE
from tests.spec.spec_page import block

CORE = {"SP": " ", "DIGIT": "[0-9]", "HEXDIG": "[0-9A-Fa-f]"}
"""The core rules of RFC 5234 that the grammar uses."""
PIECE = re.compile(
    r'%s"[^"]*"|"[^"]*"|%x[0-9A-F]+-[0-9A-F]+|<[^>]*>|[0-9]*\*[0-9]*|[0-9]+|[A-Za-z]+|[()\[\]/]'
)


def grammar() -> re.Pattern[str]:
    """Return the rule `claim` as a pattern for words with one space between each two."""
    rules: dict[str, str] = {}
    last = ""
    for line in block("abnf"):
        name, equals, body = line.partition("=")
        if equals and re.fullmatch(r"\w+ *", name):
            last = name.strip()
            rules[last] = body
        else:
            rules[last] += line
    return re.compile(alternatives(rules, PIECE.findall(rules["claim"])))


def alternatives(rules: dict[str, str], parts: list[str]) -> str:
    """Read pieces up to a closing bracket or the end, and return them as a regular expression."""
    out, repeat = "", ""
    while parts:
        part = parts.pop(0)
        if part in ")]":
            break
        if part[0] in "0123456789*":
            least, star, most = part.partition("*")
            repeat = f"{{{least or 0},{most}}}" if star else f"{{{least}}}"
            continue
        out += element(rules, part, parts) + repeat
        repeat = ""
    return f"(?:{out})"


def element(rules: dict[str, str], part: str, parts: list[str]) -> str:
    """Return one element of a rule as a regular expression."""
    if part == "/":
        return "|"
    if part in "([":
        return alternatives(rules, parts) + ("?" if part == "[" else "")
    if part.startswith('%s"'):
        return re.escape(part[3:-1])
    if part.startswith("%x"):
        first, last = (chr(int(end, 16)) for end in part[2:].split("-"))
        return f"[{first}-{last}]"
    if part.startswith('"'):
        return re.escape(part[1:-1])
    if part.startswith("<"):
        return f"[^{WHITE_SPACE}]"
    return CORE.get(part) or alternatives(rules, PIECE.findall(rules[part]))
