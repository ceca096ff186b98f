"""Every command runs once with text output and once with JSON output on a small store."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli.command_tree import COMMANDS
from engine.commands.conflicts import CONFLICTS_WITH
from engine.engine import Engine
from engine.exchange.backup import export_store
from engine.query.filters import Filters
from engine.text.language.question import analyze_question
from tests.support.command_line import Cli
from tests.support.leveldb import needs_leveldb

pytestmark = pytest.mark.slow

Pair = tuple[str, str]

with Engine.open("memory:") as _memory:
    A_PROOF = _memory.prove([["no-term", "kettle"]])
    _made = io.BytesIO()
    export_store(_memory.store, _made.write)
    A_BACKUP = _made.getvalue()
A_ROOT = ["--root", A_PROOF.basis.root.hex()]
"""A proof, and what it is verified against."""


def arguments(name: str, pair: Pair, here: Path) -> list[str]:
    """Return arguments with which a command succeeds on the store of `pair`."""
    first, second = pair
    (here / "notes").mkdir(exist_ok=True)
    (here / "notes" / "tea.md").write_text("# Tea\n\nGreen tea at 80 degrees.\n")
    (here / "memory.jsonl").write_text(
        '{"type":"entity","name":"kettle","entityType":"tool","observations":[]}'
    )
    (here / "kept.checkpoint").write_text(f"log.example\n7\n{'A' * 43}=\n")
    (here / "made.memproof").write_bytes(A_PROOF.envelope())
    (here / "made.backup").write_bytes(A_BACKUP)
    given: dict[str, list[str]] = {
        "terms": ["kettles"],
        "prove": ["atom", first, "--out", "one.memproof"],
        "proof": ["page", "--out", "verify.html"],
        "verify-proof": ["made.memproof", *A_ROOT],
        "verify-checkpoint": ["kept.checkpoint"],
        "key": ["new", "signing.key"],
        "memory": ["list", "--store", "memories"],
        "token": ["list"],
        "secrets": ["scan"],
        "hooks": ["list"],
        "sync": ["init", "meeting"],
        "ingest": ["notes"],
        "import": ["mcp-memory", "memory.jsonl"],
        "add": ["Something new."],
        "revise": [first, "The kettle is descaled on Fridays."],
        "tag": [first, "new"],
        "untag": [first, "chores"],
        "link": [first, "references", second],
        "unlink": [first, "references", second],
        "supersede": [first, second],
        "revert": ["2"],
        "diff": ["0"],
        "why": [first],
        "relate": ["kettle", "stands on", "stove"],
        "unrelate": ["kettle", "stands on", "stove"],
        "tombstone": [first, second],
        "revive": [first],
        "merge": [first, second, "--force"],
        "settle": [first, second, "--keep", "both"],
        "erase": [second, "--reason", "asked for", "--yes"],
        "unmerge": [second],
        "recall": ["kettle"],
        "context": ["kettle"],
        "bright": ["kettle"],
        "explore": ["kettle"],
        "explore_recall": ["--query", "kettle", "--limit", "5"],
        "explore_peek": ["--id", first],
        "explore_expand": ["--id", first],
        "explore_neighbors": ["--node", first, "--direction", "both"],
        "get": [first],
        "edges": [first],
        "history": [first],
        "mirror": ["shown"],
        "rescue": [str(here / "store"), "--output", "sqlite:rescued.db"],
        "copy": [str(here / "store"), "sqlite:copy.db"],
        "export": ["notes.jsonl"],
        "backup": ["notes.backup"],
        "verify-backup": ["made.backup"],
    }
    return given.get(name, [])


@pytest.fixture(autouse=True)
def passphrase(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give commands that seal a store a passphrase; other commands have no use for it."""
    file = surroundings / "passphrase"
    file.write_text("correct horse battery staple")
    file.chmod(0o600)
    monkeypatch.setenv("ENGINE_KEY_FILE", str(file))


def prepare(cli: Cli, name: str, pair: Pair) -> None:
    """Run the commands that `name` takes back."""
    before = {
        "unrelate": [["relate", "kettle", "stands on", "stove"]],
        "settle": [["relate", "kettle", CONFLICTS_WITH, "stove"], ["link", pair[0], CONFLICTS_WITH, pair[1]]],
    }
    for command in before.get(name, [["status"]]):
        assert cli(*command).code == 0


# `watch` and `serve` run until they are interrupted (tests/cli/test_watch.py, tests/service/test_command.py).
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"serve", "ui", "watch"}])
def test_every_command_answers_in_text(cli: Cli, pair: Pair, surroundings: Path, name: str) -> None:
    """Every command succeeds, and prints nothing to stderr with --quiet."""
    prepare(cli, name, pair)
    result = cli("--quiet", name, *arguments(name, pair, surroundings))
    assert (result.code, result.err) == (0, "")


# What `mcp` writes is JSON-RPC, and nothing may be put beside it.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"mcp", "serve", "ui", "watch"}])
def test_every_command_answers_in_json(cli: Cli, pair: Pair, surroundings: Path, name: str) -> None:
    """With --json before or after the command, stdout holds one envelope and nothing else."""
    prepare(cli, name, pair)
    result = cli(name, *arguments(name, pair, surroundings), "--json")
    envelope = result.envelope
    assert (result.code, envelope["status"], envelope["command"]) == (0, "success", name)
    assert envelope["namespace"] is None
    assert envelope["duration_ms"] >= 0


def test_the_root_and_nothing_else(cli: Cli, pair: Pair) -> None:
    """`root` prints 64 hexadecimal digits and a newline, and nothing to stderr."""
    result = cli("root")
    assert re.fullmatch(r"[0-9a-f]{64}\n", result.out)
    assert result.err == ""


def test_root_as_of(cli: Cli, pair: Pair) -> None:
    """`root --as-of` prints the root of that time, by event and by time."""
    then = cli("root", "--json").data
    time = cli("log", "--json").data[-1]["time"]
    cli("add", "Later.")
    assert cli("root", "--as-of", str(then["size"] - 1), "--json").data == then
    assert cli("root", "--as-of", time).out.strip() == then["root"]
    assert cli("root").out.strip() != then["root"]


def test_add_prints_the_id_and_again_changes_nothing(cli: Cli) -> None:
    """Adding a text again prints the same id and appends no event."""
    first = cli("add", "One text.", "--json").data
    again = cli("add", "One text.", "--json").data
    assert first["subject"] == again["subject"]
    assert (first["changed"], again["changed"]) == (True, False)


def test_add_takes_every_field(cli: Cli) -> None:
    """`get` shows every field that `add` set."""
    given = {
        "title": "A title",
        "kind": "task",
        "source": "mail/7",
        "sequence": 12,
        "provenance": "external",
        "trust": 40,
        "key": "k-1",
    }
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    atom = cli("-q", "add", "Text", *options, "-t", "b", "-t", "#a c", "--bucket", "work", "--bucket", "home")
    cli(
        "add",
        "Dated",
        "--created",
        "2026-01-02T03:04:05+01:00",
        "--id",
        "11111111-2222-4333-8444-555555555555",
    )
    found = cli("get", atom.out.strip(), "--json").data
    assert {name: found[name] for name in given} == given
    assert (found["tags"], found["buckets"]) == (["a-c", "b"], ["home", "work"])
    assert cli("get", "11111111", "--json").data["created"] == "2026-01-02T02:04:05.000000Z"


def test_add_takes_meta_and_aliases_and_get_shows_them(cli: Cli) -> None:
    """Values of meta are parsed as JSON if possible; a meta key named like a time field keeps its number."""
    given = ["--meta", "pages=3", "--meta", "lang=de", "--meta", "checked=true", "--meta", "created=5"]
    added = cli("-q", "add", "Tea.", *given, "--alias", "Chai", "--created", "1929-10-24")
    atom = added.out.strip()
    shown = cli("get", atom, "--json").data
    assert shown["meta"] == {"lang": "de", "pages": 3, "checked": True, "created": 5}
    assert (shown["aliases"], shown["created"]) == (["Chai"], "1929-10-24T00:00:00.000000Z")
    assert "pages=3" in cli("get", atom).out
    assert cli("add", "Tea.", "--meta", "pages").code == 2


def test_add_reads_stdin(cli: Cli) -> None:
    """`add -` reads stdin without its final line end."""
    atom = cli("-q", "add", "-", stdin="Zürich\nzwei\n".encode()).out.strip()
    assert cli("get", atom, "--json").data["content"] == "Zürich\nzwei"


def test_content_is_printed_byte_for_byte(cli: Cli) -> None:
    """`get --raw` writes the exact text to a pipe; `get --content` escapes what would harm a terminal."""
    content = "a\r\n\x1b[31mred\u202e\n\n"
    atom = cli("-q", "add", "-", stdin=(content + "\n").encode()).out.strip()
    assert cli("get", atom, "--raw").out.encode() == content.encode()
    assert cli("get", atom, "--content").out == "a\\x0d\n\\x1b[31mred\\u202e\n\n"


def test_text_that_looks_like_an_option(cli: Cli) -> None:
    """Everything after `--` is an argument."""
    result = cli("add", "--", "--json")
    assert result.code == 0
    assert cli("get", result.out.strip(), "--json").data["content"] == "--json"


def test_a_value_may_look_like_an_option(cli: Cli) -> None:
    """The word after an option with a value is the value, even if it begins with a hyphen."""
    atom = cli("-q", "add", "One.", "--title", "--force", "--source", "-t").out.strip()
    found = cli("get", atom, "--json").data
    assert (found["title"], found["source"]) == ("--force", "-t")
    assert "-1" in cli("--wait", "-1", "root").err


def test_get_shows_what_is_recorded(cli: Cli, pair: Pair) -> None:
    """The text form shows the fields, an empty line and the content."""
    head, _, content = cli("get", pair[0]).out.partition("\n\n")
    assert "title        Kettle" in head
    assert "tags         #chores #Kitchen" in head
    assert content == "The kettle is descaled on Mondays.\n"


def test_revise_keeps_what_is_not_given(cli: Cli, pair: Pair) -> None:
    """`revise` changes only the given fields; an empty title removes it; the past stays readable."""
    seq = cli("get", pair[0], "--json").data["last_seq"]
    cli("revise", pair[0], "New text.")
    cli("revise", pair[0], "--title", "")
    now = cli("get", pair[0], "--json").data
    assert (now["content"], now["title"], now["tags"]) == ("New text.", None, ["chores", "Kitchen"])
    assert cli("get", pair[0], "--as-of", str(seq), "--json").data["title"] == "Kettle"


def test_tags_come_and_go(cli: Cli, pair: Pair) -> None:
    """`tag` and `untag` change the counts of `tags`."""
    cli("tag", pair[1], "kitchen", "tea")
    cli("untag", pair[0], "chores")
    assert cli("tags").out == "kitchen\t2\tpeople\ntea\t1\tpeople\n"


def test_tombstone_hides_and_revive_brings_back(cli: Cli, pair: Pair) -> None:
    """A tombstoned atom is not found, is shown with its reason, and can be revived."""
    cli("tombstone", pair[0], "--reason", "gone")
    assert pair[0][:8] not in cli("find").out
    assert "by user: gone" in cli("get", pair[0]).out
    cli("revive", pair[0])
    assert pair[0][:8] in cli("find").out


def test_a_type_that_is_unknown_can_be_registered(cli: Cli, pair: Pair) -> None:
    """`engine link` says how the command line registers the type; a query does not offer that."""
    assert (
        "register the type with --register, or use the predicate" in cli("link", pair[0], "near", pair[1]).err
    )
    for refused in (cli("unlink", pair[0], "near", pair[1]), cli("edges", pair[0], "--type", "near")):
        assert "use the predicate of a recorded relation" in refused.err
        assert "--register" not in refused.err


def test_edges_are_listed_from_both_ends(cli: Cli, pair: Pair) -> None:
    """An edge of a new type is listed at its source and, with --direction in, at its target."""
    first, second = pair
    cli("link", first, "listens_on", second, "--register", "--weight", "0.5", "--data", '{"page": [3, true]}')
    there = cli("edges", first, "--json").data
    assert there == cli("edges", second, "--direction", "in", "--json").data
    assert (there[0]["type"], there[0]["weight"], there[0]["data"]) == (
        "listens_on",
        0.5,
        {"page": [3, True]},
    )
    cli("unlink", first, "listens_on", second)
    assert cli("edges", first).out == ""
    assert "tombstoned" in cli("edges", first, "--tombstoned").out


def test_find_filters(cli: Cli, pair: Pair) -> None:
    """Each filter selects exactly the matching atoms."""

    def found(*options: str) -> list[str]:
        return [item["id"] for item in cli("find", *options, "--json").data]

    first, second = pair
    assert found("--tag", "KITCHEN") == [first]
    assert found("--without-tag", "chores") == [second]
    assert found("--source", "te*") == [second]
    assert found("--bucket", "inbox", "--kind", "note", "--provenance", "internal") == [first, second]
    assert found("--since", "2100-01-01") == []
    assert found("--until", "2100-01-01") == [first, second]
    assert found("--limit", "1") == [first]
    assert found("--as-of", "1") == [first]


def test_find_walks(cli: Cli, pair: Pair) -> None:
    """`--from` follows outgoing edges by default, and prints the number of hops."""
    first, second = pair
    cli("link", first, "references", second)
    data = cli("find", "--from", first, "--follow", "references", "--max-hops", "2", "--json").data
    assert [(item["id"], item["hops"]) for item in data] == [(second, 1)]
    assert cli("find", "--from", first, "--direction", "in").out == ""
    assert cli("find", "--from", first, "--direction", "both", "--form", "full").out.endswith("kettle.\n\n")


def test_recall_ranks_and_explains(cli: Cli, pair: Pair) -> None:
    """Hits are sorted by score and have a snippet, a source and, with --explain, the signals."""
    result = cli("recall", "clean", "kettle", "--explain", "--json")
    hits = result.data["hits"]
    assert result.envelope["count"] == len(hits) == 2
    assert hits[0]["id"] == pair[1]
    assert {"words", "proximity"} <= set(hits[0]["signals"])
    assert sum(hits[0]["signals"].values()) == pytest.approx(hits[0]["score"], abs=1e-5)
    assert "tea.md" in cli("recall", "clean").out
    assert cli("recall", "kettle", "--tag", "nowhere").code == 0


def test_log_lists_the_last_or_from_a_number(cli: Cli, pair: Pair) -> None:
    """`log` lists the last events in order; `--from` starts elsewhere; `--jsonl` prints lines."""
    assert [item["seq"] for item in cli("log", "--limit", "2", "--json").data] == [1, 2]
    assert [item["seq"] for item in cli("log", "--from", "0", "--limit", "2", "--json").data] == [0, 1]
    lines = cli("log", "--from", "0", "--jsonl").out.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["genesis", "atom_added", "atom_added"]
    assert "id_key" not in "".join(lines)


def test_verify_rebuild_and_copy_agree_on_the_root(cli: Cli, pair: Pair) -> None:
    """`verify-root`, `rebuild` and `copy` print the same root as `root`."""
    root = cli("root").out
    assert cli("verify-root", "--expect", root.strip().upper(), "--json").data["root"] == root.strip()
    assert cli("rebuild").out == root
    assert cli("copy", "store", "sqlite:copy.db").out == root
    assert cli("--store", "sqlite:copy.db", "root").out == root


def test_ingest_reports_and_again_does_nothing(cli: Cli, surroundings: Path) -> None:
    """A dry run creates no store; a second run appends nothing; --prune hides removed files."""
    notes = surroundings / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nFirst, see [[b]].\n")
    (notes / "b.md").write_text("# B\n\nSecond.\n")
    assert cli("ingest", "notes", "--dry-run", "--json").data["added"] == 2
    assert not (surroundings / "store").exists()
    data = cli("ingest", "notes", "--tag", "garden", "--bucket", "work", "--json").data
    assert (data["files"], data["added"], data["linked"]) == (2, 2, 1)
    events = cli("status", "--json").data["events"]
    assert "nothing to do" in cli("ingest", "notes", "--tag", "garden").out
    assert cli("status", "--json").data["events"] == events
    (notes / "b.md").unlink()
    assert cli("ingest", "notes", "--tag", "garden", "--prune", "--json").data["tombstoned"] == 1


def test_the_actor_is_in_the_journal(cli: Cli) -> None:
    """--actor sets the actor in the journal."""
    cli("--actor", "robot", "add", "Text.")
    assert cli("log", "--json").data[-1]["actor"] == "robot"


def test_doctor_needs_no_store(cli: Cli) -> None:
    """`doctor` succeeds without a store, and reports that there is none."""
    data = cli("doctor", "--json").data
    assert data["store"]["state"] == "not_found"
    assert data["libraries"]["cbor2"]
    assert re.fullmatch("[0-9a-f]{64}", data["analyzer"]["fingerprint"])


def test_doctor_names_what_analyses_questions(cli: Cli) -> None:
    """`doctor` names the question analyzer, and so does every recall."""
    data = cli("doctor", "--json").data
    assert data["questions"] == {"pipeline": analyze_question("boiler").pipeline}
    assert re.search(
        f"^questions pipeline +{re.escape(data['questions']['pipeline'])}$", cli("doctor").out, re.MULTILINE
    )


@needs_leveldb
def test_doctor_on_a_busy_store(cli: Cli, pair: Pair, surroundings: Path) -> None:
    """`doctor` reports a busy store and succeeds."""
    with Engine.open(str(surroundings / "store")):
        data = cli("doctor", "--json").data
    assert data["store"]["state"] == "busy"


def test_doctor_on_a_broken_setting(bare: Cli, surroundings: Path) -> None:
    """`doctor` reports an invalid settings file and succeeds."""
    (surroundings / ".engine.toml").write_text("what?")
    assert bare("doctor", "--json").data["store"]["state"] == "invalid"


def test_a_shortened_id_stands_for_the_whole(cli: Cli, pair: Pair) -> None:
    """Every command that takes an id accepts its first digits."""
    first, second = (atom[:10] for atom in pair)
    cli("link", first, "part_of", second)
    assert cli("edges", first).out.startswith("\t".join(("→", "part_of", pair[1][:8])))


def test_version(bare: Cli) -> None:
    """--version prints the name and the version."""
    result = bare("--version")
    assert re.fullmatch(r"engine \d+\.\d+\.\d+\n", result.out)


def test_version_as_json(bare: Cli) -> None:
    """With --json, the version is in an envelope, in either order of the options."""
    version = bare("--version").out.split()[1]
    assert bare("--version", "--json").data == {"version": version}
    assert bare("--json", "--version").data == {"version": version}


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (["--form", "short"], lambda pair: [[pair[0], "Kettle"], [pair[1], "untitled"]]),
        (
            [],
            lambda pair: [
                [pair[0][:8], "Kettle", "The kettle is descaled on Mondays."],
                [pair[1][:8], "", "Tea needs a clean kettle."],
            ],
        ),
    ],
    ids=["short", "medium"],
)
def test_find_separates_fields_by_tabs(
    cli: Cli, pair: Pair, options: list[str], fields: Callable[[Pair], list[list[str]]]
) -> None:
    """In a pipe, `find` separates the fields of an atom by tabs; the short form has the whole id."""
    lines = cli("find", *options).out.splitlines()
    assert [line.split("\t") for line in lines] == fields(pair)


def test_find_says_how_far_it_walked_in_a_field(cli: Cli, pair: Pair) -> None:
    """With --from, the second field is the number of hops."""
    cli("link", pair[0], "references", pair[1])
    out = cli("find", "--from", pair[0], "--form", "short").out
    assert out == f"{pair[1]}\t1 hop\tuntitled\n"


@pytest.mark.parametrize("name", ["explore-peek", "explore_peek", "verify_root", "verify-root"])
def test_a_hyphen_and_an_underscore_are_one(cli: Cli, pair: Pair, name: str) -> None:
    """A command name may be written with hyphens or underscores; the envelope has one form."""
    arguments = [pair[0]] if "peek" in name else []
    assert cli(name, *arguments, "--json").envelope["command"] in {"explore_peek", "verify-root"}
    assert cli("help", name).code == 0


def test_every_filter_has_an_option(bare: Cli) -> None:
    """`recall` has an option for every field of `Filters`."""
    command = bare("help", "recall", "--json").data["commands"][0]
    names = {name for option in command["options"] for name in option["names"]}
    several = {
        "categories": "--category",
        "superseded": "--superseded",
        "since": "--since",
        "until": "--until",
    }
    for field in dataclasses.fields(Filters):
        one = several.get(field.name, f"--{field.name.removesuffix('s').replace('_', '-')}")
        assert one in names
