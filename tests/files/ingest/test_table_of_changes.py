"""The table of docs/editing.md, which says for each change of a file what happens to an atom."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pytest

from engine.engine import Engine
from tests.files.ingest.folder import ASH, ELM, FIR, OAK, Folder, id_of, note, planted
from tests.support.pages import ROOT

NEW: Final = OAK.replace("gate", "well")
Change = Callable[[Folder], None]


def files(**texts: str | None) -> Change:
    """Return a change that writes files by their names, or removes them."""

    def change(notes: Folder) -> None:
        for name, text in texts.items():
            if text is None:
                notes.remove(f"{name}.md")
            else:
                notes.write(f"{name}.md", text)

    return change


def after(by_hand: Callable[[Engine, str], object], change: Change) -> Change:
    """Return a change by hand of the oak's atom, and then a change of files."""

    def both(notes: Folder) -> None:
        by_hand(notes.engine, id_of(notes, "a.md", "oak"))
        change(notes)

    return both


def cut_and_pasted(notes: Folder) -> None:
    """Cut the oak, ingest, and paste it into another file."""
    notes.write("a.md", note(ASH))
    notes.ingest()
    notes.write("c.md", note(OAK))


ROWS: Final[dict[str, tuple[Change, str]]] = {
    "a word is changed": (files(a=note(NEW, ASH)), "a.md revised #mine"),
    "it is written anew": (files(a=note("Something else", ASH)), "a.md revised #mine"),
    "it moves within the file": (files(a=note(ASH, OAK)), "a.md same #mine"),
    "another text is inserted before it": (files(a=note(FIR, OAK, ASH)), "a.md same #mine"),
    "it is copied": (files(b=note(ELM, OAK)), "a.md same #mine"),
    "it is split": (files(a=note(OAK[:32], OAK[32:], ASH)), "a.md revised #mine"),
    "the next text is joined to it": (files(a=note(f"{OAK} {ASH}")), "a.md revised #mine"),
    "it is appended to another text": (
        files(a=note(ASH), b=note(f"{ELM} {FIR} {OAK}")),
        "hidden, tag goes to b.md",
    ),
    "it moves to another file": (files(a=note(ASH), b=note(ELM, OAK)), "b.md same #mine"),
    "it moves to another file and a word is changed": (
        files(a=note(ASH), b=note(ELM, NEW)),
        "b.md revised #mine",
    ),
    "it is cut, and pasted after an ingest": (cut_and_pasted, "c.md same #mine"),
    "it is removed": (files(a=note(ASH)), "hidden"),
    "the frontmatter is changed": (
        files(a=f"---\ntags: [new]\naliases: [Tree]\n---\n{note(OAK, ASH)}"),
        "a.md same #mine #new",
    ),
    "the file is renamed": (files(a=None, c=note(OAK, ASH)), "c.md same #mine"),
    "the file is renamed and a word is changed": (files(a=None, c=note(NEW, ASH)), "c.md revised #mine"),
    "the file is copied": (files(c=note(OAK, ASH)), "a.md same #mine"),
    "the file is deleted": (files(a=None), "a.md same #mine"),
    "a person revised it, and a word is changed": (
        after(lambda engine, atom: engine.revise(atom, content="By hand."), files(a=note(NEW, ASH))),
        "a.md by hand, in conflict #mine",
    ),
    "a person revised it, and the file is renamed": (
        after(lambda engine, atom: engine.revise(atom, content="By hand."), files(a=None, c=note(OAK, ASH))),
        "c.md by hand #mine",
    ),
    "a person tombstoned it, and it moves to another file": (
        after(lambda engine, atom: engine.tombstone(atom), files(a=note(ASH), b=note(ELM, OAK))),
        "hidden",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_becomes_of_an_atom_is_what_the_table_says(notes: Folder, row: str) -> None:
    """After each of twenty changes of files, the atom with a hand-made tag is as the table says."""
    oak = planted(notes, b=note(f"{ELM} {FIR}") if "appended" in row else note(ELM))
    notes.engine.tag(oak, "mine")
    change, result = ROWS[row]
    change(notes)
    notes.ingest()
    assert seen(notes, oak) == result
    assert not notes.ingest().changed
    page = (ROOT / "docs" / "editing.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^\| {re.escape(row)} \| .*`{re.escape(result)}` \|$", page, re.MULTILINE)) == 1


def seen(notes: Folder, oak: str) -> str:
    """Return in the words of the table what became of an atom."""
    atom = notes.engine.get(oak)
    if atom.state.name != "LIVE":
        holder = next((one for one in notes.atoms("b.md") if "mine" in one.tags), None)
        return "hidden" if holder is None else "hidden, tag goes to b.md"
    what = "by hand" if atom.content == "By hand." else "same" if atom.content.endswith(OAK) else "revised"
    what += ", in conflict" * any(one.hand.id == oak for one in notes.engine.conflicts())
    return f"{(atom.source or '').split('/')[-1]} {what} {' '.join(f'#{tag}' for tag in sorted(atom.tags))}"
