"""The golden journal: every kind of event, texts beyond ASCII, and atoms that were erased."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from engine.base import limits
from engine.base.validation import atom_id
from engine.commands import Add, Command, Link, Tag, Tombstone, Unlink
from engine.commands.facts import AppendFact, RecordForeignHead
from engine.engine import Engine
from engine.erase.destroy import Pending, carry_out
from engine.text.analyzer import STOP_WORDS, index_terms
from proofs.events import (
    AtomNotedBody,
    EdgeBody,
    EdgeDetail,
    EdgeNotedBody,
    ErasedBody,
    EventKind,
    Origin,
    ReasonBody,
    TagsBody,
)
from tests.spec.spec_naive import ON_ATOMS, Rows, all_roots, opened
from tests.support.pulled import Pulled, TakenIn
from tests.vectors.stores import BEGIN, Made, engine_of, made

UNREPEATABLE = ("index", "tags", "overall")
"""The roots that cannot be recomputed after a payload of an event on an atom was erased."""
ROOTS = ("log", "atoms", "edges", "index", "tags", "overall")


def clock() -> Iterator[int]:
    """Yield times seven seconds apart, except that the time for event 20 is an hour early.

    The engine therefore gives event 20 the time of event 19.
    """
    for at in range(1 << 20):
        yield BEGIN + 7_000_000 * at - (3_600_000_000 if at == 20 else 0)


def lost(rows: Rows, size: int) -> bool:
    """Return True if a payload on an atom was present after `size` events and was erased later."""
    erased = set[bytes]()
    for header, payload in reversed(rows[:size]):
        fields, _ = opened(header, None)
        if fields[3] == int(EventKind.ERASED):
            erased.add(fields[7])
        elif payload is None and fields[3] in ON_ATOMS and fields[7] not in erased:
            return True
    return False


@cache
def golden() -> Made:
    """Return the store of the golden journal."""
    engine = engine_of("golden", clock())
    ids = texts(engine)
    edges(engine, ids)
    changes(engine, ids)
    others(engine, ids)
    erasures(engine, ids)
    engine.checkpoint()
    engine.actor = "later"
    engine.revise(ids["pump"], content="The pump was replaced. 新しいポンプ。")
    engine.link(ids["café"], "feeds", ids["pump"], weight=0.125)
    engine.untag(ids["straße"], "STRASSE")
    return made("golden", engine)


def texts(engine: Engine) -> dict[str, str]:
    """Add atoms of all kinds, and return their ids by short names."""
    engine.checkpoint()
    found = {
        "pump": engine.add("The pump runs at 3,000 rpm.", title="ADR-016", tags=("Pump", "plant")).subject,
        "café": engine.add("Le café est fermé l'été.", tags=("Été", "plant"), created=0).subject,
        "tokyo": engine.add("東京都に住んでいます。", source="日記/1.md", sequence=65_536).subject,
        "li": engine.add("李：おはよう 👍", source="日記/1.md", sequence=131_072, key="greeting").subject,
    }
    engine.actor = "ingest"
    found["caroline"] = engine.add("Caroline: Hey Mel!", source="chat#1", provenance="external").subject
    found["again"] = engine.add("Caroline: Hey Mel!", source="chat#1", occurrence=1, trust=7).subject
    found["straße"] = engine.add("Die Straße ist naß.", tags=("Straße", "ﬁn"), buckets=("b", "a")).subject
    found["acme"] = engine.add("ACME", kind="entity", id="11111111-2222-8333-8444-555555555555").subject
    found["empty"] = engine.add("…", title="Sea (ship)", provenance="quarantine", trust=0).subject
    found["far"] = engine.add("C++ and snake_case, far away", created=limits.CREATED_MAX).subject
    kept = Add(
        "Der Schwarze Freitag begann 1929.",
        created=-1_270_339_200_000_000,
        meta={
            "score": 0.1,
            "half": -0.5,
            "pages": -3,
            "checked": True,
            "lang": "de",
            "note.de": "zwei\nZeilen",
        },
        aliases=("Börsenkrach", "Black Friday"),
        folder="geschichte",
    )
    made = engine.apply([kept], request="anfrage-7", pipeline="import 1.2")
    found["friday"] = made[0].subject
    engine.actor = "user"
    return found


def edges(engine: Engine, ids: dict[str, str]) -> None:
    """Add edges and predicates; one edge is added, removed and added again."""
    engine.register_type("feeds")
    engine.register_type("listens_on")
    engine.link(ids["pump"], "references", ids["café"], weight=0.5, data=b"\xa1\x61k\x01")
    engine.link(ids["pump"], "feeds", ids["acme"])
    engine.link(ids["acme"], "listens_on", ids["pump"], weight=-1.0)
    engine.unlink(ids["pump"], "feeds", ids["acme"], "burst: größer als erwartet")
    engine.link(ids["pump"], "feeds", ids["acme"], weight=2.0)
    engine.link(ids["tokyo"], "related_to", ids["li"])
    engine.unlink(ids["tokyo"], "related_to", ids["li"])
    engine.checkpoint()


def changes(engine: Engine, ids: dict[str, str]) -> None:
    """Revise, tombstone, revive, tag and untag atoms, and undo one merge."""
    engine.revise(ids["pump"], content="The pump runs at 2,900 rpm.", title="ADR-016")
    engine.revise(ids["straße"], content="Die Straße ist trocken.", title="Wetter")
    engine.revise(ids["friday"], meta={"checked": False}, aliases=(), created=limits.CREATED_MIN)
    engine.apply([Tag(ids["friday"], ("1929",))], pipeline="dreamer 1")
    engine.tag(ids["tokyo"], "東京", "plant")
    engine.tag(ids["café"], "E\u0301te\u0301 2023", "new")
    engine.untag(ids["café"], "PLANT")
    engine.tombstone(ids["far"], "zu weit")
    engine.tombstone(ids["empty"])
    engine.revive(ids["empty"], "doch nicht")
    engine.tombstone(ids["li"], "hidden 👋")
    engine.link(ids["far"], "contradicts", ids["li"])
    engine.checkpoint()
    engine.merge(ids["caroline"], ids["again"], force=True)
    engine.unmerge(ids["again"])
    engine.revise(ids["café"], content="Le café est ouvert.", title=None)
    engine.tag(ids["acme"], "K\u212aelvin", "ΣΊΣΥΦΟΣ")
    engine.add("A last one: daemon, port 8080, sha256")
    engine.add("the of and", title="The Who (band)", sequence=0)
    engine.tombstone(ids["caroline"], "")
    engine.revive(ids["li"])
    engine.tag(ids["li"], "new")
    engine.revise(ids["li"], content="李：こんばんは")
    engine.unlink(ids["pump"], "references", ids["café"])
    engine.add("Le café est ouvert.")
    engine.actor = "agent-2"
    engine.add(" ".join(f"word{n % 23} Größe" for n in range(90)), title="東京都", source="日記/2.md")
    engine.add("the same text", source="a.md")
    engine.add("the same text", source="b.md")
    engine.link(ids["acme"], "feeds", ids["tokyo"])
    engine.link(ids["tokyo"], "feeds", ids["acme"])
    engine.unlink(ids["tokyo"], "feeds", ids["acme"])
    engine.untag(ids["tokyo"], "東京")
    engine.tombstone(ids["acme"], "\u202eright to left")


def others(engine: Engine, ids: dict[str, str]) -> None:
    """Add facts, one of them about a later atom, heads of other stores, and events of another store."""
    store_id, new = bytes(range(16)), "99999999-0000-8000-8000-000000000001"
    engine.apply([RecordForeignHead(store_id, 7, bytes(range(32, 64)), bytes(range(32)))])
    engine.apply([RecordForeignHead(store_id, limits.SEQ_MAX + 1, bytes(32), None, "größer\n")])
    engine.apply([AppendFact(32, None, b""), AppendFact(63, ids["tokyo"], b"\x01\x02")], pipeline="facts 1")
    engine.apply([AppendFact(40, new, b"early"), AppendFact(41, new, b"earlier than the atom")])
    engine.apply([Add("Facts came before this text.", id=new)])
    engine.apply([AppendFact(40, new, b"late")])
    engine.tag(new, "plant")
    pulled: tuple[Command, ...] = (
        Add("The other store wrote this.", source="chat#2", sequence=3),
        Add("The other store wrote this.", source="chat#2", sequence=4, created=0),
        Tag(new, ("pulled",)),
        Link(ids["pump"], "part_of", ids["tokyo"]),
        Unlink(ids["pump"], "part_of", ids["tokyo"], "there"),
        Tombstone(new, "there"),
    )
    new_id, never, edge = (
        atom_id(new),
        atom_id("99999999-2222-8333-8444-555555555555"),
        EdgeDetail(atom_id(ids["pump"]), b"\x05", atom_id(ids["tokyo"])),
    )
    version = Add("What the other store wrote, and lost.", tags=("lost",), source="chat#2").body()
    pulled += (
        TakenIn(
            EventKind.ATOM_REVISED, new_id, version._replace(content="The newer text of the other store.")
        ),
        TakenIn(EventKind.VERSION_NOTED, new_id, version),
        TakenIn(EventKind.ATOM_TOMBSTONED, new_id, ReasonBody("hidden there")),
        TakenIn(EventKind.TAGS_ADDED, new_id, TagsBody(("Lost", "extra"))),
        TakenIn(EventKind.ATOM_NOTED, new_id, AtomNotedBody("no effect", ())),
        TakenIn(EventKind.ATOM_NOTED, new_id, AtomNotedBody(None, ())),
        TakenIn(EventKind.ATOM_REVIVED, new_id, ReasonBody("")),
        TakenIn(EventKind.EDGE_ADDED, edge, EdgeBody(b"\x3f\0\0\0", b"")),
        TakenIn(EventKind.EDGE_ADDED, edge, EdgeBody(b"\x3f\x80\0\0", b"")),
        TakenIn(EventKind.EDGE_NOTED, edge, EdgeNotedBody(b"\x3f\0\0\0", b"", None)),
        TakenIn(EventKind.ERASED, never, ErasedBody("destroyed there", ())),
        TakenIn(EventKind.ATOM_TOMBSTONED, new_id, ReasonBody("hidden again")),
    )
    for seq, command in enumerate(pulled):
        origin = Origin(store_id, seq, 1, bytes([seq]) * 32, BEGIN - 86_400_000_000 * seq)
        engine.apply([Pulled(command, origin)])


def erasures(engine: Engine, ids: dict[str, str]) -> None:
    """Erase atoms with live and removed edges. Add an erased atom again, and erase an atom a second time."""
    secret = engine.add(
        "Geheim: Schlüssel unter der Matte.", title="Schlüssel", tags=("privat", "plant")
    ).subject
    engine.link(secret, "references", ids["pump"])
    engine.link(ids["tokyo"], "feeds", secret, weight=0.25)
    engine.unlink(ids["tokyo"], "feeds", secret, "nein")
    engine.revise(secret, content="Geheim: Schlüssel im Schuppen.")
    engine.apply([AppendFact(40, secret, b"geheim")])
    engine.checkpoint()
    engine.erase(secret, "auf Wunsch", probe=False)
    other = engine.add("李：秘密", source="日記/1.md", tags=("new",), created=0).subject
    engine.link(other, "part_of", ids["tokyo"])
    # The format allows an empty reason, which `Engine.erase` refuses.
    carry_out(engine.store, Pending(atom_id(other), "", engine.actor, 0))
    engine.view.forget()
    engine.add("李：また", id=other, tags=("new",), force=True)
    engine.link(other, "part_of", ids["tokyo"], weight=0.75)
    engine.add("Geheim: Schlüssel im Schuppen.", id=secret, force=True)
    engine.erase(secret, "noch einmal", probe=False)


def journal() -> dict[str, Any]:
    """Return the contents of `journal.json`: the golden journal, its roots, and the terms of its texts."""
    rows, asked, events = golden().rows, dict[str, list[str]](), []

    def terms(text: str) -> list[str]:
        asked[text] = index_terms(text)
        return asked[text]

    for seq, (header, payload) in enumerate(rows):
        kind = opened(header, payload)[0][3]
        roots = all_roots(rows[: seq + 1], terms, frozenset(STOP_WORDS))
        events.append(
            {
                "seq": seq,
                "kind": EventKind(kind).name.lower(),
                "header": header.hex(),
                "payload": None if payload is None else payload.hex(),
                "roots": {
                    name: None if name in UNREPEATABLE and lost(rows, seq + 1) else roots[name].hex()
                    for name in ROOTS
                },
            }
        )
    listed = [{"text": text, "terms": found} for text, found in sorted(asked.items())]
    return {"events": events, "terms": listed}
