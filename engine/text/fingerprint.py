"""The recorded fingerprint of the analyzer, and a quick check of it for a process that opens a store.

Three things decide the terms of a text: the code and tables of this package, Python, and the stemmer. The
tests of every release compute the fingerprint in full and compare it with the recorded one, so the code and
the tables need no check at run time. Python's casefolding, normalisation and regular expressions depend only
on the version of Python. But the rules of an installed stemmer may differ from the rules of its version, so
the stemmer is run on the ASCII probes each time.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from hashlib import sha256
from typing import Final

from engine.text import analyzer
from engine.text.probes import probes

FINGERPRINT: Final = bytes.fromhex("6743f908d894a5017175ad4c60218950cd71cb89aaed2f4898bcde80dbc01a2a")
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
    """Return the fingerprint of the analyzer as it works in this process: `analyzer.fingerprint()`.

    The recorded fingerprint is returned if this version of Python is known and the stemmer gives the recorded
    answers, which takes 3 ms. Otherwise the fingerprint is computed, which takes 40 ms. Most of this time is
    used to compile the regular expressions for non-ASCII text (measured).
    """
    python = (sys.implementation.name, *sys.version_info[:2], unicodedata.unidata_version)
    if (
        python in _PYTHONS
        and sha256(analyzer.answers(filter(str.isascii, probes()))).digest() == _ASCII_ANSWERS
    ):
        return FINGERPRINT
    return analyzer.fingerprint()
