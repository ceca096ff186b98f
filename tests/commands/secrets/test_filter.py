"""No write path stores a secret while the secret filter redacts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import Add, Engine, Link, Revise, SecretsPolicy, Tag, Tombstone, Unlink, Untag
from engine.base.errors import EngineError, RefusedError
from engine.commands import Command
from engine.exchange.backup import export_store, import_journal
from engine.exchange.other_programs.item_atoms import import_items
from engine.exchange.other_programs.mcp_memory import import_file
from engine.knowledge.graph import KnowledgeGraph
from engine.knowledge.graph_values import Entity
from engine.trust.secrets_scan import journal_check, scan
from proofs.codec import pack
from tests.commands.secrets.samples import SAMPLES, pem
from tests.support.engines import salt_of, ticking
from tests.support.leveldb import LEVELDB

KEY = SAMPLES["aws-key"][0][1]
PASSWORD = "plum-Kx9-42q"  # noqa: S105  made up
GONE = "[REDACTED:aws-key]"
PEM = pem()

Way = Callable[[Engine, Path], object]


def two_atoms(engine: Engine) -> tuple[str, str]:
    """Return the ids of two atoms without secrets."""
    return engine.add("first").subject, engine.add("second").subject


def ingest_files(engine: Engine, folder: Path) -> None:
    """Ingest a secret in Markdown, text, JSON Lines, front matter, heading, tag, link and file name."""
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "a.md").write_text(
        f"---\ntags: [x, {KEY}]\ntitle: about {KEY}\n---\n# Key {KEY}\n\npassword: {PASSWORD}\n\n"
        f"See [[{KEY}]] and #{KEY}.\n\n{PEM}\n\nend\n"
    )
    (notes / "b.txt").write_text(f"token {KEY}\n\nand words\n")
    (notes / f"{KEY}.txt").write_text("in the name\n")
    lines = [{"content": f"line {KEY}", "source": f"talk {KEY}", "id": KEY, "title": KEY, "tags": [KEY]}]
    (notes / "c.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    engine.ingest([notes], tags=[KEY])


def graph(engine: Engine, folder: Path) -> None:
    """Import a knowledge graph with a secret."""
    rows = [
        {"type": "entity", "name": f"key {KEY}", "entityType": KEY, "observations": [f"is {KEY}"]},
        {"type": "entity", "name": "other", "entityType": "x", "observations": []},
        {"type": "relation", "from": f"key {KEY}", "to": "other", "relationType": "opens"},
    ]
    file = folder / "memory.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_file(engine.store, str(file))


def items(engine: Engine, folder: Path) -> None:
    """Import memories from mem0 with a secret."""
    file = folder / "mem0.json"
    file.write_text(
        json.dumps({"results": [{"id": "1", "memory": f"the key is {KEY}", "metadata": {"k": KEY}}]})
    )
    import_items(engine.store, "mem0", file)


def edges(engine: Engine, folder: Path) -> None:
    """Write a secret as edge data (text, bytes and key) and as the reason of a removal."""
    first, second = two_atoms(engine)
    data = pack({"why": KEY, KEY: 1, "raw": KEY.encode(), "list": [KEY]})
    engine.apply([Link(first, "references", second, data=data), Unlink(first, "references", second, KEY)])


WAYS: dict[str, Way] = {
    "add": lambda engine, _: engine.add(f"is {KEY}", title=KEY, tags=[KEY], source=f"x/{KEY}", key=KEY),
    "add a key block": lambda engine, _: engine.add(f"is {KEY}\n{PEM}\npassword={PASSWORD}"),
    "revise": lambda engine, _: engine.apply(
        [Revise(two_atoms(engine)[0], content=KEY, title=KEY, tags=[KEY])]
    ),
    "tag": lambda engine, _: engine.apply([Tag(two_atoms(engine)[0], [KEY])]),
    "tombstone": lambda engine, _: engine.apply([Tombstone(two_atoms(engine)[0], f"was {KEY}")]),
    "relate": lambda engine, _: engine.relate(f"key {KEY}", "opens", "door"),
    "supersede": lambda engine, _: engine.supersede(*two_atoms(engine), reason=KEY),
    "edges": edges,
    "ingest": ingest_files,
    "knowledge graph": lambda engine, _: KnowledgeGraph(engine.store).create_entities(
        [Entity(KEY, "t", (f"is {KEY}",))]
    ),
    "import a graph": graph,
    "import items": items,
}


def stored(folder: Path) -> bytes:
    """Return every byte of every file of the store."""
    return b"\n".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def leaks(raw: bytes) -> list[str]:
    """Return the secrets in the bytes, in any case of letters and in either byte order."""
    lowered = raw.lower()
    body = PEM.splitlines()[2]
    return [one for one in (KEY, PASSWORD, body) if one.lower().encode() in lowered]


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
@pytest.mark.parametrize("way", WAYS)
def test_no_file_of_a_store_ever_holds_it(tmp_path: Path, scheme: str, way: str) -> None:
    """No file of a store contains the secret: not open, not closed, and not after a rebuild."""
    place = tmp_path / "place"
    place.mkdir()
    with Engine.open(f"{scheme}:{place / 'store'}", secrets="redact") as engine:
        WAYS[way](engine, tmp_path)
        engine.root()
        engine.dream()
        assert leaks(stored(place)) == []
        engine.rebuild()
        assert engine.verify().ok
        assert sum(engine.store.secret_filter.found.values()) > 0  # type: ignore[union-attr]  # it has one
    assert leaks(stored(place)) == []


@pytest.mark.parametrize("way", WAYS)
def test_without_the_filter_it_is_stored(tmp_path: Path, way: str) -> None:
    """In the default mode `off`, and in the mode `warn`, the same writes do store the secret."""
    with Engine.open(f"sqlite:{tmp_path / 'store'}", secrets="warn") as engine:
        WAYS[way](engine, tmp_path)
        assert sum(engine.store.secret_filter.found.values()) > 0  # type: ignore[union-attr]  # it has one
        with engine.store.backend.snapshot() as rows:
            found = list(scan(rows, SecretsPolicy()))
    assert leaks((tmp_path / "store").read_bytes())
    assert found
    assert all(KEY not in repr(leak) and PASSWORD not in repr(leak) for leak in found)


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"ingest", "import items"}))
def test_refuse_writes_nothing(tmp_path: Path, way: str) -> None:
    """RefusedError names the kind and the place of a secret but not its text, and nothing is written."""
    with Engine.open("memory:", secrets="refuse") as engine:
        with pytest.raises(RefusedError) as caught:
            WAYS[way](engine, tmp_path)
        assert "aws-key" in str(caught.value)
        assert KEY not in f"{caught.value} {caught.value.hint}"
        assert all(item.kind.name in {"GENESIS", "ATOM_ADDED"} for item in engine.log())
        with engine.store.backend.snapshot() as rows:
            assert list(scan(rows, SecretsPolicy())) == []


def test_refuse_skips_files_and_lines_and_takes_the_rest(tmp_path: Path) -> None:
    """Files and lines with a secret are skipped and reported with their lines; all others are ingested."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bad.md").write_text(f"# Title\n\nwords\n\npassword: {PASSWORD}\n")
    (notes / "good.md").write_text("good words\n")
    (notes / "mixed.jsonl").write_text(
        json.dumps({"content": KEY}) + "\n" + json.dumps({"content": "fine"}) + "\n"
    )
    with Engine.open("memory:", secrets="refuse") as engine:
        report = engine.ingest([notes])
        assert [(item.source, item.line) for item in report.skipped] == [
            ("notes/bad.md", 5),
            ("notes/mixed.jsonl", 1),
        ]
        assert "password" in report.skipped[0].reason
        assert PASSWORD not in repr(report)
        assert report.added == 2


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"revise", "tag", "tombstone", "supersede", "edges"}))
def test_a_redacted_write_again_is_no_event(tmp_path: Path, way: str) -> None:
    """Ids are derived from redacted text, so writing the same text again appends no event."""
    with Engine.open("memory:", secrets="redact") as engine:
        WAYS[way](engine, tmp_path)
        size = engine.size
        WAYS[way](engine, tmp_path)
        assert engine.size == size


def test_pieces_that_become_equal_are_two_atoms(tmp_path: Path) -> None:
    """Two lines that differ only in their secret become two atoms, as two equal texts do."""
    notes = tmp_path / "notes"
    notes.mkdir()
    one, two = ("AKIA" + middle + "ZX7N2WT5BV8MRC" for middle in ("Q4", "R5"))
    (notes / "a.md").write_text(f"# A\n\nkey {one}\n\n# A\n\nkey {two}\n")
    with Engine.open("memory:", secrets="redact") as engine:
        assert engine.ingest([notes]).added == 2
        assert not engine.ingest([notes]).changed


def test_text_without_secrets_is_stored_as_ever() -> None:
    """Text without secrets gives the same root with and without the filter."""
    made = []
    for policy in (None, "redact", "refuse", "warn"):
        with Engine.open("memory:", clock=ticking(), salts=salt_of, secrets=policy) as engine:
            first, second = two_atoms(engine)
            engine.link(first, "references", second, data=pack({"a": [b"\xff\x00", 1.5, None, True]}))
            engine.relate("daemon", "listens on", "größe")
            made.append(engine.root().root)
    assert len(set(made)) == 1


def test_an_old_secret_is_redacted_when_its_atom_is_revised() -> None:
    """A revision of an atom with an old secret does not repeat the secret."""
    from backends.memory import MemoryBackend

    backend = MemoryBackend()
    atom = Engine(backend).add(f"old {KEY}").subject
    engine = Engine(backend, secrets="redact")
    engine.apply([Revise(atom, title="new title")])
    assert engine.get(atom).content == f"old {GONE}"
    assert not engine.apply([Revise(atom, title="new title")])[0].events


def test_an_old_secret_tag_can_be_taken_off() -> None:
    """A recorded tag that is a secret can be removed."""
    from backends.memory import MemoryBackend

    backend = MemoryBackend()
    atom = Engine(backend).add("x", tags=[KEY]).subject
    engine = Engine(backend, secrets="refuse")
    engine.apply([Untag(atom, [KEY])])
    assert engine.get(atom).tags == ()


BAD: list[Command] = [
    Add("x", kind=KEY),
    Add("x", id=KEY),
    Add("x", tags=[f"{KEY}\u200b"]),
    Add("x", title=f"{KEY}\n"),
    Tag(KEY, ["x"]),
    Link("0" * 31 + "1", KEY, "0" * 31 + "2"),
    Add("x", buckets=[KEY]),
    Add("x", provenance=KEY),
]


@pytest.mark.parametrize("command", BAD, ids=lambda command: repr(command)[:40])
@pytest.mark.parametrize("mode", ["redact", "refuse"])
def test_no_error_repeats_it(command: Command, mode: str) -> None:
    """Errors that quote their input contain no secret."""
    with Engine.open("memory:", secrets=mode) as engine, pytest.raises(EngineError) as caught:
        engine.apply([command])
    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.args}"


def test_a_journal_is_taken_as_it_is_or_not_at_all(tmp_path: Path) -> None:
    """With `redact` and `refuse`, importing a journal with a secret names its event and writes nothing."""
    from collections import Counter

    with Engine.open("memory:") as engine:
        engine.add(f"is {KEY}")
        with (tmp_path / "journal.jsonl").open("wb") as file:
            export_store(engine.store, file.write)
        root = engine.root().root
    url = f"sqlite:{tmp_path / 'new.db'}"
    for mode in ("redact", "refuse"):
        check = journal_check(SecretsPolicy(mode), Counter())
        with pytest.raises(RefusedError, match=r"the content of event 1 contains .*aws-key"):
            import_journal(tmp_path / "journal.jsonl", url, check=check)
        assert not (tmp_path / "new.db").exists()
    found = Counter[str]()
    import_journal(tmp_path / "journal.jsonl", url, check=journal_check(SecretsPolicy("warn"), found))
    assert found == {"aws-key": 1}
    with Engine.open(url, create=False) as engine:
        assert engine.root().root == root
