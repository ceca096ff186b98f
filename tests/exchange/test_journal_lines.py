"""Export and import of a journal as text: nothing is lost, and each wrong line is named."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import CorruptionError, LimitError
from engine.commands import Add, Link
from engine.engine import Engine
from engine.exchange.backup import export_store
from engine.exchange.journal_lines import EXACT_MAX, canonical
from engine.followers.base import drop
from engine.ledger.layout import payload_key
from proofs.codec import pack
from proofs.events import AtomDetail, CheckpointBody, CheckpointDetail, EventKind, ReasonBody
from proofs.hashing import NAMESPACES
from proofs.limits import INTEGER_MAX
from tests.exchange.journals import A_FILE, LINES, exported, history, imported, refused
from tests.support import workloads
from tests.support.engines import BEGIN, after, backend_of, engine_on, forge, put_rows
from tests.support.workloads import id_of


@given(seed=st.integers(0, 1 << 32), count=st.integers(3, 60), size=st.integers(1, 20))
@settings(max_examples=25)
def test_a_journal_comes_out_as_it_went_in(seed: int, count: int, size: int) -> None:
    """Exporting and importing a store gives the same rows and the same text again."""
    engine = after(workloads.commands(count, seed), size)
    text = exported(engine)
    target = imported(text)
    assert exported(engine) == text
    with Engine(target) as again:
        assert exported(again) == text
        again.catch_up()
        engine.catch_up()
        assert dict(target.scan()) == dict(backend_of(engine).scan())


def test_what_was_never_followed_exports_alike() -> None:
    """The export depends only on the journal, and not on which projections exist."""
    engine = history()
    drop(backend_of(engine), engine.store.projections)
    assert exported(engine) == A_FILE


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufffe\uffff"), min_size=1, max_size=20)


@given(
    text=WORDS.filter(str.strip),
    sequence=st.integers(0, INTEGER_MAX),
    data=st.binary(max_size=40),
    weight=st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda x: x or str(x) == "0.0"),
)
@settings(max_examples=60)
def test_every_value_comes_through(text: str, sequence: int, data: bytes, weight: float) -> None:
    """Any text, number or data survives, including control characters and large integers."""
    engine = engine_on()
    try:
        engine.apply([Add(text, id=id_of(0), sequence=sequence), Add("b", id=id_of(1))])
    except LimitError:
        return  # thirty combining marks in a row
    engine.apply([Link(id_of(0), "references", id_of(1), weight, pack(data))])
    raw = exported(engine)
    with Engine(imported(raw)) as again:
        assert again.get(id_of(0)) == engine.get(id_of(0))
        assert again.root() == engine.root()


def test_lines_are_canonical() -> None:
    """Lines have the form of RFC 8785, and integers that JSON readers would round are strings."""
    assert canonical({"b": 'é\u2028\x1f"\n', "a": [1, None, True]}) == (
        '{"a":[1,null,true],"b":"é\u2028\\u001f\\"\\n"}\n'.encode()
    )
    for line in LINES:
        fields = json.loads(line)
        assert (
            json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            == line.decode()[:-1]
        )
    engine = after([Add("a", sequence=EXACT_MAX, created=EXACT_MAX + 1)])
    body = json.loads(exported(engine).splitlines()[2])["payload"]["body"]
    assert (body["sequence"], body["created"]) == (EXACT_MAX, str(EXACT_MAX + 1))


def test_lines_say_it_in_words() -> None:
    """A reader of the file without memroot finds texts as strings, and the commitment of each header."""
    engine = engine_on()
    engine.apply([Add("Tea at 80 °C.", id=id_of(0), tags=["tea"], title="Tea")])
    head, _, added, end = map(json.loads, exported(engine).splitlines())
    root = engine.root()
    assert head["format"] == "memroot-journal"
    assert (head["root"], head["log_root"], head["namespaces"]) == (root.root, root.log_root, root.namespaces)
    assert head["events"] == {"from": 0, "to": 1}
    assert (added["kind"], added["actor"], added["detail"]["id"]) == ("atom_added", "user", id_of(0))
    assert added["payload"]["body"]["content"] == "Tea at 80 °C."
    assert (end["events"], end["log_root"]) == (2, root.log_root)


@given(at=st.integers(len(LINES[0]), len(A_FILE) - 1), byte=st.integers(0, 255))
@settings(max_examples=150)
def test_a_changed_byte_is_found_and_its_line_named(at: int, byte: int) -> None:
    """A changed byte in any line after the first is found, and its line is named."""
    if A_FILE[at] == byte:
        return
    line = A_FILE.count(b"\n", 0, at) + 1
    changed = A_FILE[:at] + bytes([byte]) + A_FILE[at + 1 :]
    with refused(line):
        imported(changed)


@given(at=st.integers(0, len(LINES[0]) - 1), byte=st.integers(0, 255))
@settings(max_examples=60)
def test_a_changed_first_line_is_found(at: int, byte: int) -> None:
    """A changed first line is found, and the error names it or the line that contradicts it."""
    if A_FILE[at] == byte:
        return
    with pytest.raises(CorruptionError, match=r"^the file line \d+: "):
        imported(A_FILE[:at] + bytes([byte]) + A_FILE[at + 1 :])


def test_a_wrong_root_in_the_first_line_is_its_fault() -> None:
    """If the last line agrees with the events, a wrong root in the first line is its fault."""
    for name in ("log_root", "root", "store_id"):
        head = json.loads(LINES[0])
        head[name] = head[name].translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
        with refused(1):
            imported(canonical(head) + b"".join(LINES[1:]))


@given(data=st.data())
@settings(max_examples=60)
def test_a_missing_repeated_or_moved_line_is_named(data: st.DataObject) -> None:
    """For a missing, repeated or moved line, the first line that is out of place is named."""
    at = data.draw(st.integers(0, len(LINES) - 1))
    do = data.draw(st.sampled_from(["drop", "repeat", "swap"]))
    lines, named = list(LINES), at + 1
    if do == "drop":
        del lines[at]
    elif do == "repeat":
        lines.insert(at, lines[at])
        named += 1
    else:
        at = min(at, len(LINES) - 2)
        lines[at : at + 2] = lines[at + 1], lines[at]
        named = at + 1
    with refused(named):
        imported(b"".join(lines))


@given(st.integers(0, len(A_FILE) - 1))
@settings(max_examples=40)
def test_a_file_that_was_cut_off_is_refused(end: int) -> None:
    """A file that ends early is refused, and the incomplete line is named."""
    with refused(A_FILE.count(b"\n", 0, end) + 1):
        imported(A_FILE[:end])


def test_what_stands_after_the_end_is_refused() -> None:
    """A file with bytes after its last line, even an empty line, is refused."""
    with refused(len(LINES) + 1, "after the last line"):
        imported(A_FILE + b"\n")


def test_a_line_that_was_made_anew_with_its_hashes_is_found_by_the_root() -> None:
    """A line that was changed together with its hashes is found by the log root in the last line."""
    engine, other = (after([Add(text, id=id_of(0)), Add("b", id=id_of(1))]) for text in ("a", "A"))
    lines, others = (exported(one).splitlines(keepends=True) for one in (engine, other))
    with refused(5, "log root"):
        imported(b"".join([*lines[:2], others[2], *lines[3:]]))


def test_an_event_that_no_command_decides_is_named() -> None:
    """An event that cannot follow from the earlier ones is named, even if all hashes are correct."""
    engine = after([Add("a", id=id_of(0))])
    detail = AtomDetail(bytes.fromhex(id_of(0).replace("-", "")), 0)
    forge(backend_of(engine), EventKind.ATOM_REVIVED, detail, ReasonBody(""), prev=1, time=BEGIN * 2)
    engine.rebuild()
    with refused(4, "not allowed"):
        imported(exported(engine))


def test_a_wrong_checkpoint_is_named() -> None:
    """A checkpoint with wrong roots is named."""
    engine = after([Add("a", id=id_of(0))])
    forge(
        backend_of(engine),
        EventKind.CHECKPOINT,
        CheckpointDetail(bytes(32)),
        CheckpointBody(tuple((name, bytes(32)) for name in NAMESPACES)),
    )
    engine.rebuild()
    with refused(4, "checkpoint"):
        imported(exported(engine))


def test_a_damaged_store_gives_no_whole_export() -> None:
    """The export of a damaged store fails, and its output has no last line."""
    engine = history()
    put_rows(backend_of(engine), {payload_key(7): b"x" * 40})
    out = io.BytesIO()
    with pytest.raises(CorruptionError):
        export_store(engine.store, out.write)
    with pytest.raises(CorruptionError):
        imported(out.getvalue())
