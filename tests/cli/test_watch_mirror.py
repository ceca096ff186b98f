"""`engine watch` applies the edits in the mirror of the settings, and is not disturbed by its own writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_watch import Watching, watching_in

pytestmark = pytest.mark.slow


@pytest.fixture
def run(surroundings: Path) -> Iterator[Watching]:
    """Watch a folder with one note, with a mirror."""
    (surroundings / ".engine.toml").write_text('store = "store"\nmirror = "shown"\n')
    (surroundings / "notes").mkdir()
    (surroundings / "notes" / "a.md").write_text("# Oak\n\nThe oak beside the gate.\n")
    with watching_in(surroundings, "watch", "notes") as watching:
        yield watching


def replaced(folder: Path, old: str, new: str) -> None:
    """Replace a text in the page that contains it."""
    page = next(page for page in sorted(folder.rglob("*.md")) if old in page.read_text())
    page.write_text(page.read_text().replace(old, new))


def test_both_ways(run: Watching) -> None:
    """Edits in a page and in a file come into the store; if both concern one text, there is a conflict."""
    shown = run.here / "shown"
    assert run.batch()["added"] == 1
    replaced(shown, "beside the gate", "beside the well")
    assert run.batch() == {"event": "edits", "events": 1, "mirror_error": None}
    (run.notes / "b.md").write_text("An ash grows.")
    # Nothing happened in between: the mirror that was written for the edit is not an edit.
    added = run.batch()
    assert (added["event"], added["added"]) == ("batch", 1)
    (run.notes / "a.md").write_text("# Oak\n\nThe oak beside the pond.\n")
    assert run.batch()["conflicts"] == 1
    # The mirror was replaced twice since; the new folder is watched, too.
    replaced(shown, "An ash grows.", "An ash stands.")
    assert run.batch() == {"event": "edits", "events": 1, "mirror_error": None}
    assert run.texts() == {
        "# Oak\n\nThe oak beside the well.",
        "# Oak\n\nThe oak beside the pond.",
        "An ash stands.",
    }
    pages = "".join(page.read_text() for page in shown.rglob("*.md"))
    assert ("beside the well" in pages, "beside the pond" in pages) == (True, True)
    code, _, err = run.interrupt()
    assert (code, "Traceback" in err) == (0, False)
