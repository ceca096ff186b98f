"""Record a terminal session and draw it as an animated SVG: `python examples/picture.py docs/picture.svg`.

The commands of `SESSION` run in a shell, in an empty folder, against a new store. Two programs are
replaced, so that every run gives the same picture: `engine` runs with a fixed clock and fixed salts, and
`sqlite3` is a script that uses Python's module of that name. Each line of output in the picture is a line
that a command printed, cut to the width of the picture.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.sax.saxutils import escape

PROJECT = Path(__file__).resolve().parents[1]
SESSION = [
    "# Texts go in and are found by their words.",
    "engine add 'The kettle is descaled on Fridays.' --tag kitchen -q",
    "engine add 'Ms Okafor services the boiler in October.' --tag heating -q",
    "engine recall 'When is the kettle descaled?' -q",
    "# A proof that no text mentions a word. Checking it takes no store.",
    "engine prove no-term unicorns -o absent.memproof | sed 3q",
    "engine verify-proof absent.memproof --root $ROOT",
    "# Somebody deletes one row behind the program's back.",
    "sqlite3 memory.db \"DELETE FROM rows WHERE instr(key, 'kitchen')\"",
    "engine verify-root 2>/dev/null | grep -E 'verified|difference'",
    "# The journal is intact, so everything else can be made again.",
    "engine rebuild -q && engine verify-root -q | grep verified",
]
VARIABLES = "ROOT=$(engine root -q)\n"

ENGINE = """
import sys
from engine.engine import Engine
from engine.cli.main import main
staged = {"clock": lambda: 1_800_000_000_000_000, "salts": lambda seq: bytes([seq % 256]) * 32}
Engine.__init__.__wrapped__.__kwdefaults__.update(staged)
sys.argv[0] = "engine"
sys.exit(main())
"""
SQLITE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute(sys.argv[2])
database.commit()
"""

COLUMNS, CELL, LINE, FONT = 82, 8.43, 21, 14
LEFT, TOP, BAR = 18, 26, 34
TYPED_S, THINK_S, ANSWER_S, HOLD_S = 0.02, 0.3, 0.6, 5.0

FRAME = f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 @WIDTH@ @HEIGHT@" width="@WIDTH@" height="@HEIGHT@">
<title>A terminal session with memroot</title>
<style>
text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}}
.frame,.back{{fill:#0d1117}}.frame{{stroke:#6e7681}}.bar{{fill:#21262d}}.cursor{{fill:#8b949e}}.cover{{opacity:0}}
.in{{fill:#f0f6fc;font-weight:600}}.out,.title{{fill:#b1bac4}}.note{{fill:#79c0ff}}.good{{fill:#56d364}}.bad{{fill:#ff7b72}}
@RULES@
@media (prefers-reduced-motion:reduce){{text,.cover{{animation:none!important}}}}
</style>
<clipPath id="inside"><rect width="@WIDTH@" height="@HEIGHT@" rx="8"/></clipPath>
<g clip-path="url(#inside)"><rect class="frame" width="@WIDTH@" height="@HEIGHT@" rx="8" stroke-width="2"/>
<rect class="bar" x="1" y="1" width="100%" height="{BAR}"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/>
<circle cx="40" cy="18" r="6" fill="#febc2e"/>
<circle cx="60" cy="18" r="6" fill="#28c840"/>
<text class="title" x="@MIDDLE@" y="23" text-anchor="middle">memroot</text>
@LINES@
</g></svg>
"""


class Entry(NamedTuple):
    """A command line, and the lines that the command printed."""

    typed: str
    printed: list[str]


def record() -> list[Entry]:
    """Run the session; return each command with the lines that it printed.

    Raises:
        RuntimeError: A command failed.
    """
    with TemporaryDirectory() as place:
        programs, here = Path(place, "bin"), Path(place, "here")
        programs.mkdir()
        here.mkdir()
        for name, source in (("engine", ENGINE), ("sqlite3", SQLITE)):
            line = shlex.join([sys.executable, "-c", source])
            (programs / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
            (programs / name).chmod(0o755)
        environment = {
            "HOME": place,
            "LC_ALL": "C.UTF-8",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(PROJECT),
            "ENGINE_STORE": "sqlite:memory.db",
        }
        entries = []
        for typed in SESSION:
            needs = VARIABLES if "$ROOT" in typed else ""
            done = subprocess.run(  # noqa: S603  runs the commands above and nothing else
                ["sh", "-c", needs + typed],  # noqa: S607  as a person does
                cwd=here,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            )
            if done.returncode:
                raise RuntimeError(f"{typed}\nended with {done.returncode}:\n{done.stdout}")
            entries.append(Entry(typed, done.stdout.splitlines()))
        return entries


def cut(line: str) -> str:
    """Return the line, shortened with an ellipsis if it is wider than the picture."""
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def colour(line: str) -> str:
    """Return the CSS class of a printed line; results of a verification have a separate colour."""
    if "NO" in line.split() or line.startswith("difference"):
        return "bad"
    return "good" if line.startswith(("holds", "verified")) else "out"


class Drawing:
    """The lines of the picture from top to bottom, and the animation that shows them one after another."""

    def __init__(self) -> None:
        self.now = 0.0
        self.y = BAR + TOP
        self.shapes: list[str] = []
        self.moves: list[tuple[str, float, float, int]] = []

    def text(self, line: str, kind: str, at: float) -> None:
        """Draw a line that appears at a given time."""
        name = f"l{len(self.moves)}"
        self.moves.append((name, at, at, 0))
        shown = cut(line)
        wide = f'textLength="{len(shown) * CELL:.1f}"'  # the same columns in every font
        self.shapes.append(
            f'<text id="{name}" class="{kind}" x="{LEFT}" y="{self.y}" {wide}>{escape(shown)}</text>'
        )
        self.y += LINE

    def type(self, line: str) -> None:
        """Draw a line that seems to be typed: a cover with a cursor moves to the right, letter by letter."""
        length = len(cut(line))
        start, end = self.now, self.now + TYPED_S * length
        self.text(line, "in", start)
        name = f"l{len(self.moves)}"
        self.moves.append((name, start, end, length))
        top = self.y - LINE - FONT
        width = (COLUMNS + 4) * CELL
        self.shapes.append(
            f'<g id="{name}" class="cover">'
            f'<rect class="back" x="{LEFT}" y="{top}" width="{width:.0f}" height="{LINE}"/>'
            f'<rect class="cursor" x="{LEFT}" y="{top + 2}" width="{CELL}" height="{LINE - 4}"/></g>'
        )
        self.now = end + THINK_S

    def answer(self, lines: list[str]) -> None:
        """Draw the output of a command. The output appears as a whole."""
        for line in lines:
            self.text(line, colour(line), self.now)
        self.now += ANSWER_S * bool(lines)

    def styles(self) -> str:
        """Return the CSS rules of an animation that repeats endlessly."""
        last = self.now + HOLD_S
        rules = []
        for name, start, end, length in self.moves:
            begin, finish = 100 * start / last, 100 * end / last
            if length:
                way = f"translateX({length * CELL:.1f}px)"
                rules.append(
                    f"@keyframes {name}{{0%{{opacity:0;animation-timing-function:step-end}}"
                    f"{begin:.2f}%{{opacity:1;transform:none;animation-timing-function:steps({length})}}"
                    f"{finish:.2f}%,{finish + 0.2:.2f}%"
                    f"{{opacity:1;transform:{way};animation-timing-function:step-end}}"
                    f"{finish + 0.21:.2f}%,100%{{opacity:0;transform:{way}}}}}"
                )
            else:
                rules.append(f"@keyframes {name}{{0%{{opacity:0}}{begin:.2f}%,100%{{opacity:1}}}}")
            timing = "linear" if length else "step-end"
            rules.append(f"#{name}{{animation:{name} {last:.2f}s {timing} infinite}}")
        return "".join(rules)


def draw(entries: list[Entry]) -> str:
    """Return the SVG. If animation is unsupported or turned off, the SVG shows the last frame."""
    drawing = Drawing()
    for number, (typed, printed) in enumerate(entries):
        comment = typed.startswith("#")
        if comment and number:
            drawing.y += LINE // 2
        if comment:
            drawing.text(typed, "note", drawing.now)
            drawing.now += ANSWER_S
        else:
            drawing.type(f"$ {typed}")
            drawing.answer(printed)
    width, height = round(2 * LEFT + COLUMNS * CELL), drawing.y
    values = {
        "WIDTH": str(width),
        "HEIGHT": str(height),
        "MIDDLE": str(width // 2),
        "RULES": drawing.styles(),
        "LINES": "\n".join(drawing.shapes),
    }
    picture = FRAME
    for name, value in values.items():
        picture = picture.replace(f"@{name}@", value)
    return picture


def main(place: str) -> None:
    """Record the session and write the picture to the path on the command line."""
    Path(place).write_text(draw(record()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
