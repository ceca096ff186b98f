"""The laws of docs/spec/merge.md, on random histories of three to five stores."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.merge.history import STEP, play

HISTORIES = st.binary(min_size=2 + 2 * STEP, max_size=2 + 40 * STEP)


COUNTEREXAMPLES = {
    "an edge is added again before the erasure of its end arrives": (
        "f9c4983f00ce0f1c395f85006bb797909ecff51ba0fd2d1f18a10716e222"
    ),
    "an atom is added again before its erasure arrives": (
        "78e320646daed0740b30f276fbc37ba16de6a5de4115890ca1a7"
    ),
    "the edges of a void atom stay": ("e60804900fd1e101f80cc964ba52ca6409f9a638cff94ca41ed8045a69593d1d586b"),
    "an event arrives without its payload, before the erasure": "35f9f9fd76ccc87c5167679ef1b592c63913",
    "a destroyed record looks like an original": "35f9679ef1b592c63913",
    "the greatest dot is not the dot of a head": "06a61731325696d5a0d0e6e4962d",
    "an event arrives before what its writer had seen": "35f9b5a58c03b1f91ead3dd1df3763c613d7",
    "a rebuilt store does not know what others had seen": "35c0ad2b97b1e1ef3a25b84f834d",
    "foreign heads cause further foreign heads": "35c0d0f0489a",
    "two tombstones differ in their reasons": "246e6801ac01fe1ea0cb765b8e98ff6931a4766f963f",
    "a reached event leaves no record": "35f99e794d9b679ef1b592c63913",
    "the time of a pulled version is that of the pull": "35c0ad2b97b12810cdaf",
    "an edge outlives its end": "7ec06746e45e0eca9fe26d49d7e2cfe601be946d517c",
}
"""Histories on which a simpler law fails, and how.

The first one came from a random run. The others were found by breaking the model on purpose.
"""


@pytest.mark.parametrize("history", COUNTEREXAMPLES.values(), ids=COUNTEREXAMPLES)
def test_counterexamples_to_simpler_laws(history: str) -> None:
    """A history on which a simpler law fails does not break this one."""
    play(bytes.fromhex(history))


@given(HISTORIES)
@settings(max_examples=800)
def test_stores_agree(history: bytes) -> None:
    """However stores write, pull, erase and are rebuilt, they agree in the end and lose nothing."""
    play(history)


@pytest.mark.soak
@given(HISTORIES)
@settings(max_examples=100_000)
def test_stores_agree_for_long(history: bytes) -> None:
    """The same holds for 100,000 histories."""
    play(history)
