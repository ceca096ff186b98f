"""A page is found by its name, and a text before what holds only a name or only quotes it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from engine import Engine
from tests.query.recall.support import ask, fillers, keys, named
from tests.support.engines import salt_of, ticking

_FIRST = [
    "garden",
    "solar",
    "winter",
    "copper",
    "river",
    "stone",
    "paper",
    "quiet",
    "orange",
    "village",
    "harbour",
    "silver",
]
_SECOND = ["shed", "panels", "market", "kettle", "letters", "archive", "bridge", "workshop"]


def vault(folder: Path, seed: int) -> dict[str, str]:
    """Write a vault of another shape than a garden of notes, and return the names of its pages.

    Each file has a heading that is not its name, and sections that name other pages more often than its own.
    Some state a title, some an alias, and some names are dates. The result maps each name to its file.
    """
    chosen, names = Random(seed), dict[str, str]()
    pages = [f"{one} {other}" for one in _FIRST for other in _SECOND]
    chosen.shuffle(pages)
    stems = [*pages[:40], *_FIRST[:6], *(f"2023-11-{day:02}" for day in range(1, 9))]
    for number, stem in enumerate(stems):
        others = chosen.sample(stems, 3)
        head = ""
        if number % 3 == 0:
            names[title := f"The book of {stem} number{number}"] = stem
            head += f"title: {title}\n"
        if number % 4 == 0:
            names[alias := f"alias{number} {stem}"] = stem
            head += f"aliases: [{alias}]\n"
        sections = [
            f"## Part {part}\n\nWe spoke about {other}, and {other} again, before the {other} was done.\n"
            for part, other in enumerate(others)
        ]
        path = folder / f"year{number % 3}" / f"{stem}.md"
        path.parent.mkdir(exist_ok=True, parents=True)
        front = f"---\n{head}---\n" if head else ""
        path.write_text(f"{front}# Plan {number}\n\nWhat is to be done first.\n\n" + "\n".join(sections))
        names[stem] = stem
    return names


@pytest.mark.parametrize("seed", [1, 2])
def test_the_first_hit_for_the_name_of_a_page_is_of_this_page(tmp_path: Path, seed: int) -> None:
    """A file name, the title that the file states and an alias lead to the page, whatever its headings."""
    names = vault(tmp_path / "vault", seed)
    with Engine.open("memory:", clock=ticking(), salts=salt_of) as engine:
        engine.ingest([tmp_path / "vault"])
        first = {name: (engine.recall(name, limit=3).hits[0].source or "") for name in names}
        assert {name: Path(source).stem for name, source in first.items()} == names


def test_a_text_about_a_name_comes_before_an_atom_that_is_only_the_name() -> None:
    """An atom whose text has no words but those of its title ranks after the texts with these words."""
    atoms = [
        named("stub", "# Kettle", title="Kettle"),
        named("text", "The old kettle of the workshop leaks near its handle, so we bring it to the shop."),
        named("other", "Nobody knows who repairs it", title="Copper kettle"),
        *fillers(3),
    ]
    assert keys(ask(atoms, "kettle").hits)[:3] == ["other", "text", "stub"]


def test_an_atom_that_is_only_a_name_is_found_if_no_text_has_the_name() -> None:
    """Nothing is lowered below texts that do not have its words."""
    atoms = [named("stub", "# Kettle", title="Kettle"), named("text", "Bring it to the shop"), *fillers(3)]
    assert keys(ask(atoms, "kettle shop").hits)[0] == "stub"


@pytest.mark.parametrize("marks", [("`", "`"), ('"', '"'), ("“", "”"), ("\n> ", "\n")])
def test_a_text_comes_before_the_report_that_quotes_it(marks: tuple[str, str]) -> None:
    """A text in which the words of the question are in a quotation ranks after the text that it quotes."""
    line = "repair the copper kettle before the winter market opens"
    report = f"Kettle, market: open tasks of Anna.\nLine 4: {marks[0]}{line}{marks[1]}"
    own = "On Friday we were in the harbour. I want to " + line + ", and to write letters to everybody there."
    atoms = [named("report", report, 1), named("own", own, 2), *fillers(3)]
    assert keys(ask(atoms, "repair the copper kettle before the market").hits)[:2] == ["own", "report"]
    unmarked = named("report", report.replace(marks[0], " ").replace(marks[1], " "), 1)
    assert keys(ask([unmarked, *atoms[1:]], "repair the copper kettle before the market").hits)[0] == "report"
