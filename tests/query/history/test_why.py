"""The origin of an atom, and superseded atoms."""

from __future__ import annotations

import pytest

from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.commands import Add
from engine.engine import Engine
from engine.query.filters import Filters
from tests.support.engines import engine_on
from tests.support.workloads import id_of

MONDAY = "The kettle in the kitchen upstairs is descaled on every Monday by Ms Okafor herself with vinegar"
FRIDAY = MONDAY.replace("Monday", "Friday")


def two() -> Engine:
    """The ids of a wrong text and its correction."""
    engine = engine_on()
    engine.apply([Add(MONDAY, id=id_of(1)), Add(FRIDAY, id=id_of(2))])
    return engine


def recalled(engine: Engine, **filters: bool) -> list[str]:
    """The ids of the hits for a question about the kettle."""
    return [hit.id for hit in engine.recall("kettle descaled", filters=Filters(**filters)).hits]  # type: ignore[arg-type]


def test_an_origin_has_its_source_and_everybody_s_part_in_it() -> None:
    """An origin has source, sequence, key, provenance, and all events with their actors."""
    engine = engine_on()
    engine.apply([Add("one", key="k", source="a.md", sequence=3, provenance="external")], actor="ingest")
    (found,) = engine.find(limit=1)
    engine.revise(found.id, content="two")
    (origin,) = engine.why(found.id)
    assert (origin.source, origin.sequence, origin.key, origin.provenance) == ("a.md", 3, "k", "external")
    assert [(cause.what, cause.actor) for cause in origin.causes] == [
        ("added", "ingest"),
        ("revised", "user"),
    ]


def test_derivations_are_followed_back() -> None:
    """Derivations are followed through both edge types, each atom once, also in a cycle."""
    engine = engine_on()
    engine.apply([Add(f"text {n}", id=id_of(n)) for n in range(4)])
    engine.link(id_of(0), "derived_from", id_of(1))
    engine.link(id_of(1), "supersedes", id_of(2))
    engine.link(id_of(2), "derived_from", id_of(0))
    engine.link(id_of(0), "references", id_of(3))
    found = [(origin.id, origin.hops, origin.by) for origin in engine.why(id_of(0))]
    assert found == [(id_of(0), 0, ""), (id_of(1), 1, "derived_from"), (id_of(2), 2, "supersedes")]


def test_an_entity_leads_to_the_atoms_that_spoke_of_it() -> None:
    """The source of a relation is an origin of its entities."""
    engine = engine_on()
    engine.apply([Add("The daemon uses a socket.", id=id_of(1))])
    engine.relate("daemon", "uses", "socket", source=id_of(1))
    daemon = engine.explorer().explore_neighbors("daemon").node.id
    assert daemon is not None
    origins = engine.why(engine.resolve(daemon))
    assert (origins[1].id, origins[1].by) == (id_of(1), "source of uses")


def test_a_superseded_atom_answers_no_more_unless_asked_for() -> None:
    """A superseded atom is only a hit with `superseded` or its tag in the filters."""
    engine = two()
    engine.supersede(id_of(1), id_of(2), "wrong day")
    assert recalled(engine) == [id_of(2)]
    assert set(recalled(engine, superseded=True)) == {id_of(1), id_of(2)}
    tagged = engine.recall("kettle", filters=Filters(tags=("Superseded",))).hits
    assert [hit.id for hit in tagged] == [id_of(1)]
    assert id_of(1) not in engine.context("kettle").text
    assert len(engine.explorer().explore_recall("kettle").hints) == 1


def test_a_copy_of_it_that_comes_later_does_not_bring_it_back() -> None:
    """A later copy of a superseded atom is left out; the correction is not."""
    engine = two()
    engine.supersede(id_of(1), id_of(2))
    engine.apply([Add(MONDAY, id=id_of(3), source="chat")])
    answer = engine.recall("kettle descaled", explain=True)
    assert [hit.id for hit in answer.hits] == [id_of(2)]
    assert f"like {id_of(1)}, which is superseded" in [one.reason for one in answer.dropped]


@pytest.mark.parametrize(
    ("old", "title"), [("The kettle is descaled every Monday morning.", "Chores"), ("Ask Anna.", None)]
)
def test_an_exact_copy_with_another_title_or_of_few_words_is_left_out(old: str, title: str | None) -> None:
    """The fingerprints of such copies differ or do not exist, so the texts are compared."""
    with engine_on() as engine:
        engine.apply([Add(old, id=id_of(1)), Add("The kettle, says Anna, is never descaled.", id=id_of(2))])
        engine.supersede(id_of(1), id_of(2))
        engine.apply([Add(old.upper(), id=id_of(3), title=title, source="chat")])
        assert [hit.id for hit in engine.recall("kettle Anna").hits] == [id_of(2)]
        assert engine.held_back(id_of(3)) == f"like {id_of(1)}, which is superseded"


def test_a_correction_with_the_same_text_is_not_left_out() -> None:
    """An atom may supersede its own copy, for example to give it another title."""
    with engine_on() as engine:
        engine.apply([Add(MONDAY, id=id_of(1)), Add(MONDAY, id=id_of(2), title="Kettle", source="b")])
        engine.supersede(id_of(1), id_of(2))
        assert [hit.id for hit in engine.recall("kettle").hits] == [id_of(2)]


def test_superseding_again_changes_nothing() -> None:
    """Superseding again appends no event and does not change the past."""
    engine = two()
    before = engine.size - 1
    engine.supersede(id_of(1), id_of(2), "wrong day")
    assert not engine.supersede(id_of(1), id_of(2), "wrong day").changed
    assert len(engine.recall("kettle descaled", as_of=before).hits) >= 1


@pytest.mark.parametrize(
    ("old", "new", "error"), [(1, 1, InvalidInputError), (1, 9, NotFoundError), (9, 1, NotFoundError)]
)
def test_what_cannot_supersede_is_refused(old: int, new: int, error: type[Exception]) -> None:
    """An atom cannot supersede itself or an unknown atom."""
    engine = two()
    size = engine.size
    with pytest.raises(error):
        engine.supersede(id_of(old), id_of(new))
    assert engine.size == size


def test_a_tag_alone_supersedes_nothing() -> None:
    """The tag `superseded` alone, or with a removed edge, has no effect."""
    engine = two()
    engine.tag(id_of(1), "superseded")
    assert id_of(1) in recalled(engine)
    engine.supersede(id_of(1), id_of(2))
    assert id_of(1) not in recalled(engine)
    engine.unlink(id_of(2), "supersedes", id_of(1))
    assert id_of(1) in recalled(engine)


def test_what_comes_from_outside_silences_nothing_of_our_own() -> None:
    """An external atom cannot supersede an internal one or a copy of it."""
    engine = engine_on()
    engine.apply(
        [
            Add(MONDAY, id=id_of(1)),
            Add(FRIDAY, id=id_of(2), provenance="quarantine"),
            Add(MONDAY + "!", id=id_of(3), provenance="quarantine"),
            Add(FRIDAY + "!", id=id_of(4), provenance="quarantine"),
        ]
    )
    engine.supersede(id_of(1), id_of(2))
    engine.supersede(id_of(3), id_of(4))
    assert id_of(1) in recalled(engine)
    engine.apply([Add("Something else about the kettle.", id=id_of(5))])
    engine.supersede(id_of(3), id_of(5))
    assert id_of(1) not in recalled(engine), "what it says was superseded by an atom of our own"


def test_a_circle_is_refused() -> None:
    """Two atoms cannot supersede each other, and a hidden atom cannot supersede another."""
    engine = two()
    engine.supersede(id_of(1), id_of(2))
    with pytest.raises(ConflictError):
        engine.supersede(id_of(2), id_of(1))
    engine.tombstone(id_of(2))
    with pytest.raises(ConflictError):
        engine.supersede(id_of(1), id_of(2))
