"""The command `engine bright`."""

from __future__ import annotations

import pytest

from tests.query.graph.parsers import read_dot, read_mermaid
from tests.support.command_line import Cli, bare, cli, pair, surroundings

pytestmark = pytest.mark.slow

__all__ = ["bare", "cli", "pair", "surroundings"]

Pair = tuple[str, str]


def test_text_has_the_atoms_and_their_relations(cli: Cli, pair: Pair) -> None:
    """Atoms are numbered, the brightest first; relations use the numbers; counts go to stderr."""
    first, second = pair
    cli("link", first, "references", second)
    result = cli("bright", "when", "is", "the", "kettle", "descaled?")
    lines = result.out.splitlines()
    assert lines[0] == "1. Kettle  100%"
    assert lines[2] == f"   {first[:8]} #chores #Kitchen"
    assert lines[-1] == "1 → 2  edge  references  1.00"
    assert result.err == "2 atoms, 1 relation\n"


@pytest.mark.parametrize(("form", "reader"), [("mermaid", read_mermaid), ("dot", read_dot)])
def test_drawings_come_out_whole(cli: Cli, pair: Pair, form: str, reader: object) -> None:
    """The output is only the drawing, even with hostile titles."""
    first, second = pair
    cli("revise", second, "--title", 'end"]; --> %% \\N &lt; direction TB')
    cli("link", first, "references", second)
    assert callable(reader)
    nodes, lines = reader(cli("bright", "kettle", "--format", form).out)
    assert sorted(label.rpartition(" ")[0] for _, label in nodes) == sorted(
        ["Kettle", 'end"]; --> %% \\N &lt; direction TB']
    )
    assert [label for *_, label in lines] == ["references 1.00"]


def test_json_is_the_graph_itself(cli: Cli, pair: Pair) -> None:
    """`--json` prints the graph, with any --format there."""
    assert pair
    cli("add", "A kettle\x1b[2J\u202e with an escape.")
    result = cli("bright", "kettle", "--json", "--format", "dot")
    assert (result.out.count("\n"), "\x1b" in result.out) == (1, False)
    assert list(result.data) == ["query", "nodes", "relations", "size", "omitted"]
    assert result.envelope["count"] == len(result.data["nodes"]) == 3
    assert result.data["nodes"][0]["created"].endswith("Z")


def test_options_are_heeded(cli: Cli, pair: Pair) -> None:
    """Limit, filters and --as-of work as for recall."""
    first, _ = pair

    def lit(*options: str) -> list[str]:
        return [node["id"] for node in cli("bright", "kettle", *options, "--json").data["nodes"]]

    assert len(lit("--limit", "1")) == 1
    assert lit("--tag", "kitchen") == [first]
    assert lit("--as-of", "1") == [first]
    assert lit("--category", "temporal") == [first]


@pytest.mark.parametrize("command", ["recall", "context", "find", "bright"])
def test_every_command_that_asks_takes_categories(cli: Cli, pair: Pair, command: str) -> None:
    """--category filters every query; an unknown category is an error that lists all eight."""
    first, second = pair
    question = [] if command == "find" else ["kettle"]
    found = cli(command, *question, "--category", "temporal", "--category", "causal").out
    assert first[:8] in found
    assert second[:8] not in found
    wrong = cli(command, *question, "--category", "monday")
    assert wrong.code == 2
    assert "relationship, narrative, technical, industry, location, emotional, temporal, causal" in wrong.err


def test_what_is_no_format_and_no_number_is_refused(cli: Cli, pair: Pair) -> None:
    """An unknown format, or over 50 atoms, is a usage error that lists what is valid."""
    assert pair
    assert cli("bright", "kettle", "--format", "png").code == 2
    assert "text, mermaid, dot" in cli("bright", "kettle", "--format", "png").err
    assert cli("bright", "kettle", "--limit", "51").code == 2
    assert "50" in cli("bright", "kettle", "--limit", "51").err


def test_nothing_found_is_no_error(cli: Cli, pair: Pair) -> None:
    """A question without hits prints nothing, or an empty drawing."""
    assert pair
    result = cli("bright", "xylophone")
    assert (result.code, result.out, result.err) == (0, "", "0 atoms, 0 relations\n")
    assert read_mermaid(cli("bright", "xylophone", "--format", "mermaid").out) == ([], [])
    assert read_dot(cli("bright", "xylophone", "--format", "dot").out) == ([], [])


@pytest.fixture
def related(cli: Cli) -> str:
    """A memory that links a person with a place; the id of the text that says where she lives."""
    first = cli("add", "Ada moved to Bristol\x1b[2J.", "--tag", "Ada", "--tag", "Bristol").out.strip()
    cli("add", "Something else.")
    cli("relate", "Ada", "uses", "Forth")
    return first


def test_across_prints_the_domains_and_the_paths_with_their_evidence(cli: Cli, related: str) -> None:
    """Names are listed by domain; each step shows its relation or a dash, and the text with both names."""
    result = cli("bright", "Ada", "Bristol", "--across")
    assert result.out.splitlines() == [
        "person       Ada",
        "place        Bristol",
        "1. Ada – Bristol  0.50",
        "   Ada – Bristol  0.50",
        f"     {related[:8]}  Ada moved to Bristol\\x1b[2J.",
    ]
    assert result.err == "2 names, 1 path\n"
    assert "   Ada → uses → Forth  1.00" in cli("bright", "Forth", "--across").out.splitlines()


def test_across_as_json_is_the_answer_itself(cli: Cli, related: str) -> None:
    """`--json` prints the paths with their evidence; a drawing of paths is a usage error."""
    found = cli("bright", "Ada Bristol", "--across", "--json").data
    assert found["paths"][0]["steps"][0]["evidence"]["id"] == related
    drawing = cli("bright", "Ada", "--across", "--format", "dot")
    assert (drawing.code, "--across" in drawing.err) == (2, True)
