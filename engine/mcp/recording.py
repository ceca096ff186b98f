"""The tools that append events: remember, revise, tag, relate, forget. No tool deletes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.mcp.definition import Arguments, Fields, Tool, members, text, texts
from engine.mcp.exploring import ANSWER, ID, beginning, received
from engine.mcp.screening import redacted

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.engine import Engine

DUPLICATES_SHOWN: Final = 5

TEXT: Final = text(most=65_536)
LINE: Final = text(most=512)
NAME: Final = text(most=256)
TAGS: Final = texts(each=256, most=64)
KIND: Final = text(most=32)


def _remember(engine: Engine, arguments: Arguments) -> Fields:
    from engine.commands import Add

    fields = {name: value for name, value in arguments.items() if name != "text"}
    receipt = engine.apply([Add(arguments["text"], **fields)])[0]
    held_back = engine.held_back(receipt.subject)
    # Without this report, a model might repeatedly store a text that recall always leaves out.
    held = {} if held_back is None else {"not_recalled": held_back}
    return received(
        engine, [receipt], near=_near(engine, receipt.subject), **held, **redacted(engine, arguments)
    )


def _near(engine: Engine, atom: str) -> list[Fields]:
    """Return the near-duplicates of an atom, to show a model that the text is already stored."""
    groups = engine.duplicates(of=atom, limit=1)
    found = [one for group in groups for one in (group.keep, *group.others) if one.id != atom]
    return [
        {"id": one.id, "title": one.title, "text": beginning(one.snippet)} for one in found[:DUPLICATES_SHOWN]
    ]


REMEMBER = Tool(
    "remember",
    "Store a text: one fact or note. Storing the same text again changes nothing. `near` lists near-"
    "duplicates: revise these instead. `key` gives the atom a name of your own.",
    members(
        {
            "text": TEXT,
            "title": LINE,
            "tags": TAGS,
            "source": LINE,
            "kind": KIND,
            "key": LINE,
            "provenance": {"enum": ["internal", "external", "quarantine"]},
        },
        "text",
    ),
    ANSWER,
    _remember,
    writes=True,
)


def _revise(engine: Engine, arguments: Arguments) -> Fields:
    from engine.commands import Revise

    fields = {"content" if name == "text" else name: value for name, value in arguments.items()}
    atom = engine.resolve(fields.pop("id"))
    return received(engine, engine.apply([Revise(atom, **fields)]), **redacted(engine, arguments))


REVISE = Tool(
    "revise",
    "Change an atom; its history is kept. Omitted fields are unchanged; `tags` replaces all tags.",
    {**members({"id": ID, "text": TEXT, "title": LINE, "tags": TAGS}, "id"), "minProperties": 2},
    ANSWER,
    _revise,
    writes=True,
)


def _tag(engine: Engine, arguments: Arguments) -> Fields:
    from engine.commands import Tag, Untag

    atom = engine.resolve(arguments["id"])
    commands: list[Command] = [Tag(atom, arguments.get("add", ())), Untag(atom, arguments.get("remove", ()))]
    return received(engine, engine.apply(commands))


TAG = Tool(
    "tag",
    "Add tags to an atom, or remove tags from it.",
    {**members({"id": ID, "add": TAGS, "remove": TAGS}, "id"), "minProperties": 2},
    ANSWER,
    _tag,
    writes=True,
)


def _relate(engine: Engine, arguments: Arguments) -> Fields:
    from engine.commands.edges import Relate

    subject, predicate, target = (arguments[name] for name in ("subject", "predicate", "object"))
    source = engine.resolve(arguments["source"]) if "source" in arguments else None
    return received(engine, engine.apply([Relate(subject, predicate, target, source=source)]))


RELATE = Tool(
    "relate",
    "Store a relation between two named entities, such as (daemon, listens_on, unix_socket); `source` is "
    "the id of the atom that is the evidence.",
    members(
        {"subject": NAME, "predicate": text(most=32), "object": NAME, "source": ID},
        "subject",
        "predicate",
        "object",
    ),
    ANSWER,
    _relate,
    writes=True,
)


def _forget(engine: Engine, arguments: Arguments) -> Fields:
    from engine.commands import Supersede, Tombstone

    atom, reason = engine.resolve(arguments["id"]), arguments["reason"]
    wanted: Command = Tombstone(atom, reason)
    if "instead" in arguments:
        wanted = Supersede(atom, engine.resolve(arguments["instead"]), reason)
    return received(engine, engine.apply([wanted]))


FORGET = Tool(
    "forget",
    "Hide an atom from every answer without deleting it. `instead` is the id of the correct atom, which "
    "replaces the hidden atom and its future copies.",
    members({"id": ID, "reason": text(most=1000), "instead": ID}, "id", "reason"),
    ANSWER,
    _forget,
    writes=True,
    destructive=True,
)
