"""Texts that people edit in the pages of a mirror come back into the store."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from engine.base.errors import NotFoundError, RefusedError
from engine.commands.secrets.policy import SecretsPolicy
from engine.engine import Engine
from engine.files.mirror import mirror_pull
from engine.files.mirror.mirror_report import MirrorReport, Outcome, PullReport
from engine.files.mirror.mirror_sync import sync
from tests.files.mirror.parsing import listed, tree
from tests.support.engines import engine_on

STYLES = pytest.mark.parametrize("style", ["plain", "obsidian"])
IDS = [f"{number:08x}-0000-4000-8000-{number:012x}" for number in range(1, 10)]
TEXTS = (
    "Plain prose.\nIn two lines.",
    "# Fenced\n\nBecause of the heading.\n\n---\n\nAfter a rule.",
    "Escaped \u202e because of a mark, with \u27e8 in it.",
    "```python\nprint('code')\n```",
    f"A page in a page.\n\n---\n\n## [{IDS[0]}] Text 0\n\n- facts: none\n\nmine\n\n---\n\n## [{IDS[5]}] x",
    "The last one.",
)
EDITS = (
    ("In two lines.", "In three lines.\n\n- and\n- a list"),
    ("Because of the heading.", "Because of a heading.\n```\ncode\n```\nand more"),
    ("because of a mark", "because of one mark \u27e8"),
    ("print('code')", "print('more code')"),
    ("A page in a page.", "A page in another page."),
    ("The last one.", "The last one \u202e."),
)


@pytest.fixture
def engine() -> Engine:
    """Return a store with texts of every form on one page, and a text on two pages."""
    return filled()


def filled() -> Engine:
    """Return the store of the fixture."""
    engine = engine_on()
    for number, text in enumerate(TEXTS):
        engine.add(text, id=IDS[number], title=f"Text {number}", source="notes.md", sequence=number)
    engine.add("On two pages.", id=IDS[7], source="notes.md", sequence=50, tags=["one", "two"])
    return engine


def page_with(folder: Path, text: str) -> Path:
    """Return the page that contains a text."""
    return next(path for path in sorted(folder.rglob("*.md")) if text in path.read_text())


def edited(path: Path, old: str, new: str) -> None:
    """Replace a text that is on the page once."""
    data = path.read_bytes().decode()
    assert data.count(old) == 1, old
    path.write_bytes(data.replace(old, new).encode())


def contents(engine: Engine) -> dict[str, str]:
    """Return the contents of all live atoms."""
    return {found.id: engine.get(found.id).content or "" for found in engine.find(limit=100)}


def is_fresh(engine: Engine, folder: Path) -> bool:
    """Return True if the mirror has the bytes of a new mirror."""
    with tempfile.TemporaryDirectory() as other:
        engine.mirror(Path(other, "fresh"), style=engine.check_mirror(folder).style)
        return tree(Path(other, "fresh")) == tree(folder)


@STYLES
@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_an_edited_text_is_a_revision(engine: Engine, tmp_path: Path, style: str, number: int) -> None:
    """An edited word revises its atom and no other, and the mirror is brought up to date."""
    engine.mirror(tmp_path / "m", style=style)
    before = contents(engine)
    old, new = EDITS[number]
    edited(page_with(tmp_path / "m", "The last one."), old, new)
    report = engine.mirror_pull(tmp_path / "m")
    assert [(edit.atom, edit.outcome) for edit in report.edits] == [(IDS[number], Outcome.REVISED)]
    assert report.refused == ()
    assert contents(engine) == before | {IDS[number]: TEXTS[number].replace(old, new)}
    assert is_fresh(engine, tmp_path / "m")
    assert listed(tmp_path) == ["m"]
    assert engine.history(IDS[number])[-1].actor == "user"


def test_a_heading_may_follow_its_text(tmp_path: Path) -> None:
    """If a heading is the beginning of the text, a word may be replaced in both; not in the heading alone."""
    engine = engine_on()
    one, two = engine.add("The oak is old.").id, engine.add("The ash is young.").id
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "The oak")
    page.write_text(page.read_text().replace("old", "very old").replace("] The ash", "] The elm"))
    report = engine.mirror_pull(tmp_path / "m")
    assert [edit.atom for edit in report.edits] == [one]
    assert [change.atom for change in report.refused] == [two]
    assert contents(engine) == {one: "The oak is very old.", two: "The ash is young."}


@STYLES
def test_a_mirror_without_edits_gives_no_events(engine: Engine, tmp_path: Path, style: str) -> None:
    """A pull of an unedited mirror appends no event and changes no file."""
    engine.mirror(tmp_path / "m", style=style)
    before, size = tree(tmp_path), engine.size
    report = engine.mirror_pull(tmp_path / "m")
    assert (report.edits, report.refused, engine.size) == ((), (), size)
    assert tree(tmp_path) == before


def test_a_dry_run_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    """A dry run reports the edits, and writes neither the store nor the mirror."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "The very last one.")
    before, size = tree(tmp_path), engine.size
    report = engine.mirror_pull(tmp_path / "m", dry_run=True)
    assert [(edit.before, edit.after) for edit in report.edits] == [("The last one.", "The very last one.")]
    assert (report.revised, report.mirror, engine.size) == (1, None, size)
    assert tree(tmp_path) == before


def test_a_conflict_keeps_both_texts(engine: Engine, tmp_path: Path) -> None:
    """A text that was changed in the store since is not overridden; both texts are live and in conflict."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "From the page.")
    engine.revise(IDS[5], "From the store.")
    report = engine.mirror_pull(tmp_path / "m")
    assert [edit.outcome for edit in report.edits] == [Outcome.CONFLICT]
    (conflict,) = engine.conflicts()
    assert (conflict.file.id, conflict.file.content) == (IDS[5], "From the store.")
    assert (conflict.hand.id, conflict.hand.content) == (report.edits[0].other, "From the page.")
    assert conflict.hand.source == "notes.md"
    assert is_fresh(engine, tmp_path / "m")
    engine.settle(conflict.file.id, conflict.hand.id, "hand")
    assert "From the store." not in contents(engine).values()
    assert engine.mirror_pull(tmp_path / "m").edits == ()


def test_a_text_that_was_hidden_meanwhile_is_a_conflict(engine: Engine, tmp_path: Path) -> None:
    """The edit of an atom that was tombstoned since becomes an atom of its own."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "From the page.")
    engine.tombstone(IDS[5])
    report = engine.mirror_pull(tmp_path / "m")
    assert [edit.outcome for edit in report.edits] == [Outcome.CONFLICT]
    assert engine.get(IDS[5]).state.name == "TOMBSTONED"
    assert engine.get(report.edits[0].other or "").content == "From the page."


def test_other_changes_since_are_no_conflict(engine: Engine, tmp_path: Path) -> None:
    """If the atom only got a tag since, its text is revised and the tag stays."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "Edited.")
    engine.tag(IDS[5], "later")
    engine.mirror_pull(tmp_path / "m")
    atom = engine.get(IDS[5])
    assert (atom.content, atom.tags) == ("Edited.", ("later",))


def test_ingest_respects_an_edit(tmp_path: Path) -> None:
    """A text that was edited in a page is a change by hand: a later ingest does not undo it."""
    engine = engine_on()
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("The oak beside the gate is old.\n")
    engine.ingest([tmp_path / "n"])
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "gate"), "beside the gate is old.", "beside the well is old.")
    engine.mirror_pull(tmp_path / "m")
    size = engine.size
    engine.ingest([tmp_path / "n"])
    assert engine.size == size
    (tmp_path / "n" / "a.md").write_text("The oak beside the pond is old.\n")
    engine.ingest([tmp_path / "n"])
    assert sorted(contents(engine).values()) == [
        "The oak beside the pond is old.",
        "The oak beside the well is old.",
    ]
    assert len(engine.conflicts()) == 1


def kept_text(report: PullReport) -> str:
    """Return the text of the only edited page that was kept."""
    (path,) = {change.kept for change in report.refused}
    return Path(path).read_bytes().decode(errors="replace")


UNTAKEN = {
    "a changed heading": (f"## [{IDS[5]}] Text", f"## [{IDS[5]}] Another", "heading or the properties"),
    "a changed id": (f"## [{IDS[5]}]", f"## [{IDS[8]}]", "headings were changed"),
    "a changed fact": ("sequence 5", "sequence 7", "heading or the properties"),
    "a changed title of the page": ("# notes.md\n", "# mine.md\n", "beginning of the page"),
    "a deleted heading": (f"## [{IDS[5]}] Text 5\n", "", "headings were changed"),
    "a deleted text": ("\n\nThe last one.", "", "`engine tombstone"),
    "a new section": (
        "\n\nThe last one.",
        f"\n\nThe last one.\n\n---\n\n## [{IDS[8]}] New\n\nText.",
        "headings were changed",
    ),
    "an imitated heading": ("In two lines.", f"In two lines.\n\n## [{IDS[1]}] mine", "headings were changed"),
    "a heading in a fence": (
        "In two lines.",
        f"In two lines.\n\n```\n## [{IDS[1]}]\n```",
        "headings were changed",
    ),
    "an open fence": ("```text\n# Fenced", "# Fenced", "fence"),
}


@pytest.mark.parametrize("what", UNTAKEN)
def test_what_cannot_be_taken_is_kept(engine: Engine, tmp_path: Path, what: str) -> None:
    """A change of anything but a text changes no atom; it is reported, and the edited page is kept."""
    old, new, reason = UNTAKEN[what]
    engine.mirror(tmp_path / "m")
    size = engine.size
    page = page_with(tmp_path / "m", "The last one.")
    page.write_text(page.read_text().replace(old, new, 1))
    mine = page.read_text()
    report = engine.mirror_pull(tmp_path / "m")
    assert any(reason in change.reason for change in report.refused), report.refused
    assert (report.edits, engine.size) == ((), size)
    assert kept_text(report) == mine
    assert is_fresh(engine, tmp_path / "m")
    again = engine.mirror_pull(tmp_path / "m")
    assert (again.edits, again.refused, engine.size) == ((), report.refused, size)


def test_one_text_is_taken_although_another_section_cannot(engine: Engine, tmp_path: Path) -> None:
    """A section with a change that cannot be applied does not prevent the edit of another section."""
    engine.tombstone(IDS[4])
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "The last one.")
    edited(page, "The last one.", "The very last one.")
    edited(page, f"## [{IDS[1]}]", f"### [{IDS[1]}]")
    report = engine.mirror_pull(tmp_path / "m")
    assert [edit.atom for edit in report.edits] == [IDS[5]]
    assert [change.atom for change in report.refused] == [IDS[1], IDS[0]]
    assert contents(engine)[IDS[0]] == TEXTS[0]


def test_a_copy_of_the_next_section_does_not_end_a_text(engine: Engine, tmp_path: Path) -> None:
    """A text that contains a copy of the next section, for example as code, is not cut off before it."""
    engine.tombstone(IDS[4])
    engine.mirror(tmp_path / "m")
    before = contents(engine)
    page = page_with(tmp_path / "m", "The last one.")
    copy = page.read_text().partition(f"## [{IDS[1]}]")[2].partition("\n\n---\n\n")[0]
    edited(page, "In two lines.", f"In two lines.\n\n~~~\n\n---\n\n## [{IDS[1]}]{copy}\n\n~~~")
    report = engine.mirror_pull(tmp_path / "m")
    assert contents(engine) == before
    assert {change.atom for change in report.refused} == {IDS[0], IDS[1]}


def test_a_section_without_its_rule_is_not_joined(engine: Engine, tmp_path: Path) -> None:
    """If the rule after a text is deleted, the next section is not taken for a part of the text."""
    engine.mirror(tmp_path / "m")
    before = contents(engine)
    page = page_with(tmp_path / "m", "The last one.")
    edited(page, f"In two lines.\n\n---\n\n## [{IDS[1]}]", f"In two lines!\n\n## [{IDS[1]}]")
    report = engine.mirror_pull(tmp_path / "m")
    assert contents(engine) == before
    assert [change.atom for change in report.refused] == [IDS[0]]


def test_what_is_not_utf_8_is_kept(engine: Engine, tmp_path: Path) -> None:
    """A page with bytes that are not UTF-8 is kept byte for byte."""
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "The last one.")
    mine = page.read_bytes().replace(b"The last one.", b"The l\xe4st one.\n")
    page.write_bytes(mine)
    (change,) = engine.mirror_pull(tmp_path / "m").refused
    assert "not UTF-8" in change.reason
    assert Path(change.kept).read_bytes() == mine


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.rstrip(b"\n"),
        lambda data: data + b"\n\n",
        lambda data: data.replace(b"In two lines.\n\n---", b"In two lines.\n\n\n\n---"),
        lambda data: data.replace(b"In two lines.\n\n---", b"In two lines.\n---"),
    ],
    ids=["mark", "CRLF", "no line end", "more line ends", "more blank lines", "no blank line"],
)
def test_what_editors_do_changes_nothing(engine: Engine, tmp_path: Path, change: object) -> None:
    """A byte order mark, CRLF, and blank lines around texts are no edits."""
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "The last one.")
    page.write_bytes(change(page.read_bytes()))  # type: ignore[operator]
    size = engine.size
    report = engine.mirror_pull(tmp_path / "m")
    assert (report.edits, report.refused, engine.size) == ((), (), size)
    assert is_fresh(engine, tmp_path / "m")


def test_a_page_that_only_refers_to_a_text(engine: Engine, tmp_path: Path) -> None:
    """A text under a heading that only refers to another page is not taken."""
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "- see: ")
    page.write_text(page.read_text() + "\nMine.\n")
    (change,) = engine.mirror_pull(tmp_path / "m").refused
    assert (change.atom, "on another page" in change.reason) == (IDS[7], True)


def test_removed_and_foreign_files(engine: Engine, tmp_path: Path) -> None:
    """A removed page hides no atom and is written again; a new file stays, and is reported by the mirror."""
    engine.mirror(tmp_path / "m")
    size = engine.size
    page = page_with(tmp_path / "m", "The last one.")
    page.rename(page.with_name("renamed.md"))
    report = engine.mirror_pull(tmp_path / "m")
    assert [change.reason for change in report.refused] == [
        "the page was removed or renamed; it is written again"
    ]
    assert report.mirror is not None
    assert report.mirror.foreign == (str(page.with_name("renamed.md").relative_to(tmp_path / "m")),)
    assert (engine.size, page.exists()) == (size, True)


def test_an_edit_that_a_sync_set_aside_is_taken_later(engine: Engine, tmp_path: Path) -> None:
    """An edited page that was replaced is pulled from the folder in which it was kept."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "Edited.")
    engine.add("more", source="notes.md")
    engine.mirror(tmp_path / "m")
    assert listed(tmp_path) == ["m", "m.edited"]
    report = engine.mirror_pull(tmp_path / "m")
    assert [edit.atom for edit in report.edits] == [IDS[5]]
    assert contents(engine)[IDS[5]] == "Edited."
    assert listed(tmp_path) == ["m"]


def test_a_kept_page_is_not_taken_twice(engine: Engine, tmp_path: Path) -> None:
    """An edit on a page that is kept for another reason is not taken again after the atom was changed."""
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "The last one.")
    edited(page, "The last one.", "Edited.")
    edited(page, "# notes.md\n", "# mine.md\n")
    engine.mirror_pull(tmp_path / "m")
    engine.revise(IDS[5], "Changed again.")
    size = engine.size
    report = engine.mirror_pull(tmp_path / "m")
    assert ([edit.outcome for edit in report.edits], engine.size) == ([Outcome.SAME], size)


def test_a_page_that_shows_an_erased_state(engine: Engine, tmp_path: Path) -> None:
    """An edit on a page with a text that was erased since is kept, and the text does not come back."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "Edited.")
    engine.erase(IDS[0], "not ours")
    report = engine.mirror_pull(tmp_path / "m")
    assert "erased" in report.refused[0].reason
    assert contents(engine)[IDS[5]] == "The last one."


def test_secrets_and_limits_apply(tmp_path: Path) -> None:
    """An edit that `revise` would refuse is kept, and the other edits are taken."""
    engine = filled()
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", "The last one.")
    secret = "AKIA" + "Z7Q2M4XW9LKD3RTV"
    edited(page, "In two lines.", f"In two lines. {secret}")
    edited(page, "Because of the heading.", "x" * (1 << 20))
    edited(page, "The last one.", "Edited.")
    strict = Engine(engine.store.backend, secrets=SecretsPolicy("refuse"))
    report = strict.mirror_pull(tmp_path / "m")
    assert [edit.atom for edit in report.edits] == [IDS[5]]
    assert [change.atom for change in report.refused] == [IDS[0], IDS[1]]
    assert secret not in "".join(change.reason for change in report.refused)


def test_a_page_of_a_later_state_is_kept(engine: Engine, tmp_path: Path) -> None:
    """An edit on a page that shows more events than the store has, after a restore, is kept."""
    later = filled()
    later.add("later", source="notes.md")
    later.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "Edited.")
    report = engine.mirror_pull(tmp_path / "m")
    assert "the store has only" in report.refused[0].reason
    assert "Edited." in kept_text(report)
    assert is_fresh(engine, tmp_path / "m")


def pull_without_sync(engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pull, but end after the store was written, as if the process was killed."""

    def failing(*_: object, **__: object) -> None:
        raise RefusedError("killed")

    monkeypatch.setattr("engine.files.mirror.mirror_pull.sync", failing)
    with pytest.raises(RefusedError):
        engine.mirror_pull(folder)
    monkeypatch.undo()


def test_an_edit_with_a_secret_is_taken_once(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a pull ends after the store was written, the next pull recognises a text whose secret was masked."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "AKIA" + "Z7Q2M4XW9LKD3RTV")
    masking = Engine(engine.store.backend, secrets=SecretsPolicy("redact"))
    pull_without_sync(masking, tmp_path / "m", monkeypatch)
    size = engine.size
    report = masking.mirror_pull(tmp_path / "m")
    assert [edit.outcome for edit in report.edits] == [Outcome.SAME]
    assert (engine.size, "AKIA" in (engine.get(IDS[5]).content or "")) == (size, False)


def test_a_conflict_is_recorded_once(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a pull ends after a conflict was recorded, the next pull does not record the conflict again."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "From the page.")
    engine.revise(IDS[5], "From the store.")
    pull_without_sync(engine, tmp_path / "m", monkeypatch)
    (conflict,) = engine.conflicts()
    engine.settle(conflict.file.id, conflict.hand.id, "both")
    size = engine.size
    engine.mirror_pull(tmp_path / "m")
    assert (engine.size, engine.conflicts()) == (size, [])


def test_an_entity_gets_no_second_atom(engine: Engine, tmp_path: Path) -> None:
    """The edit of an entity that was changed in the store is kept, because a conflict would be an entity."""
    engine.relate("Ann", "knows", "Bob")
    ann = next(found.id for found in engine.find(limit=100) if engine.get(found.id).content == "Ann")
    engine.mirror(tmp_path / "m")
    page = page_with(tmp_path / "m", f"## [{ann}] Ann")
    page.write_text(page.read_text().replace("] Ann\n", "] Anna\n").replace("\n\nAnn\n", "\n\nAnna\n"))
    engine.revise(ann, "Annie")
    (change,) = engine.mirror_pull(tmp_path / "m").refused
    assert (change.atom, "is an entity" in change.reason) == (ann, True)
    assert "Anna" not in contents(engine).values()


def test_an_edit_during_a_pull_is_kept(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is edited again after it was read, in the mirror or aside, is kept for the next pull."""
    engine.mirror(tmp_path / "m")
    path = page_with(tmp_path / "m", "The last one.").relative_to(tmp_path / "m")
    edited(tmp_path / "m" / path, "The last one.", "Aside.")
    engine.mirror(tmp_path / "m")
    edited(tmp_path / "m" / path, "In two lines.", "In the mirror.")

    def edited_before(*args: Any, **options: Any) -> MirrorReport:
        edited(tmp_path / "m" / path, "Because of the heading.", "Too late for the mirror.")
        edited(tmp_path / "m.edited" / "1" / path, "print('code')", "print('too late')")
        return sync(*args, **options)

    monkeypatch.setattr(mirror_pull, "sync", edited_before)
    engine.mirror_pull(tmp_path / "m")
    monkeypatch.undo()
    assert is_fresh(engine, tmp_path / "m")
    report = engine.mirror_pull(tmp_path / "m")
    assert {edit.atom for edit in report.edits if edit.outcome is Outcome.REVISED} == {IDS[1], IDS[3]}
    found = contents(engine)
    assert [found[IDS[number]].splitlines()[-1] for number in (0, 5)] == ["In the mirror.", "Aside."]
    assert (engine.conflicts(), listed(tmp_path)) == ([], ["m"])


def test_a_page_that_is_too_large_is_kept(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page over the limit is not read, and kept."""
    engine.mirror(tmp_path / "m")
    edited(page_with(tmp_path / "m", "The last one."), "The last one.", "Edited.")
    monkeypatch.setattr(mirror_pull, "PAGE_BYTES_MAX", 100)
    report = engine.mirror_pull(tmp_path / "m")
    assert ("more than 100 bytes" in report.refused[0].reason, report.edits) == (True, ())
    assert "Edited." in kept_text(report)


def test_there_must_be_a_mirror(engine: Engine, tmp_path: Path) -> None:
    """A pull from a folder that does not exist, or is empty, is an error."""
    (tmp_path / "empty").mkdir()
    for name in ("none", "empty"):
        with pytest.raises(NotFoundError):
            engine.mirror_pull(tmp_path / name)
