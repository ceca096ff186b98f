"""Detectors of passwords and keys that look like any text, and that only a name or a command gives away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from engine.commands.secrets.detector import Detector, Span, matching
from engine.commands.secrets.disguise import pieces_after
from engine.commands.secrets.random_values import is_password, is_placeholder, is_token

CHARS_MIN: Final = 8
ROW_CHARS_MAX: Final = 256
TABLE_CHARS_MAX: Final = 2048
"""The part of a table that is searched below a heading."""

_HINTS: Final = ("pass", "pw", "kennwort", "secret", "token", "credential", "key")
"""Each name of a secret contains one of these texts."""

_NAME = r"""
    (?:(?P<password>pass(?:word|wd|phrase|code|wort)|pwd|kennwort
      |(?P<short>(?<![0-9a-z])(?:pass|pw)(?![0-9a-z])))|secret|token|credential|key)
    (?:s(?![a-z]))?+
    (?:(?-i:[A-Z])[0-9a-z]{1,24}+|[0-9]{1,4}+|[_-][0-9a-z_-]{0,24}+
      |(?:[ ](?:access|key|token|code|value)){1,3}+)?+
"""
"""The name of a secret, from its first hint on: `password`, `tokens`, `secretKey`, `secret access key`."""

_QUALIFIER = re.compile(
    r"(?:api|app|access|auth|account|private|master|sign(?:ing)?|encryption|crypto|license|service|deploy"
    r"|session|shared|storage|admin|client)[ _-]?\Z"
)
"""What stands before `key` in the name of a secret."""

_GAP = r"""
    [\\"'`*_)\]}]{0,4}+
    (?: [ \t]{0,8}(?:=>|->|→|:=|={1,3}|::?|\||:[ ]?\w{1,12}[ ]?=)[ \t]{0,8}
        (?:(?:[>|][+-]?)?(?:\r?\n[ \t]{0,16}){1,2})?
      | (?:</\w{1,8}>\s{0,8}<\w{1,8}|(?:[ ]\w{1,16}="[^"<>\n]{0,32}"){1,3})?>(?:<!\[CDATA\[)?
      | (?<=["'])(?:\s{0,16},\s{0,16}|\s{1,16})["']?(?:value|content)["']?[ \t]{0,4}[:=][ \t]{0,4}
      | \s{1,16}value[ \t]{0,4}[:=][ \t]{0,4}
      | (?<=["'])[ \t]{0,4},[ \t]{0,4}(?=["'])
      | \((?=["'][^"'\n]{8,128}["']\))
      | (?P<weak>[ \t]{1,4}(?:(?:is|was|to|ist|lautet|-|–|—)[ \t]{1,4})?)
    )
    [\\"'`*( \t]{0,6}+
"""
"""What stands between a name and its value, in settings, programs, XML, Markdown and sentences."""

_VALUE = r"""
    (?P<value>(?<=")[^"\n]{8,}+(?=")|(?<=')[^'\n]{8,}+(?=')|(?<=`)[^`\n]{8,}+(?=`)
      |(?:(?!&[\w.-]{1,40}=)[^\s"'`,;<>(){}\[\]|\\]){8,}+)(?!\()
"""
_FLAGS: Final = re.IGNORECASE | re.ASCII | re.VERBOSE
_ASSIGNED = re.compile(_NAME + _GAP + _VALUE, _FLAGS)
_HEADING = re.compile(_NAME + r"""[ *`"_]{0,4}(?:(?P<sign>[|,;\t])|\r?\n)(?P<weak>)?""", _FLAGS)
"""The name of a secret in the first row of a table, up to the next column or the end of the row."""

_SIGN = re.compile(r"[|,;\t]")
_FIRST_ROW = re.compile(r"""[\w |,;\t*`"#.-]{1,512}\r?""")
_PLACE = re.compile(r"(?:~|\.{1,2})?/[\w.-]{1,64}(?:/|\Z)|[A-Za-z]:\\|ISBN", re.IGNORECASE)
"""A pattern for the beginning of a path or an ISBN. If an assigned value begins like this, it is not a
password: `pwd` often means a folder."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _places(text: str) -> list[int]:
    """Return the positions in the text at which the name of a secret may begin, in order."""
    # Of all characters, only this one has a small form of two characters.
    lowered = text.replace("\u0130", "I").lower()
    places = list[int]()
    for hint in _HINTS:
        at = lowered.find(hint)
        while at >= 0:
            if hint != "key" or _QUALIFIER.search(lowered, max(0, at - 12), at):
                places.append(at)
            at = lowered.find(hint, at + 1)
    return sorted(places)


def _passwords(text: str) -> Iterator[Span]:
    """Yield the positions of random-looking values after or below a name like `password`."""
    done, rows = 0, (0, 0)
    for place in _places(text):
        name = _ASSIGNED.match(text, place) if place >= done else None
        if name:
            start, done = name.span("value")
            end = start + len(name["value"].rstrip("\\*_.!?:"))
            value = text[start:end]
            for more, last in pieces_after(text, done, spaced=False):
                if is_token(text[more:last]):
                    value, end = value + text[more:last], last
            if _is_secret(value, name, bare=text[start - 1] not in "\"'`*>|"):
                yield start, end
        heading = _HEADING.match(text, place) if not rows[0] <= place < rows[1] else None
        cells = list(_cells_below(text, heading)) if heading else []
        if heading and cells:
            rows = cells[0][0], cells[-1][1]
            yield from (cell for cell in cells if _is_secret(text[slice(*cell)], heading, bare=False))


def _cells_below(text: str, heading: re.Match[str]) -> Iterator[Span]:
    """Yield the positions of the cells below a heading of a table in Markdown, CSV or TSV."""
    place = heading.start()
    start = text.rfind("\n", max(0, place - ROW_CHARS_MAX), place) + 1
    if place - start > ROW_CHARS_MAX:
        return
    signs = _SIGN.findall(text, start, place)
    sign = heading["sign"] or "".join(signs[-1:])
    first, *rows = text[start : start + TABLE_CHARS_MAX].split("\n")
    if not sign or not _FIRST_ROW.fullmatch(first):
        return
    at = start
    for before, row in pairwise([first, *rows]):
        at += len(before) + 1
        cells = row.split(sign)
        if len(cells) != first.count(sign) + 1:
            return
        column = signs.count(sign)
        value = cells[column].strip(" \t\r*`\"'")
        begin = at + len(sign.join([*cells[:column], cells[column][: cells[column].find(value)]]))
        yield begin, begin + len(value)


def _is_secret(value: str, name: re.Match[str], *, bare: bool) -> bool:
    if len(value) < CHARS_MIN or is_placeholder(value) or (name["short"] and name["weak"]):
        return False
    if name["password"]:
        return not _PLACE.match(value) and is_password(value, bare=bare)
    if _UUID.fullmatch(value):
        return "token" not in name[0].lower()
    return " " not in value and is_token(value)


_STANDS_FOR_ITSELF = re.compile(r"[a-z]{0,8}[_-]?(?:pass(?:word|wd)?|pwd?|secret|token|key)", re.IGNORECASE)


def _is_given(match: re.Match[str]) -> bool:
    """Return True if the place of a value makes it a secret, unless it stands for one."""
    value = match["secret"]
    return value[0] not in "[$<{*%" and len(set(value)) > 1 and not _STANDS_FOR_ITSELF.fullmatch(value)


ASSIGNED_VALUES: Final[tuple[Detector, ...]] = (
    Detector("password", _passwords),
    matching(
        # The last line leaves out words in small letters.
        "command-password",
        r"\b(?:curl\b[^\n]{0,300}?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:"
        r"|(?:mysql|mariadb)[\w-]{0,16}\b[^\n]{0,300}?[ \t]-p|redis-cli\b[^\n]{0,300}?[ \t]-a[ ]?"
        r"|(?:mongo\w{0,9}|sshpass|(?:docker|podman|helm)[ ](?:registry[ ])?login)\b[^\n]{0,300}?[ \t]-p[ ]?)"
        r"""[\"']?(?=[a-z]{0,64}[^\sa-z"'<>])(?P<secret>[^\s"'<>]{4,256})""",
        *("curl", "mysql", "mariadb", "mongo", "sshpass", "redis-cli", " login"),
        check=_is_given,
    ),
    matching(
        "basic-auth",
        r"(?i:authorization)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[Bb](?:asic|ASIC)[ \t]{1,4}"
        r"(?P<secret>[0-9A-Za-z+/]{8,}+={0,2})",
        *("asic", "ASIC"),
    ),
    matching(
        "url-password",
        r"(?<![0-9a-z+.-])[a-z][0-9a-z+.-]{1,20}+://[^\s/:@?#\"'<>]{0,128}+:(?P<secret>[^\s/\"'<>]{1,256})@",
        "://",
        check=_is_given,
        flags=re.IGNORECASE,
    ),
)
