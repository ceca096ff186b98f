"""The tools that append events, called with the SDK's client."""

from __future__ import annotations

from engine.engine import Engine
from proofs.leaves import State
from tests.mcp.support import Memory

LONG = "The kettle in the kitchen is descaled on Mondays with half a cup of vinegar and rinsed twice."


def test_remembering_twice_changes_nothing(memory: Memory) -> None:
    """The second call returns the same id and appends no event."""
    first = memory.found("remember", content=LONG)
    size = memory.engine.size
    second = memory.found("remember", content=LONG)
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["id"] == second["id"]
    assert memory.engine.size == size


def test_remember_keeps_all_that_is_given(memory: Memory) -> None:
    """Title, tags, source, kind and key are recorded with the server's actor."""
    given = {"title": "Tea", "tags": ["a", "b"], "source": "tea.md", "kind": "fact", "key": "tea"}
    atom = memory.engine.get(memory.found("remember", content=LONG, **given)["id"])
    assert (atom.content, atom.title, list(atom.tags)) == (LONG, "Tea", ["a", "b"])
    assert (atom.source, atom.kind, atom.key) == ("tea.md", "fact", "tea")
    assert memory.engine.history(atom.id)[0].actor == "agent"


def test_a_text_that_comes_back_is_not_stored(memory: Memory) -> None:
    """For an equal text from another source, or a nearly equal text, the answer names the atom."""
    first = memory.found("remember", content=LONG, title="Kettle", source="notes.md")["id"]
    size = memory.engine.size
    same = memory.found("remember", content=LONG.replace(" ", "  "), title="Kettle")
    assert (same["id"], same["changed"]) == (first, False)
    assert same["not_stored"] == ["this atom says this"]
    assert memory.engine.size == size
    longer = " ".join(f"{LONG} {word.title()} said so." for word in ("Anna", "Boris", "Clara"))
    other = memory.found("remember", content=longer)["id"]
    near = memory.found("remember", content=longer.replace("Clara", "Karla"))
    assert (near["id"], near["changed"]) == (other, False)
    assert near["not_stored"][0].startswith("this atom says nearly this: The kettle in the kitchen")


def test_a_text_is_stored_again_on_request(memory: Memory) -> None:
    """With `again`, the text is stored, and the near-duplicates are listed."""
    first = memory.found("remember", content=LONG, title="Kettle", source="notes.md")["id"]
    answer = memory.found("remember", content=LONG.replace(" ", "  "), title="Kettle", again=True)
    assert answer["changed"]
    assert answer["near"][0].startswith(f"{first} | Kettle | The kettle in the kitchen")


def test_a_turn_that_repeats_another_is_stored(memory: Memory) -> None:
    """An equal text at another place of its source is another atom, and a repeated call adds nothing."""
    turn = {"content": "Ben: Yes.", "source": "chat"}
    atoms = [memory.found("remember", **turn, sequence=place)["id"] for place in (4, 9, 9)]
    assert atoms[0] != atoms[1] == atoms[2]
    assert [memory.engine.get(atom).sequence for atom in atoms[:2]] == [4, 9]


def test_meta_is_recorded_and_filtered(memory: Memory) -> None:
    """Entries are KEY=VALUE, and a term `meta.KEY:VALUE` of a filter finds them."""
    first = memory.found("remember", content=LONG, meta=["project=atlas", "n=2"])["id"]
    memory.found("remember", content="The kettle was sold.", meta=['n="2"'])
    assert memory.engine.get(first).meta == {"n": 2, "project": "atlas"}
    assert "sold" not in memory.said("recall", query="kettle", filter="meta.n:2 meta.project:atlas")
    assert "sold" in memory.said("recall", query="kettle", filter='meta.n:"2"')
    assert "descaled" in memory.said("recent", filter="meta.n:2")
    assert "KEY=VALUE" in memory.call("remember", content="x", meta=["project"]).error["message"]


def test_another_text_under_the_same_key_is_a_conflict(memory: Memory) -> None:
    """A different text under an existing key is a conflict."""
    memory.found("remember", content="one", key="mine")
    assert memory.call("remember", content="two", key="mine").error["code"] == "conflict"


def test_revise_changes_what_is_given_and_nothing_else(memory: Memory, kettle: str) -> None:
    """A new text keeps the tags, new tags keep the text, and ids may be shortened."""
    assert memory.found("revise", id=kettle[:8], content="It broke.")["changed"]
    atom = memory.engine.get(kettle)
    assert (atom.content, atom.title, list(atom.tags)) == ("It broke.", "Kettle", ["chores", "Kitchen"])
    memory.found("revise", id=kettle, tags=["broken"])
    assert list(memory.engine.get(kettle).tags) == ["broken"]
    assert not memory.found("revise", id=kettle, tags=["broken"])["changed"]


def test_tag_adds_and_removes(memory: Memory, kettle: str) -> None:
    """One call can add and remove tags; a second call changes nothing."""
    given = {"id": kettle, "add": ["metal"], "remove": ["chores"]}
    assert memory.found("tag", **given)["changed"]
    assert list(memory.engine.get(kettle).tags) == ["Kitchen", "metal"]
    assert not memory.found("tag", **given)["changed"]


def test_relate_says_which_atom_says_so(memory: Memory, kettle: str) -> None:
    """The source may be a shortened id, and is shown with the triple."""
    memory.found("relate", subject="kettle", predicate="needs", object="vinegar", source=kettle[:8])
    assert (
        memory.said("explore_neighbors", node="kettle", direction="out")
        .splitlines()[1]
        .endswith(f" vinegar ({kettle[:8]})")
    )


def test_forget_hides_and_keeps(memory: Memory, kettle: str) -> None:
    """The atom is tombstoned with the reason; a second call changes nothing."""
    answer = memory.found("forget", id=kettle, reason="it broke")
    assert (answer["changed"], answer["state"]) == (True, "tombstoned")
    atom = memory.engine.get(kettle)
    assert atom.state is State.TOMBSTONED
    assert atom.tombstone is not None
    assert atom.tombstone.reason == "it broke"
    assert not memory.found("forget", id=kettle, reason="it broke")["changed"]


def test_forget_needs_a_reason_that_says_something(memory: Memory, kettle: str) -> None:
    """A blank reason is refused, and the atom stays."""
    assert memory.call("forget", id=kettle, reason=" ").error["message"] == "reason is blank; say why"
    assert memory.engine.get(kettle).state is State.LIVE


def test_what_was_forgotten_is_not_remembered_unawares(memory: Memory, kettle: str) -> None:
    """Storing a forgotten text reports the tombstone and does not revive the atom."""
    text = memory.engine.get(kettle).content
    memory.found("forget", id=kettle, reason="it broke")
    answer = memory.found("remember", content=text, source="notes/tea.md")
    assert (answer["id"], answer["changed"], answer["state"]) == (kettle, False, "tombstoned")
    assert answer["not_recalled"] == [f"hidden; `engine revive {kettle}` shows it again"]


def test_a_server_that_only_reads_offers_and_does_nothing_else(memory: Memory, kettle: str) -> None:
    """With --read-only, tools that write are not listed, and calls of them are refused."""
    reader = Memory(memory.engine, read_only=True)
    listed = {tool.name for tool in reader.ask(lambda client: client.list_tools()).tools}
    assert listed == {
        "recall",
        "recent",
        "find",
        "explore",
        "explore_recall",
        "explore_peek",
        "explore_expand",
        "explore_neighbors",
        "status",
    }
    size = memory.engine.size
    for tool in ("remember", "revise", "tag", "relate", "forget"):
        assert reader.call(tool, text="x", id=kettle).error["code"] == "refused"
    assert memory.engine.size == size
    assert reader.said("explore_expand", id=kettle).startswith(f"[{kettle[:8]}]")


def test_everything_written_over_mcp_verifies() -> None:
    """`verify-root` succeeds after all tools that write."""
    with Engine.open("memory:") as engine:
        memory = Memory(engine)
        atom = memory.found("remember", content=LONG)["id"]
        memory.found("revise", id=atom, content="Shorter.")
        memory.found("tag", id=atom, add=["x"])
        memory.found("relate", subject="a", predicate="is", object="b", source=atom)
        memory.found("forget", id=atom, reason="done")
        root = memory.found("status")["root"]
        assert engine.verify(expect=root).ok
