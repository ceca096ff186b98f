"""The exploration verbs and relations on the command line, in a pipe and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from engine.cli.main import main
from engine.engine import Engine
from engine.query.explore.explore_answers import Answer, Form, as_json
from engine.query.prompt_text import tokens_of
from tests.cli.test_output import dangerous
from tests.cli.test_processes import environment
from tests.query.explore.support import FORGED, cost_of, wrong_with_text
from tests.query.recall.support import id_of
from tests.support.command_line import Cli

pytestmark = pytest.mark.slow

MIND = "00000000-0000-0000-0000-000000000123"
TEA = "7ea00000-0000-8000-8000-000000000001"
FORGED_IN_LINES = [text for text in FORGED if text.isprintable()]
COMMANDS = [
    ["explore", "kettle"],
    ["explore_recall", "--query", "kettle", "--limit", "50"],
    ["explore_peek", "--id", MIND],
    ["explore_expand", "--id", MIND],
    ["explore_neighbors", "--node", MIND],
    ["explore_neighbors", "--node", "Mind", "--direction", "both"],
]


@pytest.fixture
def filled(cli: Cli) -> Cli:
    """Return a store with an atom of that id, an entity of that name, and hostile texts in every field."""
    with Engine.open(os.environ["ENGINE_STORE"]) as engine:
        engine.add(
            "Search for the kettle in the mind.", id=MIND, title="Search", tags=["search"], source="s.md"
        )
        for number, text in enumerate(FORGED):
            engine.add(f"{text} kettle", id=id_of(number + 1))
            engine.link(MIND, "references", id_of(number + 1))
        for number, text in enumerate(FORGED_IN_LINES):
            engine.add("kettle", id=id_of(number + 100), title=text, source=text)
            engine.relate("Mind", "knows", text, source=MIND)
    return cli


def test_the_protocols_commands_are_answered(filled: Cli) -> None:
    """Each command of the protocol works as text and as JSON."""
    for args in (
        ["explore_recall", "--query", "your search", "--limit", "5"],
        ["explore_peek", "--id", MIND],
        ["explore_expand", "--id", MIND],
        ["explore_neighbors", "--node", "Mind", "--direction", "both"],
    ):
        text = filled(*args)
        assert text.code == 0, text.err
        assert text.out
        assert re.search(r"tokens, [\d,]+ in all; at event \d+, root [0-9a-f]{64}", text.err)
        assert {"cost_tokens", "total_tokens", "seq", "root"} <= filled("--json", *args).data.keys()


@pytest.mark.parametrize("args", COMMANDS[1:], ids=" ".join)
def test_what_is_printed_is_the_answer_of_the_library(filled: Cli, args: list[str]) -> None:
    """The printed cost is correct, and the JSON has the same data as over MCP."""
    text = filled(*args)
    cost = int(text.err.split(" tokens")[0].replace(",", ""))
    assert tokens_of(text.out) == cost
    assert wrong_with_text(text.out) == []
    data = filled("--json", *args).data
    with Engine.open(os.environ["ENGINE_STORE"]) as engine:
        explorer = engine.explorer(form="json")
        given = {"explore_recall": ("kettle", 50), "explore_neighbors": (args[2],)}.get(args[0], (MIND,))
        answer: Answer = getattr(explorer, args[0])(*given)
        assert json.loads(as_json(answer)) == data
        assert data["cost_tokens"] >= cost_of(answer, Form.JSON)


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_nothing_in_a_memory_is_obeyed(filled: Cli, args: list[str]) -> None:
    """Content cannot inject escape sequences, markup or lines that look like output of the program."""
    text, spelled = filled(*args), filled("--json", *args)
    assert text.code == spelled.code == 0
    for out in (text.out, text.err, spelled.out):
        assert dangerous(out) == []
        assert not re.search("<[A-Za-z/|!?]", out)
    assert spelled.out.count("\n") == 1


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("json_too", [False, True])
def test_a_terminal_is_told_nothing_but_colours(filled: Cli, args: list[str], json_too: bool) -> None:
    """On a terminal, the only escape sequences are those of the program's own styles."""
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "engine", *(["--json"] if json_too else []), *args],
            env=environment(TERM="xterm-256color", COLUMNS="200"),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
        ) as child:
            os.close(theirs)
            out = _all(ours)
            assert child.wait(60) == 0
    finally:
        os.close(ours)
    left = re.sub(r"\x1b\[[0-9;]*m", "", out.decode().replace("\r\n", "\n"))
    assert dangerous(left) == []
    assert not re.search("<[A-Za-z/|!?]", left)


def _all(terminal: int) -> bytes:
    found = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            return found
        if not piece:
            return found
        found += piece


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["explore_recall"], 2),
        (["explore_recall", "kettle", "--query", "kettle"], 2),
        (["explore_recall", "kettle", "--limit", "51"], 2),
        (["explore_recall", "kettle", "--known", "xyz"], 2),
        (["explore_recall", " "], 2),
        (["explore_peek", "--id", "0001"], 3),
        (["explore_peek", "--id", "0000"], 6),
        (["explore_peek", "--id", "x"], 2),
        (["explore_expand", MIND, "--offset", "99999"], 2),
        (["explore_expand", MIND, "--budget", "1"], 2),
        (["explore_neighbors", "nothing at all"], 3),
        (["explore_neighbors", "Mind", "--direction", "up"], 2),
        (["explore_neighbors", "Mind", "--limit", "0"], 2),
        (["relate", "Mind", "is", "mind"], 2),
        (["relate", "Mind", "is", "x", "--source", "0001"], 3),
        (["unrelate", "Mind", "is", "never heard of"], 3),
        (["explore", "kettle", "--budget", "199"], 2),
        (["explore", "kettle", "--steps", "11"], 2),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_mistake_has_its_exit_code(filled: Cli, args: list[str], code: int) -> None:
    """Invalid arguments are exit code 2, unknown names 3, ambiguous names 6, with a one-line message."""
    found = filled(*args)
    assert found.code == code, (found.out, found.err)
    assert "Traceback" not in found.err
    assert filled("--json", *args).envelope["status"] == "error"


def test_the_past_is_explored(filled: Cli) -> None:
    """`--as-of` explores the past, and totals continue from `--spent`."""
    data = filled("--json", "explore_expand", "--id", MIND, "--as-of", "1", "--spent", "1000").data
    assert (data["seq"], data["edges"]) == (1, 0)
    assert data["total_tokens"] == 1000 + data["cost_tokens"]


def test_relations_come_and_go(cli: Cli) -> None:
    """The text names the change, and the JSON says whether anything changed."""
    cli("init")
    assert cli("relate", "daemon", "listens on", "unix socket").code == 0
    assert "nothing to do" in cli("relate", "Daemon", "listens_on", "Unix_Socket").err
    assert "daemon → listens_on → unix socket" in cli("explore_neighbors", "daemon").out
    assert cli("--json", "unrelate", "daemon", "listens on", "unix socket").data["changed"] is True
    assert cli("--json", "unrelate", "daemon", "listens on", "unix socket").data["changed"] is False
    assert cli("explore_neighbors", "daemon").out.count("\n") == 1


def test_a_surrogate_in_an_argument_is_refused(filled: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command refuses arguments that are not valid UTF-8."""
    for args in (
        ["explore_recall", "k\udcff"],
        ["explore_neighbors", "k\udcff"],
        ["relate", "k\udcff", "is", "x"],
    ):
        assert main(args) == 2
        assert dangerous(capsys.readouterr().err) == []


def test_an_exploration_ends_with_the_answer(filled: Cli) -> None:
    """The last lines are the sentences that answer with their atoms, or say that nothing was found."""
    with Engine.open(os.environ["ENGINE_STORE"]) as engine:
        engine.add(
            "Tea is short. The samovar of Olga is descaled on Mondays.", id=TEA, title="Tea", created=0
        )
    args = ["explore", "When is the samovar of Olga descaled?"]
    assert filled(*args).out.endswith(
        "=== Answer ===\n[7ea00000, 1970-01-01] | Tea\n  The samovar of Olga is descaled on Mondays.\n"
    )
    [quote] = filled("--json", *args).data["answer"]
    assert (quote["id"], quote["text"]) == (TEA, "The samovar of Olga is descaled on Mondays.")
    nothing = filled("explore", "Where did the giraffe of Olga hide the xylophone?").out
    assert nothing.endswith("=== Answer ===\nnothing found: no text that was read answers the question\n")
