"""Tests that the documentation is correct: examples run, and commands, link targets and named code exist.

A Python block is a program; an `output` block right after it is what the program prints. A block after a
comment such as `<!-- environment: langchain -->` is run by `tests/frameworks`, and one after
`<!-- service -->` by `tests/clients/test_page.py`. A `console` block
after `<!-- run -->` is typed into a shell in an empty folder, and one after `<!-- run: continued -->` into
the same shell. Its output is compared with the page, except for ids, roots and rates.
"""

import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from engine.base import __version__, limits
from engine.cli.command_tree import COMMANDS
from tests.support.pages import (
    DOCS,
    PAGES,
    ROOT,
    SERVICE,
    Block,
    anchors,
    blocks,
    commands,
    defined,
    engine_calls,
    environment_of,
    parse,
    relative,
    run,
    sessions,
    settled,
    spans,
)
from tests.support.postgresql import free_port

pytestmark = pytest.mark.slow


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """Return the folder of a program `engine` that starts a new interpreter, as for a user."""
    shim = tmp_path / "bin" / "engine"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m engine "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return shim.parent


SHOW_LEVELDB = frozenset({DOCS / "memories.md"})
"""Pages whose sessions show where LevelDB, the default where it is installed, puts a store."""


SERVICE_PORT = "8377"
"""The port of the service in the pages. A test uses a free one in its place."""


HERE = [block for block in blocks("python") if not environment_of(block) and block.note != SERVICE]


@pytest.mark.parametrize("block", HERE, ids=lambda block: block.name)
def test_every_python_block_runs_and_prints_what_it_says(block: Block, forked: Path, tmp_path: Path) -> None:
    """A Python block runs as a program and prints the `output` block that follows it."""
    if "leveldb:" in block.text and find_spec("plyvel") is None:
        pytest.skip("NOT TESTED: plyvel is not installed, so there is no LevelDB here")
    program = tmp_path / "example.py"
    program.write_text(block.text, encoding="utf-8")
    code, printed = run(forked, tmp_path, "python", str(program))
    assert code == 0, printed
    assert block.output is None or printed == block.output


@pytest.mark.parametrize("session", sessions(), ids=lambda session: session[0].name)
def test_every_run_console_block_shows_what_happens(
    session: list[Block], forked: Path, started: Path, tmp_path: Path
) -> None:
    """The commands of a page, run one after another in a shell, print the output that the page shows.

    Each command of the README starts a new interpreter.
    """
    if session[0].page in SHOW_LEVELDB and find_spec("plyvel") is None:
        pytest.skip("NOT TESTED: plyvel is not installed, so there is no LevelDB here")
    typed = [command for block in session for command in commands(block.text)]
    mark = "=== next command ==="
    script = "".join(f"echo {shlex.quote(mark)}\n{command.line}\n" for command in typed)
    if SERVICE_PORT in script:
        port = str(free_port())
        # A process that was started, not forked by another one, gets the signal of `kill`.
        service = f"{shlex.quote(str(started / 'engine'))} serve --port {port}"
        script = script.replace("engine serve", service).replace(SERVICE_PORT, port)
    programs = started if session[0].page == ROOT / "README.md" else forked
    _, printed = run(programs, tmp_path, "sh", text=script)
    parts = [part.strip("\n").splitlines() for part in printed.split(mark)[1:]]
    happened = [(command.line, settled(part)) for command, part in zip(typed, parts, strict=True)]
    assert happened == [(command.line, settled(command.printed)) for command in typed]


def test_the_main_example_of_the_readme_is_run() -> None:
    """README has a session that ingests, recalls and verifies, and this session is run."""
    lines = [
        command.line
        for session in sessions()
        if session[0].page == ROOT / "README.md"
        for block in session
        for command in commands(block.text)
    ]
    assert {"ingest", "recall", "verify-root"} <= {call[0] for line in lines for call in engine_calls(line)}


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: block.name)
def test_every_engine_command_that_is_shown_exists(block: Block) -> None:
    """Each call of `engine` in a console block parses, with its options and arguments."""
    for command in commands(block.text):
        for arguments in engine_calls(command.line):
            parse(arguments)


@pytest.mark.parametrize("arguments", [["recal", "x"], ["recall", "x", "--fuzzy"], ["get"], ["link", "1f0c"]])
def test_a_wrong_command_in_a_page_would_be_found(arguments: list[str]) -> None:
    """Unknown commands and options, and missing arguments, do not parse."""
    with pytest.raises(click.UsageError):
        parse(arguments)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_command_named_in_a_sentence_exists(page: Path) -> None:
    """A code span of `engine` and a word in small letters names a command."""
    words = [(line, token.content.split()[:2]) for line, token in spans(page, "code_inline")]
    named = [(line, pair[1]) for line, pair in words if pair[:1] == ["engine"] and len(pair) == 2]
    unknown = [(line, name) for line, name in named if name[0].islower() and name not in COMMANDS]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    """A link inside the project names an existing file, and an existing heading in it."""
    broken = []
    for line, token in spans(page, "link_open"):
        href = str(token.attrs["href"])
        if href.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = href.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append((line, href))
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_all_code_that_a_page_names_is_there(page: Path) -> None:
    """A code span such as `engine/store/store.py::Store.commit` names existing code."""
    missing = []
    for line, token in spans(page, "code_inline"):
        if not re.fullmatch(r"\w[\w/]*/\w+\.py(::[\w.]+)?", token.content):
            continue
        path, _, name = token.content.partition("::")
        if not (ROOT / path).is_file() or (name and name not in defined(ROOT / path)):
            missing.append((line, token.content))
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_no_page_names_a_place_on_somebody_s_machine(page: Path) -> None:
    """Pages contain no absolute path of a workstation or build machine."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.~/-])/(?:work|tmp|root|home|Users|mnt)(?![\w-])[^\s`]*", text) == []


def test_the_index_lists_every_page() -> None:
    """docs/README.md links to each page in docs."""
    linked = {
        (DOCS / str(token.attrs["href"]).partition("#")[0]).resolve()
        for _, token in spans(DOCS / "README.md", "link_open")
        if "://" not in str(token.attrs["href"])
    }
    assert {page for page in PAGES if page.parent == DOCS and page.name != "README.md"} <= linked


README_WORDS_MAX = 900
MEASURED_ROWS = 5


def test_the_readme_can_be_read_in_five_minutes() -> None:
    """README has fewer than 900 words, tables and code blocks included."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < README_WORDS_MAX


def test_the_figures_in_the_readme_are_measured_ones() -> None:
    """Each row of README's table of measurements has the figures of a row in bench/README.md."""
    measured = [
        set(re.findall(r"[\d,]*\d(?:\.\d+)?", line))
        for line in (ROOT / "bench" / "README.md").read_text(encoding="utf-8").splitlines()
    ]
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Measured")[2]
    rows = [line.split("|")[2:] for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == MEASURED_ROWS
    for row in rows:
        figures = set(re.findall(r"[\d,]*\d(?:\.\d+)?", " ".join(row)))
        assert any(figures <= line for line in measured), row


def test_the_architecture_lists_the_folders_that_there_are() -> None:
    """The tree in docs/architecture.md names exactly the folders of code, including those in `engine`."""
    tree = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## Folders")[2].split("```")[1]
    inner = {match[1] for match in re.finditer(r"^  (\w+)/ ", tree, re.MULTILINE)}
    outer = {match[1] for match in re.finditer(r"^(\w+)/ ", tree, re.MULTILINE)}
    code = {path.parent for path in ROOT.glob("*/*.py")}
    assert inner == {path.parent.name for path in ROOT.glob("engine/*/__init__.py")}
    assert outer == {folder.name for folder in code if not folder.name.startswith(".")}


LIMITS = {
    "content of an atom": [limits.CONTENT_BYTES_MAX],
    "title, source": [limits.TITLE_BYTES_MAX],
    "tags of an atom": [limits.TAGS_PER_ATOM_MAX, limits.TAG_BYTES_MAX],
    "one commit": [limits.BATCH_EVENTS_MAX, limits.BATCH_BYTES_MAX],
    "atoms and revisions in a store": [limits.ORDINAL_MAX + 1],
    "hops of a walk": [limits.MAX_HOPS_CAP],
    "results of one call of a query": [limits.RESULTS_MAX],
    "a question": [limits.QUERY_BYTES_MAX],
}


def test_the_limits_in_the_docs_are_the_real_ones() -> None:
    """Each row of the table in docs/limits.md has the numbers of `engine.base.limits`."""
    text = (DOCS / "limits.md").read_text(encoding="utf-8").partition("<!-- limits -->")[2]
    rows = [line.split("|") for line in text.strip().partition("\n\n")[0].splitlines()[2:]]
    found = {
        row[1].strip(): [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", row[2])]
        for row in rows
    }
    assert found == LIMITS


def test_the_changelog_has_this_version_and_its_data_format() -> None:
    """The newest version in CHANGELOG.md is the package's, and each version has a data format."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert versions[0].startswith(f"[{__version__}]")
    assert [version.splitlines()[0] for version in versions if "### Data format" not in version] == []
