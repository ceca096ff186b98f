"""Finding private keys in texts: blocks of base64 between markers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

BODY_CHARS_MIN: Final = 40
"""The minimum number of base64 characters in a private key block. With fewer characters, the text probably
only mentions such blocks."""

BLOCK_CHARS_MAX: Final = 32_768

# SSH2 (RFC 4716) has four hyphens and a space.
# Without a marker, only the first bytes tell a private key from a certificate: PKCS #1 and #8 in DER with the
# keys of RSA, EC and Ed25519, and OpenSSH.
_BEGIN = re.compile(
    r"-----?(?:-| )BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?(?: |-)-----?"
    r"|(?:(?=MII[A-J][0-9A-Za-z+/][AQgw]IBA(?:AK|DAN))|(?=MHcCAQEE|MIGkAgEBBD|MIG[2H]AgEAMB|MC4CAQAwBQYDK2Vw)"
    r"|(?=b3BlbnNzaC1rZXktdjE))(?<![0-9A-Za-z+/])",
    re.ASCII,
)
LITERALS: Final = ("PRIVATE KEY", "IBAAK", "IBADAN", "MHcCAQEE", "MIG", "MC4CAQ", "b3BlbnNzaC1rZXktdjE")
"""Each block contains one of these texts."""
_END = re.compile(r"-----?(?:-| )END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?(?: |-)-----?", re.ASCII)
_BASE64 = re.compile(r"[0-9A-Za-z+/]{16,}+=*+", re.ASCII)
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\n]{0,128}+"
# The base64 text may be quoted: as an e-mail (`> `), with line numbers, or as strings of a program.
_SEPARATOR = r"""\s|\\[nr]|[>|"'`,;+]|[0-9]{1,5}+[ \t:|]"""
_BODY = re.compile(rf"(?:[0-9A-Za-z+/]{{16,}}+=*+|{_HEADER}|{_SEPARATOR})*+", re.ASCII)
_BODIES = re.compile(rf"(?:[0-9A-Za-z+/]{{16,}}+=*+|{_SEPARATOR})++", re.ASCII)


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of private key blocks. A block without an end marker ends after its base64 text."""
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
    return sum(len(match[0]) for match in _BASE64.finditer(text, start, end))


def _body_before(text: str, end: int, least: int) -> int:
    """Return the start of the base64 text directly before `end`, or `end`. It is not before `least`."""
    for body in _BODIES.finditer(text, least, end):
        if body.end() == end:
            first = _BASE64.search(text, body.start(), end)
            return first.start() if first else end
    return end
