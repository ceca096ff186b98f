"""The command sections of docs/cli.md, rendered from the help of the commands.

`python -m tests.support.command_reference` rewrites the sections. In each section, the text after the line
`<!-- notes -->` is written by hand and kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "cli.md"
NOTES: Final = "<!-- notes -->"

_SECTION: Final = re.compile(r"^### `engine ([a-z_-]+)`\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def sections_of(text: str) -> dict[str, str]:
    """Return the text of each command's section, without its heading."""
    return dict(_SECTION.findall(text))


def rendered(command: dict[str, Any], section: str) -> str:
    """Return the section of a command, with the notes of its current `section`."""
    notes = section.partition(NOTES)[2]
    parts = [*_paragraphs(command["help"]), *_table(command), _examples(command["examples"])]
    if notes.strip():
        parts.append(f"{NOTES}\n\n{notes.strip()}")
    return "\n" + "\n\n".join(parts) + "\n\n"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield " ".join(paragraph.split())


def _table(command: dict[str, Any]) -> Iterator[str]:
    rows = [([_argument(one)], one["help"]) for one in command["arguments"]]
    for one in command["options"]:
        name, *others = one["names"]
        value = f" {one['value']}" if one["value"] else ""
        default = f" [default: {one['default']}]" * (bool(one["default"]) and "[default" not in one["help"])
        rows.append(([name + value, *others], one["help"] + default))
    if rows:
        lines = [f"| {_code(names)} | {_escaped(text)} |" for names, text in rows]
        yield "\n".join(["| | |", "|---|---|", *lines])


def _argument(described: dict[str, Any]) -> str:
    name: str = described["name"] if described["required"] else f"[{described['name']}]"
    return f"{name}..." if described["repeatable"] else name


def _code(names: list[str]) -> str:
    return ", ".join(f"`{_escaped(name)}`" for name in names)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _examples(lines: list[str]) -> str:
    return "\n".join(["```console", *(f"$ {line}" for line in lines), "```"])


def described() -> list[dict[str, Any]]:
    """Return the description of every command, as `engine help --json` prints it."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", "help", "--json"], capture_output=True, check=True, text=True
    )
    commands: list[dict[str, Any]] = json.loads(done.stdout)["data"]["commands"]
    return commands


def main() -> None:
    """Rewrite the command sections of docs/cli.md."""
    text = DOCUMENT.read_text(encoding="utf-8")
    current = sections_of(text)
    for command in described():
        name = command["name"]
        before = f"### `engine {name}`\n{current[name]}"
        text = text.replace(before, f"### `engine {name}`\n{rendered(command, current[name])}")
    DOCUMENT.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
