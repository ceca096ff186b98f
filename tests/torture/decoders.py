"""Every decoder of stored or foreign bytes, with valid examples, and the errors that it may raise."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import cbor2

from backends.memory import MemoryBackend
from engine.base.errors import EngineError
from engine.base.json_text import JsonError
from engine.engine import Engine
from engine.erase.destroy import read_pending
from engine.exchange.journal_import import JournalReader
from engine.exchange.journal_lines import LineError, parse_line, read_event, read_head
from engine.files.ingest.markdown_metadata import read_frontmatter
from engine.files.mirror.mirror_place import MANIFEST, decode_manifest
from engine.index.columns import decode_facts, decode_lengths
from engine.index.packs import decode_packs, find_row
from engine.index.segments import decode_blocks, decode_summary, segments_of
from engine.knowledge.dreaming.round import read_cursor
from engine.ledger.journal import read_log
from engine.ledger.layout import (
    DREAM,
    ERASING,
    FAMILIES,
    INDEX_BLOCKS,
    INDEX_ROWS,
    INDEX_SUMMARIES,
    LOG,
    decode_body,
    decode_header,
)
from engine.ledger.pages import decode_page
from engine.ledger.records import decode_atom, decode_atom_twin, decode_edge, read_counters
from engine.query.explore.explore_actions import parse_action
from proofs.errors import ProofError
from proofs.events import EventKind
from proofs.forms import FormError
from proofs.leaves import decode_value
from proofs.log import Frontier
from proofs.note import parse_note, parse_signatures
from proofs.proof_file import decode_strict
from proofs.rows import read_postings
from proofs.vkey import parse_vkey
from tests.support.engines import backend_of, engine_on, rows_of
from tests.support.workloads import commands

CORPUS: Final = Path(__file__).with_name("corpus")
"""For each decoder a folder with examples, valid or not, from which fuzzing begins."""
EXAMPLE_BYTES_MAX: Final = 3000
EXAMPLES: Final = 3
DOCUMENTS: Final = 4
_FORM: Final = (ProofError, FormError)


class Decoder(NamedTuple):
    """A function of bytes, and the errors that it may raise."""

    call: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]


class _One(dict[bytes, bytes]):
    """Rows of which one is given."""


def _text(call: Callable[[str], object]) -> Callable[[bytes], object]:
    """Return a function of bytes for one of text; bytes that are not UTF-8 are taken as Latin-1."""

    def of_bytes(raw: bytes) -> object:
        try:
            return call(raw.decode())
        except UnicodeDecodeError:
            return call(raw.decode("latin-1"))

    return of_bytes


def _body(raw: bytes) -> object:
    """Decode a body of the kind that the first byte names."""
    kinds = list(EventKind)
    return decode_body(kinds[raw[0] % len(kinds)], raw[1:], "body") if raw else None


def _twins(raw: bytes) -> object:
    """Decode an atom record with the kernel and with its twin, which must agree."""
    told = []
    for decode in (decode_atom, decode_atom_twin):
        try:
            told.append(repr(decode(raw, bytes(16))))
        except EngineError as error:
            told.append(f"{type(error).__name__}: {error}")
    if told[0] != told[1]:
        raise AssertionError(f"kernel and twin differ: {told}")
    return told


def _first(raw: bytes) -> bytes:
    """Return the first term of a pack, or what stands in its place."""
    return raw[2 + 3 * raw[0] :][: raw[1]] if len(raw) > 1 else b"?"


def _pack(raw: bytes) -> object:
    """Decode a pack of terms, and look up its first term in it."""
    first = _first(raw)
    return decode_packs([(b"i/" + first, raw)], b"i/", 512), find_row(b"i/", raw, first, 512)


def _event(raw: bytes) -> object:
    return read_event(raw, parse_line(raw), 3)


def _journal(raw: bytes) -> object:
    return sum(1 for _ in JournalReader(io.BytesIO(raw), "it").events())


_SEGMENT: Final = segments_of(512)[0]

DECODERS: Final[Mapping[str, Decoder]] = {
    "header": Decoder(lambda raw: decode_header(raw, raw[2] if len(raw) > 2 else 3), (EngineError,)),
    "body": Decoder(_body, (EngineError,)),
    "atom-record": Decoder(_twins, ()),
    "edge-record": Decoder(decode_edge, (EngineError,)),
    "counters": Decoder(lambda raw: read_counters(_One.fromkeys((b"meta/next",), raw)), (EngineError,)),
    "log-state": Decoder(lambda raw: read_log({LOG: raw}), (EngineError,)),
    "erasing": Decoder(lambda raw: read_pending({ERASING: raw}), (EngineError,)),
    "dream": Decoder(lambda raw: read_cursor({DREAM: raw}, bytes(32), 9), (EngineError,)),
    "page": Decoder(lambda raw: decode_page(b"t/", 0, bytes(1), raw), (EngineError,)),
    "pack": Decoder(_pack, (EngineError,)),
    "lengths": Decoder(lambda raw: decode_lengths(b"i/", raw, DOCUMENTS), (EngineError,)),
    "facts": Decoder(lambda raw: decode_facts(b"i/", raw, DOCUMENTS), (EngineError,)),
    "blocks": Decoder(lambda raw: decode_blocks(raw, 300, "blocks"), (EngineError,)),
    "summary": Decoder(lambda raw: decode_summary(_SEGMENT, raw), (EngineError,)),
    "leaf": Decoder(lambda raw: decode_value(raw, "leaf"), _FORM),
    "proof-postings": Decoder(lambda raw: read_postings(raw, 512, 512), _FORM),
    "strict-cbor": Decoder(lambda raw: decode_strict(raw, "it"), _FORM),
    "frontier": Decoder(Frontier.from_bytes, (ValueError,)),
    "note": Decoder(parse_note, (*_FORM, ValueError)),
    "signatures": Decoder(parse_signatures, (*_FORM, ValueError)),
    "verifier-key": Decoder(_text(parse_vkey), (*_FORM, ValueError)),
    "export-head": Decoder(read_head, (LineError, EngineError)),
    "export-event": Decoder(_event, (LineError, EngineError)),
    "export": Decoder(_journal, (EngineError,)),
    "manifest": Decoder(decode_manifest, (EngineError,)),
    "json": Decoder(parse_line, (JsonError, LineError)),
    "frontmatter": Decoder(_text(read_frontmatter), ()),
    "action": Decoder(_text(parse_action), (EngineError,)),
}
"""Name → decoder."""


@cache
def _store() -> Engine:
    engine = engine_on(MemoryBackend())
    engine.apply(commands(120, seed=9))
    for number in range(600):
        engine.add(f"note {number} of the sea", source="many.md")
    engine.checkpoint()
    engine.root()
    return engine


def made() -> dict[str, list[bytes]]:
    """Return valid examples, taken from a store."""
    engine = _store()
    rows = rows_of(backend_of(engine))
    lines: list[bytes] = []
    engine.export(lines.append)
    export = b"".join(lines).splitlines(keepends=True)
    note = engine.checkpoint_note().note.encode()

    def values(prefix: bytes) -> list[bytes]:
        return [value for key, value in rows.items() if key.startswith(prefix)]

    payloads, log = values(FAMILIES["payload"]), list(engine.log())
    packs = [row for row in rows.items() if row[0].startswith(INDEX_ROWS)]
    return {
        "header": values(FAMILIES["journal"])[1:24],
        "body": [
            bytes([list(EventKind).index(item.kind)]) + raw[32:]
            for item, raw in zip(log, payloads, strict=True)
        ],
        "atom-record": values(FAMILIES["atoms"]),
        "edge-record": values(FAMILIES["edges-from"]),
        "page": [rows[key] for key in rows if key in (b"t/atoms/\0", b"t/tags/\0", b"t/edges/\0")],
        "leaf": values(FAMILIES["values"]),
        "blocks": values(INDEX_BLOCKS),
        "summary": values(INDEX_SUMMARIES),
        "erasing": [cbor2.dumps([bytes(16), 7, 5, 3])],
        "dream": values(DREAM),
        "frontier": [read_log(rows).frontier.to_bytes()],
        "manifest": [_mirror()],
        "counters": values(b"meta/next"),
        "log-state": [rows[LOG]],
        "export-head": export[:1],
        "export-event": export[4:5],
        "export": [b"".join(export[:3])],
        "json": export[1:3],
        "note": [note],
        "signatures": [note],
        "frontmatter": [b"---\ntitle: A\ntags: [x, y]\n---\n\nText.\n"],
        "action": [b'RECALL("a kettle")', b"PEEK(1f0c2a)", b"ANSWER"],
        "pack": [raw for key, raw in packs if key.endswith(_first(raw))],
        "lengths": [(DOCUMENTS).to_bytes(4, "big") + b"\0" + bytes(2 * DOCUMENTS)],
        "facts": [(DOCUMENTS).to_bytes(4, "big") + b"\0" + bytes(32 * DOCUMENTS)],
        "strict-cbor": [raw[32:] for raw in payloads[:3]],
    }


def _mirror() -> bytes:
    """Return the manifest of a mirror."""
    engine = engine_on(MemoryBackend())
    engine.add("a text", source="a.md")
    with tempfile.TemporaryDirectory() as folder:
        engine.mirror(Path(folder) / "mirror")
        return (Path(folder) / "mirror" / MANIFEST).read_bytes()


def corpus(name: str) -> list[bytes]:
    """Return the examples of a decoder that are kept in the repository."""
    folder = CORPUS / name
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []


def write_corpus() -> None:
    """Write a few short valid examples for each decoder."""
    for name, examples in made().items():
        short = sorted({one for one in examples if len(one) <= EXAMPLE_BYTES_MAX}, key=len)
        for number, one in enumerate(_spread(short)):
            folder = CORPUS / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"valid-{number}").write_bytes(one)


def _spread(examples: list[bytes]) -> Iterator[bytes]:
    """Yield a short, a middle and a long example."""
    places = sorted({0, len(examples) // 2, len(examples) - 1}) if examples else []
    return (examples[at] for at in places[:EXAMPLES])


def outcome(decoder: Decoder, raw: bytes) -> Any:
    """Decode; return `decoded` or `refused`. Any other error than those of the decoder is raised."""
    try:
        decoder.call(raw)
    except decoder.errors:
        return "refused"
    return "decoded"


if __name__ == "__main__":
    write_corpus()
