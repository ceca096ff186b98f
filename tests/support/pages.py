"""Reads code blocks, commands, links and names of code in the documentation, for `tests/test_docs.py`."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token

from engine.cli.cli_session import Session
from engine.cli.command_tree import build
from tests.support.measuring import measured

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "bench").glob("*.md"))
    if not page.name.startswith(".")
)
"""The paths of all pages of the documentation."""

RUN, CONTINUED = "<!-- run -->", "<!-- run: continued -->"
PROMPT = "$ "
SECONDS = 600


class Block(NamedTuple):
    """A fenced block of a page, with the output block and the comment that belong to it."""

    page: Path
    line: int
    language: str
    text: str
    output: str | None
    """The text of the `output` block directly after the block, or None."""
    note: str
    """The HTML comment directly before the block, or an empty text."""

    @property
    def name(self) -> str:
        """The page and the line of the block, used in the name of a test."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Command(NamedTuple):
    """A command line, and the lines that it prints."""

    line: str
    printed: list[str]


@cache
def parsed(page: Path) -> list[Token]:
    """Return the Markdown tokens of a page. The result is cached and shared by all tests."""
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


SERVICE: Final = "<!-- service -->"
"""The comment before a Python block that needs a service."""


def blocks(language: str) -> list[Block]:
    """Return the fenced blocks in a language from all pages, in order."""
    found = []
    for page in PAGES:
        tokens = [None, *parsed(page), None]
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if token is None or token.type != "fence" or token.info != language:
                continue
            output = after.content if after and after.type == "fence" and after.info == "output" else None
            note = before.content.strip() if before and before.type == "html_block" else ""
            found.append(
                Block(page, token.map[0] + 1 if token.map else 0, language, token.content, output, note)
            )
    return found


def environment_of(block: Block) -> str:
    """Return the environment that the comment before a block names, or an empty text if it names none."""
    match = re.fullmatch(r"<!-- environment: ([a-z-]+) -->", block.note)
    return match[1] if match else ""


def commands(text: str) -> list[Command]:
    """Return the commands of a console block."""
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            found.append(Command(line.removeprefix(PROMPT), []))
        elif found:
            found[-1].printed.append(line)
    return found


def engine_calls(line: str) -> Iterator[list[str]]:
    """Return the arguments of each call of `engine` in a shell line, including calls inside `$(…)`."""
    outer, *inner = line.split("$(")
    for part in inner:
        call, _, rest = part.partition(")")
        yield from engine_calls(call)
        outer += "f" * 64 + rest
    lexer = shlex.shlex(outer, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in (*lexer, ";"):
        if set(word) <= set("|&;<>()"):
            if set(word) <= set("<>") and words and words[-1].isdigit():
                words.pop()  # the stream that is sent elsewhere, as in 2>file
            if words and Path(words[0]).name == "engine":
                yield words[1:]
            words = []
        else:
            words.append(word)


def sessions() -> list[list[Block]]:
    """Return the console blocks that are run. Blocks that share one shell are grouped."""
    found: list[list[Block]] = []
    for block in blocks("console"):
        if block.note == RUN:
            found.append([block])
        elif block.note == CONTINUED:
            assert found, f"{block.name} continues nothing"
            assert found[-1][0].page == block.page, f"{block.name} continues another page"
            found[-1].append(block)
    return found


def run(programs: Path, folder: Path, *words: str, text: str = "") -> tuple[int, str]:
    """Run a program in an empty folder without user settings; return the exit code and the merged output.

    Programs are searched in `programs` first.
    """
    home, place = folder / "home", folder / "here"
    home.mkdir()
    place.mkdir()
    result = subprocess.run(
        words,
        cwd=place,
        env={
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "ENGINE_PIPELINE": "none",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            **measured(),
        },
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return result.returncode, result.stdout


def settled(lines: list[str]) -> list[str]:
    """Replace the parts of printed lines that vary between runs: ids, roots, tokens, times, rates."""
    kept = []
    for line in lines:
        shown = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID", line)
        shown = re.sub(r"\b[0-9a-f]{64}\b", "ROOT", shown)
        shown = re.sub(r"\bmr_[0-9A-Za-z_-]{43}(?![0-9A-Za-z_-])", "TOKEN", shown)
        shown = re.sub(r"\+[0-9a-f]{8}\+[0-9A-Za-z+/]{44}$", "+KEY", shown)
        shown = re.sub(r"^[0-9A-Za-z+/]{43}=$", "LOG ROOT", shown)
        shown = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "TIME", shown)
        shown = re.sub(r'(, |"when": "|  )\d{4}-\d\d-\d\d(?=[]"]|$)', r"\1DAY", shown)  # a text of today
        shown = re.sub(r"^rows +\d+ compared$", "ROWS compared", shown)  # pages of a tree depend on the ids
        shown = re.sub(r"^(proof +)\d+ bytes", r"\1N bytes", shown)  # how far trees branch depends on ids
        shown = re.sub(r"\btags key 672f02[0-9a-f]{36}\b", "tags key KEY", shown)  # a label differs by store
        shown = re.sub(r'"duration_ms": [0-9.]+', '"duration_ms": N', shown)
        shown = re.sub(r'"tokens": \d+', '"tokens": N', shown)  # an id's digits cost more or less
        shown = re.sub(r"\b\d+ tokens(, \d+ in all)?", "N tokens", shown)
        shown = re.sub(r"Tokens: \d+ exploration vs \d+", "Tokens: N exploration vs N", shown)
        shown = re.sub(r"\(-?\d+% savings\)", "(N% savings)", shown)
        shown = re.sub(r"\b[0-9a-f]{8}\b", "SHORT", shown)  # how an id begins
        kept.append(re.sub(r" in [0-9.]+ s, [0-9,]+/s$", " in TIME", shown).rstrip())
    # The edges of one type are in the order of the ids at their other ends, and ids depend on the store.
    runs = groupby(kept, key=lambda line: re.match(r" +\S.* → .* → ", line) is not None)
    return [line for edges, run in runs for line in (sorted(run) if edges else run)]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: the names that GitHub derives from the headings."""
    found: set[str] = set()
    tokens = parsed(page)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(part.content for part in inline.children or [])
            kept = "".join(char for char in text.lower() if char.isalnum() or char in " -_")
            found.add(kept.strip().replace(" ", "-"))
    return found


def spans(page: Path, kind: str) -> Iterator[tuple[int, Token]]:
    """Return the links (`link_open`) or code spans (`code_inline`) of a page, with their line numbers."""
    for token in parsed(page):
        for child in token.children or []:
            if child.type == kind:
                yield token.map[0] + 1 if token.map else 0, child


def defined(module: Path) -> set[str]:
    """Return the names that a module defines: functions, classes, `Class.method` and constants."""
    found: set[str] = set()

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign):
                found.update(prefix + target.id for target in node.targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(prefix + node.target.id)

    visit(ast.parse(module.read_text(encoding="utf-8")).body, "")
    return found


def relative(page: Path) -> str:
    """Return the path of a page relative to the project."""
    return str(page.relative_to(ROOT))


def parse(arguments: list[str]) -> None:
    """Parse arguments as the command `engine` does, without running a command.

    Raises:
        click.UsageError: `engine` would report a usage error for these arguments.
    """
    group = build()
    try:
        with group.make_context("engine", list(arguments), obj=Session()) as ctx:
            words: list[Any] = [*ctx._protected_args, *ctx.args]
            name, command, rest = group.resolve_command(ctx, words)
            assert command is not None  # an unknown name is a usage error
            command.make_context(name, rest, parent=ctx)
    except click.exceptions.Exit:
        return  # --version and --help end the parsing
