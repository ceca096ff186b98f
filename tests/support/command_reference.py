"""The command sections of docs/cli.md, rendered from the help of the commands.

`python -m tests.support.command_reference` rewrites the sections. In each section, the text after the line
`<!--notes-->` is written by hand and kept. Arguments and options that several commands explain in the same
words are explained once, in lists of their own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "cli.md"
NOTES: Final = "<!--notes-->"

_COMMON: Final = re.compile(r"(?<=^## Common options\n\n).*?(?=\n\n## )", re.MULTILINE | re.DOTALL)
_SECTION: Final = re.compile(r"^### `engine ([a-z_-]+)`\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def sections_of(text: str) -> dict[str, str]:
    """Return the text of each command's section, without its heading."""
    return dict(_SECTION.findall(text))


def common_rows(commands: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the rows of the arguments and options that several commands have, each with their names."""
    rows: dict[str, tuple[str, ...]] = {}
    for command in commands:
        for row in _rows(command):
            rows[row] = (*rows.get(row, ()), command["name"])
    return {row: names for row, names in rows.items() if len(names) > 1}


def common_lists(common: Mapping[str, tuple[str, ...]]) -> str:
    """Return the common rows, in a list for each set of commands that has them."""
    lists: dict[tuple[str, ...], list[str]] = {}
    for row, names in common.items():
        lists.setdefault(names, []).append(row)
    return "\n\n".join(f"{_code(names)}:\n\n" + "\n".join(rows) for names, rows in lists.items())


def rendered(command: Mapping[str, Any], section: str, common: Mapping[str, tuple[str, ...]]) -> str:
    """Return the section of a command, with the notes of its current `section`."""
    notes = section.partition(NOTES)[2]
    rows = list(_rows(command))
    own = [row for row in rows if row not in common]
    parts = [*_paragraphs(command["help"]), "\n".join(own)]
    if len(own) < len(rows):
        parts.append("[More](#common-options).")
    if notes.strip():
        parts.append(f"{NOTES}\n\n{notes.strip()}")
    return "\n" + "\n\n".join(filter(None, parts)) + "\n\n"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield " ".join(paragraph.split())


def _rows(command: Mapping[str, Any]) -> Iterator[str]:
    for one in command["arguments"]:
        yield f"- {_code([_argument(one)])}: {one['help']}"
    for one in command["options"]:
        name, *others = one["names"]
        value = f" {one['value']}{'...' * one['repeatable']}" if one["value"] else ""
        default = f" [default: {one['default']}]" * (bool(one["default"]) and "[default" not in one["help"])
        text = one["help"].replace(" Repeatable.", "")
        yield f"- {_code([name + value, *others])}: {text}{default}"


def _argument(described: Mapping[str, Any]) -> str:
    name: str = described["name"] if described["required"] else f"[{described['name']}]"
    return f"{name}..." if described["repeatable"] else name


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def described() -> list[dict[str, Any]]:
    """Return the description of every command, as `engine help --json` prints it."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", "help", "--json"], capture_output=True, check=True, text=True
    )
    commands: list[dict[str, Any]] = json.loads(done.stdout)["data"]["commands"]
    return commands


def main() -> None:
    """Rewrite the common options and the command sections of docs/cli.md."""
    text = DOCUMENT.read_text(encoding="utf-8")
    current, commands = sections_of(text), described()
    common = common_rows(commands)
    text = _COMMON.sub(lambda _: common_lists(common), text)
    for command in commands:
        name = command["name"]
        before = f"### `engine {name}`\n{current[name]}"
        text = text.replace(before, f"### `engine {name}`\n{rendered(command, current[name], common)}")
    DOCUMENT.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
