"""SPEC.md as data: its tables, by the comment before them, and its fenced blocks, by their word."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "SPEC.md"


@cache
def page() -> str:
    """The whole text."""
    return PAGE.read_text(encoding="utf-8")


def table(name: str) -> list[list[str]]:
    """The cells of the table after `<!-- table: name -->`, without backticks, without its two head lines."""
    lines = page().partition(f"<!-- table: {name} -->\n")[2].split("\n")
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    return rows[2:]


def block(word: str) -> list[str]:
    """The lines of the block that begins with three backticks and `word`."""
    return page().partition(f"```{word}\n")[2].partition("\n```")[0].split("\n")


def named(word: str) -> dict[str, str]:
    """A block of lines `name = value`."""
    pairs = (line.partition(" = ") for line in block(word))
    return {name.strip(): value for name, _, value in pairs}


def record_fields(name: str) -> list[str]:
    """The names that section 7 lists for `Atom record` or `Edge record`, in order."""
    listed = page().partition(f"**{name}**: CBOR [")[2].partition("].")[0]
    return [field.strip().partition("[")[0].replace(" ", "_") for field in listed.split(",")]


def number(cell: str) -> int:
    """A number as the page writes it: with commas, or in hexadecimal after 0x."""
    plain = cell.replace(",", "")
    return int(plain, 16) if plain.startswith("0x") else int(plain)


def stop_words() -> frozenset[str]:
    """The stop words of section 11."""
    return frozenset(" ".join(block("stop-words")).split())


def blocks() -> dict[str, list[tuple[int, int]]]:
    """The blocks of section 11, ranges with both ends included."""
    found: dict[str, list[tuple[int, int]]] = {}
    for name, ranges in table("blocks"):
        pairs = (item.partition("-") for item in ranges.split())
        found[name] = [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]
    return found
