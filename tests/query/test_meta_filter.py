"""Filters by entries of meta: equality of values and types, and the same result in every query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import Add, Engine, Filters, Follow, Link
from engine.base.errors import EngineError, InvalidInputError, LimitError
from engine.exchange.backup import import_journal
from tests.query.recall.support import WORDS_ONLY, id_of, memory

LAMPS = [
    Add("The lamp is in the kitchen.", id=id_of(1), meta={"project": "atlas", "n": 1}),
    Add("The lamp is in the garden.", id=id_of(2), meta={"project": "zeus", "n": True}),
    Add("The lamp is in the attic.", id=id_of(3), meta={"project": "zeus", "n": "1"}),
    Add("The lamp is in the cellar.", id=id_of(4), meta={"n": 0.5}),
    Add("The lamp is in the hall.", id=id_of(5)),
]


def found(engine: Engine, meta: dict[str, Any]) -> list[int]:
    """Return the numbers of the atoms that find returns."""
    ids = [one.id for one in engine.find(meta=meta)]
    return [number for number in range(1, 10) if id_of(number) in ids]


@pytest.mark.parametrize(
    ("meta", "numbers"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"project": "zeus"}, [2, 3]),
        ({"project": ["zeus", "atlas"]}, [1, 2, 3]),
        ({"project": {"zeus", "nobody"}, "n": (True, 0.5)}, [2]),
        ({"n": 1}, [1]),
        ({"n": 1.0}, [1]),
        ({"n": True}, [2]),
        ({"n": "1"}, [3]),
        ({"n": 0.5}, [4]),
        ({"project": "Zeus"}, []),
        ({"other": "zeus"}, []),
    ],
)
def test_an_atom_passes_if_each_key_has_one_of_the_values(meta: dict[str, Any], numbers: list[int]) -> None:
    """Keys are combined with and, values of a key with or; the type of a value counts."""
    with memory(LAMPS, WORDS_ONLY) as engine:
        assert found(engine, meta) == numbers


def test_every_query_filters_by_meta_alike() -> None:
    """Recall, bright nodes, walks, context and exploration return the same atoms as find."""
    wanted = Filters(meta={"project": "zeus"})
    with memory(LAMPS, WORDS_ONLY) as engine:
        engine.apply([Link(id_of(5), "references", id_of(number)) for number in (1, 2, 3, 4)])
        answers: list[Any] = [
            engine.recall("lamp", filters=wanted).hits,
            engine.bright_nodes("lamp", filters=wanted),
            engine.find(from_=id_of(5), follow=Follow(), filters=wanted),
            engine.explorer().explore_recall("lamp", filters=wanted).hints,
        ]
        texts = [engine.context("lamp", filters=wanted).text, engine.explore("lamp", filters=wanted).text]
    for answer in answers:
        assert sorted(one.id[:8] for one in answer) == [id_of(2)[:8], id_of(3)[:8]]
    for text in texts:
        assert {place for place in ("kitchen", "garden", "attic", "hall") if place in text} == {
            "garden",
            "attic",
        }


def test_a_revision_and_an_erasure_change_what_passes() -> None:
    """An atom passes with its present meta only; `as_of` asks for an earlier one."""
    with memory(LAMPS, WORDS_ONLY) as engine:
        assert found(engine, {"project": "zeus"}) == [2, 3]
        before = engine.size - 1
        engine.revise(id_of(2), meta={"project": "atlas"})
        engine.tombstone(id_of(3))
        assert found(engine, {"project": "zeus"}) == []
        assert found(engine, {"project": "atlas"}) == [1, 2]
        engine.erase(id_of(1), "not needed", probe=False)
        assert found(engine, {"project": "atlas"}) == [2]
        assert len(engine.find(meta={"project": "zeus"}, as_of=before)) == 2
        assert engine.verify().ok


@pytest.mark.parametrize(
    ("meta", "kind", "message"),
    [
        ([], InvalidInputError, "meta must be a map, not list"),
        (None, InvalidInputError, "meta must be a map, not NoneType"),
        ({"two words": 1}, InvalidInputError, "meta key 'two words' is not valid"),
        ({1: 1}, InvalidInputError, "meta key 1 is not valid"),
        ({"a": []}, InvalidInputError, "meta a has no value"),
        ({"a": None}, InvalidInputError, "meta a must be a text"),
        ({"a": [["b"]]}, InvalidInputError, "meta a must be a text"),
        ({"a": float("nan")}, InvalidInputError, "meta a must be a text"),
        ({"a": 2**53}, InvalidInputError, "meta a must be a text"),
        ({"a": "x" * 1025}, LimitError, "meta a has 1025 bytes; at most 1024"),
        ({f"k{n}": n for n in range(33)}, LimitError, "meta has 33 entries; at most 32"),
    ],
)
def test_a_malformed_condition_is_refused(meta: Any, kind: type[EngineError], message: str) -> None:
    """The error says which key or value is wrong."""
    with memory(LAMPS, WORDS_ONLY) as engine:
        for ask in (lambda: engine.find(meta=meta), lambda: engine.recall("lamp", meta=meta)):
            with pytest.raises(kind) as caught:
                ask()
            assert str(caught.value).startswith(message)


def test_meta_survives_an_export_and_a_rebuild(tmp_path: Path) -> None:
    """In an imported and in a rebuilt store, the same atoms pass, and the values keep their types."""
    with memory(LAMPS, WORDS_ONLY) as engine:
        with (tmp_path / "journal.jsonl").open("wb") as file:
            engine.export(file.write)
        engine.rebuild()
        assert found(engine, {"project": "zeus", "n": [True, 1]}) == [2]
        root = engine.root().root
    import_journal(tmp_path / "journal.jsonl", f"sqlite:{tmp_path / 'imported.db'}")
    with Engine.open(f"sqlite:{tmp_path / 'imported.db'}", create=False) as engine:
        assert found(engine, {"project": "zeus", "n": [True, 1]}) == [2]
        assert engine.get(id_of(2)).meta["n"] is True
        assert engine.root().root == root
        assert engine.verify().ok
