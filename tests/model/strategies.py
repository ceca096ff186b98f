"""Hypothesis strategies for the stateful machine: arguments of commands, and upkeep."""

from __future__ import annotations

import struct
from typing import Any

from hypothesis import strategies as st

from engine.base.validation import show_id
from tests.support.engines import BEGIN

NEAR = ("The ship sails for the far side of the sea.", "The ship sails for the far side of the sea!")
"""Two texts with the same terms."""
TEXTS = st.sampled_from(
    ["sea", "the ship", "Ship ADR-016\nsails", "größe 猫が", "x" * 300, "a\u0301 b", *NEAR, *NEAR]
)
TAGS = st.lists(
    st.sampled_from(["Red", "red", "#RED", "two words", "Straße", "STRASSE", "é", "e\u0301"]), max_size=4
)
ATOMS = st.integers(0, 7) | st.just(99)
NAMES = st.sampled_from(["references", "part_of", "supersedes", "listens_on", "runs.on", "unheard_of"])
GIVEN_IDS = st.sampled_from([None, None, show_id(bytes([7] * 16)), show_id(bytes([8] * 16))])
KEYS = st.sampled_from([None, None, "k1", "k2", "entity:daemon"])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "title": st.sampled_from([None, "Title", "sea"]),
        "tags": TAGS,
        "buckets": st.lists(st.sampled_from(["inbox", "work"]), min_size=1, max_size=2),
        "source": st.sampled_from([None, "notes/a.md", "notes/b.md"]),
        "sequence": st.sampled_from([None, None, 0, 1 << 40]),
        "provenance": st.sampled_from(["internal", "external", "quarantine"]),
        "trust": st.sampled_from([None, 0, 100]),
        "meta": st.sampled_from([None, {"a": True}, {"a": 1}, {"a": "", "zz": -0.1}, {"b": -(2**53) + 1}]),
        "aliases": st.sampled_from([None, (), ("Anna",), ("anna", "Anna")]),
        "folder": st.sampled_from([None, "notes"]),
    },
)
CREATED = st.sampled_from(
    [None, 0, BEGIN - 86_400_000_000, -1, -62_135_596_800_000_000, 253_402_300_799_999_999]
)
SAID = st.tuples(st.sampled_from([None, None, "r-1", "ü"]), st.sampled_from([None, None, "pipeline 1.2"]))
"""A request and a pipeline."""
WEIGHTS = st.floats(0, 1, width=32).filter(lambda weight: struct.pack(">f", weight) != b"\x80\0\0\0")
DATA = st.sampled_from([b"", b"\x01", b"\xa1\x61a\x01"])

ENTITIES = st.sampled_from(
    ["daemon", "Daemon", "unix socket", "Unix_Socket", "größe", "_", "a\u200bb", "a-b"]
)
RELATED = st.tuples(ENTITIES, ENTITIES)
PREDICATES = st.sampled_from(["listens on", "listens_on", "references", "mentions"])

OPS = {
    "add": st.tuples(TEXTS, GIVEN_IDS, KEYS, FIELDS, CREATED),
    "revise": st.tuples(ATOMS, st.none() | TEXTS, FIELDS),
    "tombstone": st.tuples(ATOMS, st.sampled_from(["", "stale"])),
    "revive": st.tuples(ATOMS, st.sampled_from(["", "back"])),
    "tag": st.tuples(ATOMS, TAGS),
    "untag": st.tuples(ATOMS, TAGS),
    "register": st.tuples(NAMES.filter(lambda name: name != "unheard_of")),
    "link": st.tuples(ATOMS, NAMES, ATOMS, WEIGHTS, DATA),
    "unlink": st.tuples(ATOMS, NAMES, ATOMS, st.just("")),
    "merge": st.tuples(ATOMS, ATOMS, st.booleans()),
    "unmerge": st.tuples(ATOMS),
    "supersede": st.tuples(ATOMS, ATOMS, st.sampled_from(["", "newer"])),
    "relate": st.tuples(RELATED, PREDICATES, st.none() | ATOMS, WEIGHTS),
    "unrelate": st.tuples(RELATED, PREDICATES, st.just("gone")),
    "fact": st.tuples(st.integers(32, 63), st.none() | ATOMS, st.sampled_from([b"", b"data"])),
    "early_fact": st.tuples(GIVEN_IDS.filter(bool), st.sampled_from([b"", b"data"])),
    "saw": st.tuples(st.integers(1, 1 << 53), st.sampled_from([None, "", "note\n"])),
}
_PULLED = (
    "add",
    "revise",
    "tombstone",
    "revive",
    "tag",
    "untag",
    "register",
    "link",
    "unlink",
    "fact",
    "relate",
)
OPS["pulled"] = st.tuples(
    st.one_of(*(st.tuples(st.just(name), OPS[name]) for name in _PULLED)),
    st.sampled_from([0, BEGIN - 86_400_000_000, BEGIN + 7 * 86_400_000_000]),
)
ANY_OP = st.one_of(*(st.tuples(st.just(name), arguments) for name, arguments in OPS.items()))


def _merging(keep: int, other: int) -> st.SearchStrategy[list[tuple[str, tuple[Any, ...]]]]:
    """Return steps around a merge of two atoms; some of them are refused."""
    tags = st.lists(st.sampled_from(["red", "two words", "é"]), min_size=1, max_size=2)
    buckets = st.sampled_from([["inbox"], ["work"], ["inbox", "work"]])
    revised = st.tuples(
        st.sampled_from([keep, other]), st.none(), st.fixed_dictionaries({"buckets": buckets})
    )
    merge = st.just(("merge", (keep, other, True)))
    step = st.one_of(
        merge,
        st.just(("unmerge", (other,))),
        st.tuples(st.just("tag"), st.tuples(st.sampled_from([keep, other]), tags)),
        st.tuples(st.just("untag"), st.tuples(st.just(keep), tags)),
        st.tuples(st.just("revise"), revised),
        st.just(("revive", (other, ""))),
        st.tuples(
            st.just("link"), st.tuples(st.just(keep), st.just("supersedes"), st.just(other), WEIGHTS, DATA)
        ),
        st.just(("unlink", (keep, "supersedes", other, ""))),
    )
    steps = st.lists(step, max_size=3)
    parts = st.tuples(steps, merge.map(lambda op: [op]), steps, steps, st.just([("unmerge", (other,))]))
    return parts.map(lambda found: [op for part in found for op in part])


MERGING = st.tuples(st.integers(0, 3), st.integers(0, 3)).flatmap(lambda ends: _merging(*ends))
UPKEEP: list[tuple[str, tuple[Any, ...]]] = [
    ("checkpoint", ()),
    *(("drop_one", (which,)) for which in range(7)),
    *(("follow_one", (which,)) for which in range(6)),
    ("rebuild", ()),
    ("compare_root", ()),
    ("reopen", ()),
    ("exported", ()),
    ("copied", (True,)),
    ("copied", (False,)),
]
