"""Whatever is written into one section of a page, no other atom changes, and no text is lost."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.engine import Engine
from engine.files.mirror.mirror_pages import Pages
from engine.files.mirror.mirror_report import Outcome
from engine.files.mirror.page_edits import content_of
from engine.files.mirror.page_style import StyleName
from tests.files.mirror.parsing import listed, tree
from tests.files.mirror.test_killed import killed_at
from tests.files.mirror.test_mirror_pull import IDS, TEXTS, contents, edited, filled, page_with
from tests.support.soak import times

pytestmark = pytest.mark.slow

HEADING = f"## [{IDS[1]}] Text 1"
PIECES = [
    *("word", " ", "\n", "\n\n", "---", "\n\n---\n\n", "\n- facts: none\n\n", "# ", "```", "```text\n"),
    *(
        "~~~\n",
        "\r\n",
        "\r",
        "\ufeff",
        "\u202e",
        "\u27e8U+0041\u27e9",
        "\u2028",
        "\t",
        "^a-",
        "\x00",
        "%s",
        "$(x)",
    ),
    *(HEADING, f"\n\n---\n\n{HEADING}\n\n", f"## [{IDS[2]}]", f"### [{IDS[3]}] Text 3"),
    *(f"## [{IDS[5]}] Text 5\n\n- facts: none\n\nThe last one.", f"\n## [{IDS[8]}] New\n\nNew."),
]
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
TEXT = st.one_of(HOSTILE, st.text(min_size=1, max_size=40))


def sections(engine: Engine, style: StyleName) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the path of the page with all texts, and of each section the id, the frame and the block."""
    with engine.store.view(*engine.store.followers) as rows:
        page = next(page for page in Pages(rows, style) if len(page.sections) > 4)
    return page.path, [(one.atom, one.frame, one.text) for one in page.sections]


@settings(max_examples=times(240))
@given(
    st.sampled_from(list(StyleName)), st.integers(0, len(TEXTS) - 1), st.integers(0, 40), TEXT, st.booleans()
)
@example(StyleName.PLAIN, 0, 0, f"mine\n\n---\n\n{HEADING}\n\n- facts: none\n\nforged", True)
@example(StyleName.PLAIN, 1, 10, "\n```\ncode\n```\n", False)
@example(StyleName.OBSIDIAN, 5, 3, "\r\n", False)
def test_an_edit_of_one_section_changes_no_other_atom(
    style: StyleName, number: int, at: int, text: str, whole: bool
) -> None:
    """Any text in one section is taken as that atom's content, or refused and kept; nothing else changes."""
    engine = filled()
    with tempfile.TemporaryDirectory() as folder:
        mirror = Path(folder, "m")
        engine.mirror(mirror, style=style)
        path, parts = sections(engine, style)
        _, frame, block = next(part for part in parts if part[0] == IDS[number])
        mine = text if whole else block[:at] + text + block[at:]
        page = (mirror / path).read_bytes().decode()
        assert page.count(frame + block) == 1
        data = page.replace(frame + block, frame + mine).encode()
        (mirror / path).write_bytes(data)
        before = contents(engine)
        report = engine.mirror_pull(mirror)
        after = contents(engine)
        assert {atom: text for atom, text in after.items() if atom != IDS[number]} == {
            atom: text for atom, text in before.items() if atom != IDS[number]
        }
        if report.refused:
            assert after == before
            assert Path(report.refused[0].kept).read_bytes() == data
        else:
            assert listed(Path(folder)) == ["m"]
            assert after[IDS[number]] == content_of(mine.replace("\r\n", "\n"), block)
        fresh = Path(folder, "fresh")
        engine.mirror(fresh, style=style)
        assert tree(fresh) == tree(mirror)
        size = engine.size
        again = engine.mirror_pull(mirror)
        assert engine.size == size
        assert all(edit.outcome is Outcome.SAME for edit in again.edits)


@settings(max_examples=times(200))
@given(st.integers(0, 1_000_000), st.integers(0, 400), st.binary(max_size=30))
def test_any_bytes_in_a_page_change_only_texts_that_they_touch(start: int, size: int, new: bytes) -> None:
    """After any bytes of a page were replaced, each atom has its text, or the text of its section."""
    engine = filled()
    with tempfile.TemporaryDirectory() as folder:
        mirror = Path(folder, "m")
        engine.mirror(mirror)
        path, parts = sections(engine, StyleName.PLAIN)
        page = (mirror / path).read_bytes()
        start %= len(page)
        (mirror / path).write_bytes(page[:start] + new + page[start + size :])
        before = contents(engine)
        touched, place = set(), 0
        for atom, frame, block in parts:
            first = page.index((frame + block).encode(), place)
            place = first + len((frame + block).encode())
            # A change between two sections can touch the text of the first one.
            if first + len(frame.encode()) <= start + size and start <= place + len("\n\n---\n\n"):
                touched.add(atom)
        report = engine.mirror_pull(mirror)
        changed = {atom for atom, text in contents(engine).items() if before.get(atom) != text}
        assert changed <= touched
        if not report.refused:
            assert listed(Path(folder)) == ["m"]


def test_killed_anywhere_no_edit_is_lost(tmp_path: Path) -> None:
    """After a kill at any disk operation of a pull, the next pull has every edit, and repeats none."""

    def opened(folder: Path) -> Engine:
        return Engine.open(f"sqlite:{folder / 'store'}")

    start = tmp_path / "start"
    start.mkdir()
    with opened(start) as engine:
        for number, text in enumerate(TEXTS):
            engine.add(text, id=IDS[number], title=f"Text {number}", source="notes.md", sequence=number)
        engine.mirror(start / "m")
        edited(page_with(start / "m", "The last one."), "The last one.", "Aside.")
        engine.mirror(start / "m")
        edited(page_with(start / "m", "The last one."), "In two lines.", "Edited.")
    place = tmp_path / "place"
    number = 0
    going = True
    while going:
        number += 1
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(start, place)

        def run() -> None:
            with opened(place) as engine:
                engine.mirror_pull(place / "m")

        going = killed_at(number, run)
        with opened(place) as engine:
            engine.mirror_pull(place / "m")
            found = contents(engine)
            assert (found[IDS[5]], found[IDS[0]]) == (
                "Aside.",
                TEXTS[0].replace("In two lines.", "Edited."),
            ), number
            assert len(found) == len(TEXTS)
            assert engine.conflicts() == []
            assert [name for name in listed(place) if not name.startswith("store")] == ["m"], number
            assert engine.check_mirror(place / "m").ok
    assert number > 20
