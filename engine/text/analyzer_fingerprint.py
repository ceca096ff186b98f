"""The fingerprint of the analyzer: computed, recorded, a quick check of it, and the probes that it covers.

Three things decide the terms of a text: the code and tables of this package, Python, and the stemmer. The
tests of every release compute the fingerprint in full and compare it with the recorded one, so the code and
the tables need no check at run time. Python's casefolding, normalisation and regular expressions depend only
on the version of Python. But the rules of an installed stemmer may differ from the rules of its version, so
the stemmer is run on the ASCII probes each time.

The probes are texts whose terms are hashed. Each rule has at least one probe: the fingerprint detects a
change of the analyzer or of the stemmer only if the change alters the terms of some probe. Whoever changes a
rule must therefore add a probe for that rule. The new probe changes the fingerprint, which in turn requires a
new name for the analyzer.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from typing import Final

from engine.base import characters
from engine.text.analyzer import STOP_WORDS, analyze_query, index_terms
from proofs.hashing import analyzer_fingerprint

FINGERPRINT: Final = bytes.fromhex("ddcc3680a9bd65fa835700ecc831376df1f97a4281b41e847cae06c6142e78da")
"""The fingerprint of the analyzer memroot-1."""

_ASCII_ANSWERS: Final = bytes.fromhex("40b0a04876d3cc7efa25283844d70d17c53ec7f1e8068dc3a7814e5ee4cd88dc")
"""The SHA-256 of the analyzer's answers to the probes that are ASCII."""

_PYTHONS: Final = frozenset(
    {
        ("cpython", 3, 11, "14.0.0"),
        ("cpython", 3, 12, "15.0.0"),
        ("cpython", 3, 13, "15.1.0"),
        ("cpython", 3, 14, "16.0.0"),
    }
)
"""The versions of Python that the tests of this release are run with, each with its version of Unicode."""


@cache
def current_fingerprint() -> bytes:
    """Return the fingerprint of the analyzer as it works in this process: `fingerprint()`.

    The recorded fingerprint is returned if this version of Python is known and the stemmer gives the recorded
    answers, which takes 3 ms. Otherwise the fingerprint is computed, which takes 40 ms. Most of this time is
    used to compile the regular expressions for non-ASCII text (measured).
    """
    python = (sys.implementation.name, *sys.version_info[:2], unicodedata.unidata_version)
    if python in _PYTHONS and sha256(answers(filter(str.isascii, probes()))).digest() == _ASCII_ANSWERS:
        return FINGERPRINT
    return fingerprint()


@cache
def fingerprint() -> bytes:
    """Return the 32 bytes that identify this analyzer: a hash of its tables and of the terms of the probes.

    The hash first covers seven lines of ASCII, each with a final newline: the six tables of
    `unicode14_table`, and the sorted stop words joined by spaces. Then, for each probe
    (`probes`), it covers the terms that `index_terms` returns and the terms that
    `analyze_query` returns. A list of terms is hashed as the number of terms (u32be), followed by the terms.
    A term is hashed as its length (u8), a flag (u8, 1 for a stop word, else 0) and its UTF-8 bytes.
    """
    words = " ".join(sorted(STOP_WORDS))
    tables = "".join(f"{table}\n" for table in (*characters.TABLES, words)).encode("ascii")
    return analyzer_fingerprint(tables + answers(probes()))


def answers(texts: Iterable[str]) -> bytes:
    """Return the bytes that `fingerprint` hashes for the probes `texts`."""
    hashed = bytearray()
    for text in texts:
        for terms in (index_terms(text), analyze_query(text)):
            hashed += len(terms).to_bytes(4, "big")
            for term in terms:
                raw = term.encode()
                hashed += bytes([len(raw), term in STOP_WORDS]) + raw
    return bytes(hashed)


_LINES = """
The quick brown foxes were jumping over the lazy dogs' kennel.
ADR-016 supersedes adr_015 and ADR017; see docs/adr/ADR-016.md#context
snake_case camelCase PascalCase SCREAMING_SNAKE_CASE kebab-case-name __init__ foo__bar _x y_
HTTPServer parseHTTPResponse URLs PDFs parseURLsNow iPhone15Pro OpenAI GitHub eBay McDonald aBcDeFgHiJkLmNoP
foo.bar v1.2.3 1.2.3 3.14 10:30 2023-05-08 1,000,000 2023-05-08T10:30:00Z 50% $5 e.g. i.e. U.S.A. wait...what
C++ C# F# c++17 notepad++ page#part issue#12 i++ a+b C#/.NET ++ #
bob.smith+news@example.com user@host @mention #hashtag https://www.example.com:8080/a/b-c_d?x=1&y=two#z
don't DON'T it's John's we'll they've I'm o'clock O'Brien rock'n'roll dogs' 'quoted' 'tis y'all's can't've
don\u2019t it\u2019s Anna\u2019s l\u2019eau L'Or\u00e9al non\u2011breaking soft\u00adhyphen hy\u2010phen
en\u2013dash em\u2014dash
sha256 utf8 utf-8 base64encode a1b2c3 10km 2nd x86_64 H2O B2B Q3 room101 0x1F 1e-9
running runs ran runner easily ponies ties caresses hoping hopped controlling generically university universe
skis dying lying news inning proceed exceed succeed andes atlas cosmos bias
caf\u00e9 cafe\u0301 CAF\u00c9 na\u00efve stra\u00dfe STRASSE \u1e9e \ufb01nding o\ufb03ce \u0130stanbul
\u0131 I\u0307
\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03cc\u03c2 \u03c3\u03c2 \u1fb3 \u1f80 \u0345 \u03b1\u0345\u0301
\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u0439 \u0438\u0306 \u0401\u043b\u043a\u0430
\u041c\u043e\u0441\u043a\u0432\u0430-2
\u0645\u0631\u062d\u0628\u0627 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645
\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u0623\u0647\u0644\u064b\u0627 \u0661\u0662\u0663
\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u094d\u200d\u0937 \u09ac\u09be\u0982\u09b2\u09be
\u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0f56\u0f7c\u0f51\u0f0b\u0f66\u0f90\u0f51
\u4e2d\u6587\u5206\u8bcd \u6c34 \u7b2c3\u7ae0 \u5f20\u4f1f2023 \u4f60\u597d\uff0c\u4e16\u754c\u3002
\uff21\uff22\uff23\uff11
\u732b\u304c\u597d\u304d\u3067\u3059 \u30b3\u30f3\u30d4\u30e5\u30fc\u30bf \u304b\u3099 \u304c \u65e5\u3005
\uff76\uff9e\u3005
\ud55c\uad6d\uc5b4 \ud55c\uae00 \u1112\u1161\u11ab \u314b\u314b \uc11c\uc6b8\uc2dc
\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e01\u0e33 \u0e1a\u0e49\u0e32\u0e19
\u0eaa\u0eb0\u0e9a\u0eb2\u0e8d\u0e94\u0eb5 \u1019\u103c\u1014\u103a\u1019\u102c \u1797\u17b6\u179f\u17b6
\U00020000\U00020001 \U00020bb7\u91ce\u5bb6 \U0001d400\U0001d401 \U00010400\U00010428 \U0001e900
\U0001f680 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7
\u2764\ufe0f \u2b50 1\ufe0f\u20e3 \u00a9\u00ae\u2122
zero\u200bwidth\u200cjoin\u200ders\u2060and\ufeffmarks \u202eevil\u202c \u2066x\u2069 \U000e0041\U000e0042
a\ufe0fb \u034f
\u212a \u2126 \u212b \u00c5 A\u030a \u01c4 \u01c5 \u0149 \u017fun \u00b5m \u03bcm \u2160 \u2170 \u00bd
x\u00b2 \u2460
\u0378 a\u0378b \ufffe \uffff \U0001fae8 \U0001fadd \U000e0fff \ue000 a\ue000b \ufdd0 \u2fff
\u1fd2 \u0390 \u03cb\u0301 \ud83d \udc00 a\ud800b \x00 a\x00b \x7f \t\r\n \x85 \u2028
_ - . ' @ -- ... '' @@ -a- .b. 'c' @d@ a--b a..b a''b a@@b a-_b a_-b a-.b e+++ f## a@b@c @a.b@ x@y's
ab's-cd ab-cd's 's s' it's-me mother-in-law state-of-the-art and/or to be or not to be The Who IT US
"""


def probes() -> Iterator[str]:
    """Yield all probes, several hundred texts, always in the same order."""
    yield ""
    for line in _LINES.split("\n"):
        yield line
        yield from line.split(" ")
    yield " ".join(sorted(STOP_WORDS))
    yield from _lengths()


def _lengths() -> Iterator[str]:
    """Yield words, and sequences of combining marks, with lengths just below, at and above each limit."""
    for size in (63, 64, 65, 200):
        yield "a" * size
        yield "é" * (size // 2) + "x"
        yield "語" * (size // 3 + 1)
        yield "ing" * size
        yield "ab-" * (size // 2) + "c"
    for marks in (29, 30, 31, 100):
        yield "e" + "\u0301" * marks + "x"
        yield "e" + "\u0301\u0323" * marks
        yield "ก" + "\u0e48" * marks + "ข"
        yield "\u0301" * marks
    for pieces in (7, 8, 9):
        yield "aB" * pieces
