"""The pictures of the window: the pages show exactly those that the script takes."""

from __future__ import annotations

import re

from tests.window.browser import ROOT
from tests.window.pictures import BYTES_MAX, FOLDER, NAMES, SCALE, SIZE

SHOWN = re.compile(r"(?:docs/)?pictures/([\w-]+\.webp)")


def test_the_script_takes_exactly_the_pictures_that_are_kept() -> None:
    """Each view, light and dark, and none that the script no longer takes."""
    assert {path.name for path in FOLDER.iterdir()} == NAMES


def test_the_pages_show_all_pictures_and_no_others() -> None:
    """docs/window.md shows each, and README one of them."""
    shown = {
        page: SHOWN.findall((ROOT / page).read_text(encoding="utf-8"))
        for page in ("README.md", "docs/window.md")
    }
    assert sorted(shown["docs/window.md"]) == sorted(NAMES)
    assert len(shown["README.md"]) == 1
    assert set(shown["README.md"]) <= NAMES


def test_the_pictures_are_small_and_of_one_size() -> None:
    """Each is a WebP file of the size of the window, and small enough for a slow connection."""
    for name in NAMES:
        data = (FOLDER / name).read_bytes()
        assert len(data) <= BYTES_MAX
        assert (data[:4], data[8:16]) == (b"RIFF", b"WEBPVP8X")
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        assert (width, height) == tuple(round(side * SCALE) for side in SIZE)
