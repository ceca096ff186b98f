"""What people see of several devices: conflicts, folders, histories, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from engine.base.errors import InconsistentError, RefusedError, VerificationError
from engine.base.limits import TAGS_PER_ATOM_MAX
from engine.commands.atoms import Revise
from engine.commands.facts import AppendFact
from engine.sync import taking_in
from engine.sync.originals import Written, written
from engine.sync.taking_in import known_heads, take_in
from engine.trust.audit.verify import verify
from proofs.leaves import EdgeType, State
from tests.support.engines import BEGIN
from tests.sync.support import SECOND, Device, parts


@pytest.fixture
def devices() -> list[Device]:
    """Three devices that have written nothing yet."""
    made = [Device(number) for number in range(3)]
    for one in made:
        one.now = BEGIN
    return made


def exchange(devices: list[Device]) -> None:
    """Pull everything everywhere."""
    while sum(one.pull(two).events for one, two in permutations(devices, 2)):
        pass
    for number, one in enumerate(devices):
        one.now = BEGIN + (number + 1) * 100 * SECOND


def test_a_conflict_is_listed_on_each_device_until_one_settles_it(devices: list[Device]) -> None:
    """Two revisions are listed with their devices; keeping one of them settles the conflict everywhere."""
    one, two, third = devices
    atom = one.engine.add("the pump runs").subject
    exchange(devices)
    one.engine.revise(atom, "the pump stands")
    two.engine.revise(atom, "the pump leaks")
    exchange(devices)
    (found,) = third.engine.concurrent_edits()
    assert found == one.engine.concurrent_edits()[0]
    assert [version.content for version in found.versions] == ["the pump stands", "the pump leaks"]
    assert {device.engine.get(atom).content for device in devices} == {"the pump leaks"}
    third.engine.settle(atom, found.versions[0].device[:8], "device")
    exchange(devices)
    for device in devices:
        assert device.engine.get(atom).content == "the pump stands"
        assert not device.engine.concurrent_edits()


def test_repeating_the_shown_text_settles_a_conflict(devices: list[Device]) -> None:
    """While there is a conflict, a revision that changes nothing is an event, and one by a program is not."""
    one, two, _ = devices
    atom = one.engine.add("a").subject
    exchange(devices)
    one.engine.revise(atom, "b")
    two.engine.revise(atom, "c")
    exchange(devices)
    assert not one.engine.revise(atom, title=None).changed
    assert not one.engine.apply([Revise(atom, title="Dreamt")], pipeline="dreamer 1")[0].changed
    assert one.engine.revise(atom, "c").changed
    assert not one.engine.revise(atom, "c").changed
    exchange(devices)
    assert not two.engine.concurrent_edits()


def test_an_edit_of_an_erased_text_is_listed_without_the_text(devices: list[Device]) -> None:
    """An erasure wins over a concurrent edit, whose text is on no device any more."""
    one, two, third = devices
    atom = one.engine.add("my number is 4711").subject
    exchange(devices)
    one.engine.erase(atom, "private", probe=False)
    two.engine.revise(atom, "my number is 4712")
    exchange(devices)
    for device in (one, two, third):
        (lost,) = device.engine.concurrent_edits()
        assert (lost.subject, lost.shown, lost.versions[0].content) == (atom, "", None)
        assert device.engine.get(atom).state is State.ERASED
        assert not any(b"471" in value for _, value in device.backend.scan())
    with pytest.raises(RefusedError):
        third.engine.add("my number is 4711")


def test_history_and_why_name_the_device(devices: list[Device]) -> None:
    """An event that was taken in names the store in which it happened, its number there, and its own time."""
    one, two, _ = devices
    atom = one.engine.add("text").subject
    exchange(devices)
    (event,) = two.engine.history(atom)
    (origin,) = two.engine.why(atom)
    assert origin.causes[0].device == event.detail["device"] == one.engine.status().store_id
    assert origin.causes[0].time == BEGIN
    assert one.engine.why(atom)[0].causes[0].device is None


def test_each_device_has_its_own_folder(devices: list[Device], tmp_path: Path) -> None:
    """Two devices ingest notes from two paths; edits travel, and absence hides nothing of the other."""
    homes = [tmp_path / "one" / "notes", tmp_path / "two" / "notes"]
    for home in homes:
        home.mkdir(parents=True)
    (homes[0] / "a.md").write_text("# One\n\nThe first pump.\n\n# Two\n\nThe second pump.\n", "utf-8")
    one, two, third = devices
    assert one.engine.ingest([homes[0]]).added
    exchange(devices)
    # The second device has only a part of the notes, and its file may be older than what it took in.
    (homes[1] / "b.md").write_text("A note of the second device.\n", "utf-8")
    two.engine.ingest([homes[1]], prune=True)
    assert len(two.engine.find()) == len(one.engine.find()) + 1
    (homes[1] / "a.md").write_text("# One\n\nThe first pump.\n", "utf-8")
    two.engine.ingest([homes[1]])
    (homes[0] / "a.md").write_text("# One\n\nThe first pump, mended.\n\n# Two\n\nThe second pump.\n", "utf-8")
    one.engine.ingest([homes[0]])
    exchange(devices)
    size = two.engine.status().events
    two.engine.ingest([homes[1]])
    assert two.engine.status().events == size
    exchange(devices)
    texts = {atom.id: one.engine.get(atom.id).content for atom in one.engine.find()}
    assert sorted(texts.values()) == sorted(third.engine.get(atom).content for atom in texts)
    assert any("mended" in text for text in texts.values())
    assert any("second pump" in text for text in texts.values())


def test_a_pull_can_be_broken_off_anywhere(devices: list[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull whose parts stop coming, or whose commits are small, continues where it ended."""
    monkeypatch.setattr(taking_in, "EVENTS_AT_ONCE", 2)
    monkeypatch.setattr(taking_in, "EDGES_AT_ONCE", 1)
    one, two, third = devices
    made = [one.engine.add(f"text {number}").subject for number in range(12)]
    for other in made[1:4]:
        one.engine.link(made[0], EdgeType.RELATED_TO, other)
    two.pull(one)  # it has the edges, and erases them in several commits
    one.engine.erase(made[0], "why", probe=False)

    def broken(most: int) -> Iterator[Written]:
        for number, part in enumerate(parts(one, 0, None, 300)):
            if number == most:
                raise KeyboardInterrupt
            yield part

    for most in range(1, 6):
        with pytest.raises(KeyboardInterrupt):
            take_in(third.engine.store, broken(most))
    for device in (two, third):
        device.pull(one)
        assert device.pull(one).events == 0
        device.engine.catch_up()
        assert verify(device.backend).ok
        assert device.engine.root(state=True).state == one.engine.root(state=True).state


def test_what_does_not_match_the_log_is_refused(devices: list[Device]) -> None:
    """A changed, cut, foreign or rolled-back part is refused before anything of it is written."""
    one, two, third = devices
    one.engine.add("first")
    two.pull(one)
    one.engine.add("second")
    part = written(one.engine.store, 0)
    size = two.engine.status().events
    swapped = part.records[:1] + part.records[:0:-1]
    for records in (part.records[:-1], swapped, [*part.records[:-1], part.records[-1][:-1] + b"!"], [b""]):
        with pytest.raises(VerificationError):
            take_in(two.engine.store, [part._replace(records=records)])
    with pytest.raises(VerificationError, match="does not follow"):
        take_in(third.engine.store, [written(one.engine.store, 2)])
    with pytest.raises(VerificationError, match="its own"):
        take_in(one.engine.store, [part])
    fork = Device(0)
    fork.now = BEGIN
    fork.engine.add("another")
    with pytest.raises(InconsistentError):
        take_in(two.engine.store, [written(fork.engine.store, 0)])
    assert two.engine.status().events == size
    assert known_heads(two.engine.store)[one.id].size == 2


def test_a_restored_store_is_told(devices: list[Device]) -> None:
    """A device does not take in events whose writer had seen more of it than there is now."""
    one, two, _ = devices
    one.engine.add("a")
    two.pull(one)
    two.now = BEGIN
    two.engine.add("b")
    restored = Device(0)
    with pytest.raises(VerificationError, match="seen 2 events of this store"):
        restored.pull(two)


def test_what_others_wrote_and_facts_are_not_handed_out(devices: list[Device]) -> None:
    """A store hands out the texts that were written in it, and neither secrets nor texts of other stores."""
    one, two, _ = devices
    one.engine.add("written on one")
    two.pull(one)
    two.engine.apply([AppendFact(40, None, b"a fact")])
    two.engine.checkpoint()
    part = written(two.engine.store, 0)
    whole = b"".join(part.records)
    for text in (b"written on one", b"a fact", two.engine.store.identity.id_key):
        assert text not in whole
    assert replace(two.engine.root(), state=None).size == part.stop


def test_tags_unite_up_to_the_limit(devices: list[Device]) -> None:
    """If two devices together give an atom too many tags, all keep the same first ones."""
    one, two, _ = devices
    atom = one.engine.add("a").subject
    exchange(devices)
    one.engine.tag(atom, *(f"a{number}" for number in range(TAGS_PER_ATOM_MAX)))
    two.engine.tag(atom, *(f"b{number}" for number in range(TAGS_PER_ATOM_MAX)))
    exchange(devices)
    assert len({device.engine.get(atom).tags for device in devices}) == 1
    assert len(one.engine.get(atom).tags) == TAGS_PER_ATOM_MAX


WORDS = (*"pump valve garden rain tomato socket motor filter kitchen".split(), "budget", "plan", "river")  # noqa: SIM905


def test_answers_are_equal_on_all_devices(devices: list[Device]) -> None:
    """After a full exchange, recall gives equal hits with equal scores, also where many scores are equal."""
    random = Random(4)
    for number in range(150):
        one = random.choice(devices)
        one.now = BEGIN + number * SECOND
        text = " ".join(random.choice(WORDS) for _ in range(random.randrange(3, 9)))
        speaker = random.choice(["", "Anna: ", "Ben: "])
        title, source = random.choice([None, None, "Garden"]), random.choice([None, "notes/a.md", "chat"])
        made = one.engine.add(speaker + text, title=title, source=source, sequence=number)
        if number % 20 == 19:
            one.pull(random.choice([other for other in devices if other is not one]))
            one.engine.erase(made.subject, "why", probe=False)
    exchange(devices)
    for _ in range(25):
        question = " ".join(random.sample([*WORDS, "Anna"], random.randrange(1, 5)))
        found = [
            [(hit.id, hit.score, hit.snippet, hit.path) for hit in device.engine.recall(question).hits]
            for device in devices
        ]
        assert found[0] == found[1] == found[2], question
