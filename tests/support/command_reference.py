"""The command sections of docs/cli.md, rendered from the help of the commands.

`python -m tests.support.command_reference` rewrites the sections. In each section, the text after the line
`<!-- notes -->` is written by hand and kept. An option that several commands explain in the same words is
explained once, in a table of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "cli.md"
NOTES: Final = "<!-- notes -->"

COMMON_MIN: Final = 3
"""The number of commands from which on an option is explained in the table of common options."""

_COMMON: Final = re.compile(r"(?<=^## Common options\n\n).*?(?=\n\n)", re.MULTILINE | re.DOTALL)
_SECTION: Final = re.compile(r"^### `engine ([a-z_-]+)`\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def sections_of(text: str) -> dict[str, str]:
    """Return the text of each command's section, without its heading."""
    return dict(_SECTION.findall(text))


def common_options(commands: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the rows of the options that at least `COMMON_MIN` commands have, with the names of the options.

    Of two options with one name, only the more frequent one is common.
    """
    counts = Counter(_option(one) for command in commands for one in command["options"])
    rows: dict[str, str] = {}
    for row, count in counts.most_common():
        name = row.split("`")[1].split(" ")[0]
        if count >= COMMON_MIN and name not in rows.values():
            rows[row] = name
    return dict(sorted(rows.items()))


def common_table(common: Mapping[str, str]) -> str:
    """Return the table of the common options."""
    return "\n".join(["| option | meaning |", "|---|---|", *common])


def rendered(command: Mapping[str, Any], section: str, common: Mapping[str, str]) -> str:
    """Return the section of a command, with the notes of its current `section`."""
    notes = section.partition(NOTES)[2]
    parts = [*_paragraphs(command["help"]), *_tables(command, common), _examples(command["examples"])]
    if notes.strip():
        parts.append(f"{NOTES}\n\n{notes.strip()}")
    return "\n" + "\n\n".join(parts) + "\n\n"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield " ".join(paragraph.split())


def _tables(command: Mapping[str, Any], common: Mapping[str, str]) -> Iterator[str]:
    options = list(map(_option, command["options"]))
    rows = [_row([_argument(one)], one["help"]) for one in command["arguments"]]
    rows += [row for row in options if row not in common]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])
    names = [common[row] for row in options if row in common]
    if names:
        yield f"[Common options](#common-options): {_code(names)}."


def _option(one: Mapping[str, Any]) -> str:
    name, *others = one["names"]
    value = f" {one['value']}" if one["value"] else ""
    default = f" [default: {one['default']}]" * (bool(one["default"]) and "[default" not in one["help"])
    return _row([name + value, *others], one["help"] + default)


def _row(names: Sequence[str], text: str) -> str:
    return f"| {_code(names)} | {_escaped(text)} |"


def _argument(described: dict[str, Any]) -> str:
    name: str = described["name"] if described["required"] else f"[{described['name']}]"
    return f"{name}..." if described["repeatable"] else name


def _code(names: Sequence[str]) -> str:
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
    """Rewrite the table of common options and the command sections of docs/cli.md."""
    text = DOCUMENT.read_text(encoding="utf-8")
    current, commands = sections_of(text), described()
    common = common_options(commands)
    text = _COMMON.sub(lambda _: common_table(common), text)
    for command in commands:
        name = command["name"]
        before = f"### `engine {name}`\n{current[name]}"
        text = text.replace(before, f"### `engine {name}`\n{rendered(command, current[name], common)}")
    DOCUMENT.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
