"""Reads SPEC.md and its parts: tables by the comment before them, fenced blocks by their info string."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "SPEC.md"
PARTS = (
    PAGE,
    *(
        ROOT / "docs" / "spec" / f"{name}.md"
        for name in ("journal", "index", "proofs", "checkpoints", "merge")
    ),
)
"""SPEC.md and its parts, in the order in which SPEC.md lists them."""


@cache
def page() -> str:
    """Return the text of all parts."""
    return "\n".join(part.read_text(encoding="utf-8") for part in PARTS)


@cache
def sentences() -> str:
    """Return the text of all parts with single spaces, so that sentences are found across line breaks."""
    return " ".join(page().split())


def table(name: str, text: str | None = None) -> list[list[str]]:
    """Return the cells of the table after `<!-- table: name -->`, without backticks and without its head.

    The table is looked for in all parts or, if it is given, in `text`.
    """
    lines = (page() if text is None else text).partition(f"<!-- table: {name} -->\n")[2].split("\n")
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    return rows[2:]


def block(word: str) -> list[str]:
    """Return the lines of every fenced block whose info string is `word`."""
    found = [rest.partition("\n```")[0] for rest in page().split(f"```{word}\n")[1:]]
    return "\n".join(found).split("\n")


def named(word: str) -> dict[str, str]:
    """Return the lines `name = value` of all fenced blocks whose info string is `word`."""
    pairs = (line.partition(" = ") for line in block(word))
    return {name.strip(): value for name, _, value in pairs}


@cache
def vectors(name: str) -> dict[str, list[list[str]]]:
    """Return the contents of a file of test vectors."""
    found: dict[str, list[list[str]]] = json.loads((ROOT / "tests" / "vectors" / f"{name}.json").read_bytes())
    return found


def example_values() -> dict[str, str]:
    """Return the worked example, name by name."""
    return dict(vectors("example")["example"])


def record_fields(name: str) -> list[str]:
    """Return the names that section 7 lists for `Atom record` or `Edge record`, in order."""
    listed = page().partition(f"**{name}**: CBOR [")[2].partition("].")[0]
    return [field.strip().partition("[")[0].replace(" ", "_") for field in listed.split(",")]


def number(cell: str) -> int:
    """Return a number that the page writes with commas, or in hexadecimal after 0x."""
    plain = cell.replace(",", "")
    return int(plain, 16) if plain.startswith("0x") else int(plain)


def stop_words() -> frozenset[str]:
    """Return the stop words of section 11."""
    return frozenset(" ".join(block("stop-words")).split())


def blocks() -> dict[str, list[tuple[int, int]]]:
    """Return white space and the blocks of section 11 as ranges that include both ends."""
    found: dict[str, list[tuple[int, int]]] = {}
    for name, ranges in (*table("white space"), *table("blocks")):
        pairs = (item.partition("-") for item in ranges.split())
        found[name] = [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]
    return found
