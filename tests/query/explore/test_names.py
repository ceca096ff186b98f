"""All spellings of a name resolve to one entity, and other names do not."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from engine import Relate, Tombstone
from engine.base.errors import EngineError, InvalidInputError, LimitError
from engine.ledger.entities import entity_id, entity_identity, entity_key, entity_name, predicate
from tests.query.recall.support import memory

LETTERS = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")) | st.sampled_from(
    "_- .\u0301\u200d\u202eßİıſK\u3000😀\U0001d160אع１Ａ"
)
NAMES = st.text(LETTERS, min_size=1, max_size=20).filter(lambda text: text.strip(" \u3000\u200d\u202e"))
KEYS = bytes(range(32)), bytes(range(1, 33))


def kept(text: str) -> str:
    """The text as a name if it is valid."""
    try:
        name = entity_name(text)
        entity_key(name)
    except EngineError:
        assume(False)
        raise
    return name


@given(NAMES)
@settings(max_examples=400)
def test_an_identity_is_its_own(text: str) -> None:
    """The identity of a name is itself a spelling of it."""
    identity = entity_identity(kept(text))
    assert entity_identity(identity) == identity
    assert entity_key(identity) == entity_key(text.strip()) == f"entity:{identity}"


@given(NAMES, st.sampled_from(["NFC", "NFD"]))
@settings(max_examples=200)
def test_composed_or_not_is_one_name(text: str, form: Literal["NFC", "NFD"]) -> None:
    """Canonically equivalent texts are spellings of one name."""
    assert entity_key(unicodedata.normalize(form, kept(text))) == entity_key(kept(text))


@given(NAMES, st.sampled_from([" ", "_", "-", " - ", "__", "\u3000", "\u00a0"]), NAMES)
@example("_", "_", "a")
@example("_", "_", "_")
@settings(max_examples=200)
def test_joints_are_alike(first: str, joint: str, second: str) -> None:
    """Words joined by spaces, underscores or hyphens are the same name."""
    assume(not unicodedata.combining(second[0]))
    joined, spaced = kept(first + joint + second), kept(f"{first} {second}")
    assume(re.search(r"[^\s_-]", entity_identity(spaced)))
    assert entity_key(joined) == entity_key(spaced)


@given(st.text("_- \u3000", min_size=1, max_size=9).filter(lambda text: not text.isspace()))
@example("___")
@example("_ _")
def test_a_name_of_joints_alone_is_its_own_identity(text: str) -> None:
    """Names of separators only are distinct."""
    name = kept(text)
    assert entity_identity(name) == name


@given(st.text(st.characters(max_codepoint=0x24F, categories=("Lu", "Ll")), min_size=1, max_size=10))
def test_case_makes_no_difference(text: str) -> None:
    """Upper and lower case of a Latin name are the same name."""
    assume(text.upper().casefold() == text.casefold())
    assert entity_key(text.upper()) == entity_key(text.lower()) == entity_key(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("_", "-"),
        ("--", "_"),
        ("C", "C+"),
        ("C++", "C#"),
        ("Ａnna", "Anna"),
        ("a.b", "a b"),
        ("😀", "😀😀"),
        ("א", "ב"),
        ("e", "e\u0301"),
        ("cafe", "café"),
        ("1", "１"),
    ],
)
def test_different_names_stay_different(one: str, other: str) -> None:
    """Names that differ in more than case, separators and invisible characters are distinct."""
    assert entity_key(one) != entity_key(other)


@pytest.mark.parametrize(
    "name", ["a\u200bb", "a\u200db", "\u202eab\u202c", "\u2066ab\u2069", "\ufeffab", "a\u00adb"]
)
def test_what_nobody_can_see_makes_no_name(name: str) -> None:
    """Joiners, direction marks and soft hyphens in a name are ignored."""
    assert entity_key(name) == "entity:ab"


@pytest.mark.parametrize(
    "name", ["", " ", "\u3000", "\u200b", "\u200b\u200d", "\u200b \u2060", "\u00ad", "\u061c"]
)
def test_a_name_of_nothing_to_see_is_refused(name: str) -> None:
    """White space and invisible characters alone are not a valid name."""
    with pytest.raises(InvalidInputError):
        entity_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "a\nb",
        "a\tb",
        "a\x00b",
        "a\u2028b",
        "a\x85b",
        "\ue000",
        "\ud800",
        "\ufffe",
        "\U000e0fff",
        "a\x1b[2J",
        5,
        None,
    ],
)
def test_what_is_no_character_of_a_name_is_refused(name: object) -> None:
    """Control, private and unassigned characters and lone surrogates are invalid."""
    with pytest.raises(InvalidInputError):
        entity_name(name)


def test_a_name_has_at_most_256_bytes() -> None:
    """Names of over 256 bytes, or with over 30 marks in a row, raise an error."""
    assert entity_name("é" * 128) == "é" * 128
    for name in ("x" * 257, "é" * 128 + "x", "a" + "\u0301" * 31):
        with pytest.raises(LimitError):
            entity_name(name)
    with pytest.raises(LimitError):
        entity_key("\U0001d160" * 64)


@given(NAMES)
def test_an_id_follows_from_key_and_identity(text: str) -> None:
    """An entity's id depends only on the id key of the store and the identity of its name."""
    name = kept(text)
    mine, theirs = (entity_id(key, name) for key in KEYS)
    assert mine == entity_id(KEYS[0], entity_identity(name)) != theirs


@given(NAMES, NAMES)
@settings(max_examples=60)
def test_same_identity_is_the_same_entity(one: str, other: str) -> None:
    """An entity is recorded once for all spellings, and found by each."""
    name, other_name = kept(one), kept(other)
    assume(not name.startswith("#"))
    folded = entity_identity(name)
    assume(entity_key(name) != entity_key("anchor") != entity_key(other_name))
    with memory(
        [Relate("anchor", "is", name), Relate("anchor", "is", folded), Relate("anchor", "is", other_name)]
    ) as engine:
        same = entity_key(name) == entity_key(other_name)
        assert len(engine.find(limit=9)) == (2 if same else 3)
        explorer = engine.explorer()
        assert explorer.explore_neighbors(name).node == explorer.explore_neighbors(folded).node


def test_a_hidden_entity_is_not_a_node() -> None:
    """A tombstoned entity is not found until it is related again."""
    with memory([Relate("daemon", "uses", "socket")]) as engine:
        atom = engine.resolve(engine.explorer().explore_neighbors("Daemon").node.id or "")
        engine.apply([Tombstone(atom)])
        with pytest.raises(EngineError, match="no atom, page or tag is named"):
            engine.explorer().explore_neighbors("Daemon")
        engine.apply([Relate("DAEMON", "uses", "socket")])
        assert engine.explorer().explore_neighbors("Daemon").node.name == "daemon"


@pytest.mark.parametrize(
    ("given_there", "label"),
    [("listens on", "listens_on"), ("Listens  ON", "listens_on"), (" uses ", "uses"), ("a-b.c_d", "a-b.c_d")],
)
def test_a_predicate_is_a_label(given_there: str, label: str) -> None:
    """A predicate is folded to lower case with underscores between words."""
    assert predicate(given_there) == label
    assert predicate(label) == label


@pytest.mark.parametrize(
    "given_there", ["", " ", "größe", "a/b", "x" * 33, "a\nb", None, 5, "has → it", "<b>"]
)
def test_what_is_no_predicate_is_refused(given_there: object) -> None:
    """A predicate that does not fold to a label raises an error."""
    with pytest.raises(InvalidInputError):
        predicate(given_there)
