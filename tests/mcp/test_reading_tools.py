"""The tools that answer in one call: recall, recent, explore and find."""

from __future__ import annotations

import re

import pytest

from tests.mcp.support import Memory, cost_of

pytestmark = pytest.mark.slow

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def outsider(memory: Memory) -> str:
    """Return the id of an atom that others wrote."""
    text = "The kettle must be descaled by a plumber, a web page claims."
    return str(memory.found("remember", content=text, provenance="external", source="web")["id"])


def test_recall_answers_with_texts_in_one_call(memory: Memory, kettle: str) -> None:
    """The answer has the text under a heading with a short id, the source and the title."""
    found = memory.said("recall", query="when is the kettle descaled?")
    assert f"[{kettle[:8]}] notes/tea.md | Kettle\n  The kettle is descaled on Mondays" in found


def test_recall_says_how_it_read_a_misspelled_name(memory: Memory) -> None:
    """The last line has both spellings if the budget allows; the cost counts them."""
    memory.found("remember", content="We met Caroline at the harbour office.")
    found = memory.said("recall", query="where did we meet Carolyne?")
    assert "We met Caroline" in found
    assert found.splitlines()[-1].startswith("[Carolyne read as Caroline; ")
    small = memory.said("recall", query="where did we meet Carolyne?", budget=32)
    assert cost_of(small) <= 32


@pytest.mark.parametrize("budget", [32, 60, 120, 400])
@pytest.mark.parametrize("text", ["<b>kettle</b> <i>{}</i> ", "kettle {} interchangeableness "])
def test_recall_keeps_to_its_budget(memory: Memory, text: str, budget: int) -> None:
    """The whole answer costs at most the budget, even if texts contain markup or long words."""
    for number in range(40):
        memory.found("remember", content=text.format(number) * (number % 9 + 1))
    found = memory.said("recall", query="kettle", budget=budget)
    assert "kettle" in found
    assert len(found) / 4 <= cost_of(found) <= budget


def test_provenance_is_shown_wherever_text_is_handed_out(memory: Memory, kettle: str, outsider: str) -> None:
    """Only the headings and hints of texts that others wrote are marked."""
    for tool, given in (
        ("recall", {"query": "kettle"}),
        ("recent", {}),
        ("find", {}),
        ("find", {"query": "kettle"}),
        ("explore", {"query": "what does the web page claim about a plumber?"}),
        ("explore_recall", {"query": "kettle"}),
        ("explore_peek", {"id": outsider}),
        ("explore_expand", {"id": outsider}),
    ):
        heads = re.findall(r"^\[.*", memory.said(tool, **given), re.MULTILINE)
        assert [one for one in heads if outsider[:8] in one and " external" in one], tool
        assert not [one for one in heads if kettle[:8] in one and " external" in one], tool


def test_what_does_not_pass_the_filter_is_not_found(memory: Memory, kettle: str, outsider: str) -> None:
    """Every tool that searches obeys the filter."""
    for tool, given in (
        ("recall", {"query": "kettle"}),
        ("recent", {}),
        ("find", {}),
        ("find", {"query": "kettle"}),
        ("explore", {"query": "kettle"}),
    ):
        found = memory.said(tool, **given, filter="provenance:external")
        assert (outsider[:8] in found, kettle[:8] in found) == (True, False), tool


def test_recent_lists_what_was_added_last_and_by_whom(memory: Memory, kettle: str) -> None:
    """The newest atom comes first, with the time and the actor."""
    first = memory.said("recent").splitlines()[0]
    assert re.fullmatch(rf"\[{kettle[:8]} {TIME} by agent\] Kettle \| The kettle is descaled .*", first)


@pytest.mark.parametrize("given", [{"limit": 2}, {"budget": 50}], ids=["limit", "budget"])
@pytest.mark.parametrize(("tool", "after_id"), [("recent", " "), ("find", r"\]")], ids=["recent", "find"])
def test_a_list_goes_on_where_it_ended(
    memory: Memory, kettle: str, tool: str, after_id: str, given: dict[str, int]
) -> None:
    """Following the offset lists each atom once, whether the limit or the budget ended the page."""
    found: list[str] = []
    offset = 0
    while True:
        answer = memory.said(tool, offset=offset, **given)
        found += re.findall(rf"^\[([0-9a-f]{{8}}){after_id}", answer, re.MULTILINE)
        more = re.search(r"more: offset (\d+)", answer)
        if more is None:
            break
        offset = int(more[1])
    assert len(found) == len(set(found)) == 3


def test_recent_of_an_atom_is_its_history(memory: Memory, kettle: str) -> None:
    """With `atom`, every event of the atom is listed once, the newest first, even if the atom is hidden."""
    for number in range(4):
        memory.found("tag", id=kettle, add=[f"tag{number}"])
    memory.found("forget", id=kettle, reason="it broke")
    kinds = re.findall(
        rf"^\[(\d+)\] {TIME} (\w+) by agent", memory.said("recent", atom=kettle[:8]), re.MULTILINE
    )
    assert [kind for _, kind in kinds] == ["atom_tombstoned", *4 * ["tags_added"], "atom_added"]
    seqs = [int(seq) for seq, _ in kinds]
    assert seqs == sorted(seqs, reverse=True)
    assert "it broke" in memory.said("recent", atom=kettle, limit=1)


def test_history_shows_meta_as_json_and_times_in_iso_8601(memory: Memory) -> None:
    """The detail of an event is JSON with the time of creation as elsewhere."""
    atom = memory.found("remember", content="The kettle whistles.", meta=["n=3", "ok=true"])["id"]
    memory.found("revise", id=atom, title="Kettle")
    revised = memory.said("recent", atom=atom).splitlines()[0]
    assert '"meta":{"n":3,"ok":true}' in revised
    assert re.search(rf'"created":"{TIME}"', revised)


def test_history_shortens_long_texts(memory: Memory) -> None:
    """The history of an atom costs few tokens, even if its versions have 60,000 characters."""
    atom = memory.found("remember", content="word " * 12_000)["id"]
    memory.found("revise", id=atom, content="other " * 10_000, tags=[f"tag{number}" for number in range(60)])
    assert cost_of(memory.said("recent", atom=atom)) < 600


def test_find_follows_edges(memory: Memory) -> None:
    """With `from`, the atoms within a number of edges are found, each with its distance."""
    for subject, target in (("a one", "b two"), ("b two", "c three"), ("x", "b two")):
        memory.found("relate", subject=subject, predicate="leads to", object=target)
    start = memory.said("explore_neighbors", node="a one")[1:9]
    found = memory.said("find", **{"from": start, "hops": 2, "follow": "leads_to"})
    assert re.findall(r"\[\w{8} (\d) hops?\] (.*)", found) == [("1", "b two"), ("2", "c three")]
    found = memory.said("find", **{"from": start})
    assert re.findall(r"(\d) hops?\] (.*)", found) == [("1", "b two")]
    both = memory.said("find", **{"from": start, "hops": 2, "direction": "both"})
    assert sorted(re.findall(r"(\d) hops?\] (.*)", both)) == [("1", "b two"), ("2", "c three"), ("2", "x")]


def test_find_with_a_question_shows_the_best_atoms_and_their_relations(memory: Memory, kettle: str) -> None:
    """The answer has the bright nodes, and a line for each relation between them."""
    found = memory.said("find", query="kettle vinegar")
    assert f"[{kettle[:8]} 100%] Kettle | The kettle" in found
    assert re.search(r"\n  [0-9a-f]{8} – [0-9a-f]{8} shares_tag [Kk]itchen\n", found)


def test_a_graph_says_when_its_budget_left_something_out(memory: Memory, kettle: str) -> None:
    """The last line says that there is more."""
    found = memory.said("find", query="kettle vinegar daemon", budget=30)
    assert found.splitlines()[-1].startswith("[more with a larger budget; ")


def test_find_across_shows_paths_between_domains(memory: Memory) -> None:
    """Each path is a line with its names and their domains, and a line for each step with its evidence."""
    said = memory.found("remember", content="Ada writes Forth.\n[0.99] forged")["id"]
    memory.found("relate", subject="Ada", predicate="uses", object="Forth", source=said)
    memory.found("relate", subject="Forth", predicate="located_in", object="Bristol")
    found = memory.said("find", query="Ada Bristol", across=True)
    lines = found.splitlines()
    assert lines[0].endswith("] Ada (person) – Forth (technology) – Bristol (place)")
    assert lines[1] == f"  Ada → uses → Forth [{said[:8]}] Ada writes Forth. [0.99] forged"
    assert lines[2] == "  Forth → located_in → Bristol"
    refused = memory.call("find", across=True)
    assert refused.error["message"] == "`across` needs names or a question: give `query`"


@pytest.mark.parametrize("budget", [30, 40, 60, 100])
def test_a_list_keeps_to_its_budget(memory: Memory, budget: int) -> None:
    """The end of a single line that costs too much is cut off, and a budget for no line is an error."""
    title = "A kettle that is descaled on Mondays, on Tuesdays and on every other day of the week"
    atom = memory.found(
        "remember", content="The kettle whistles. " * 9, title=title, meta=["k=" + "v" * 300]
    )["id"]
    memory.found("remember", content="The daemon listens on a Unix socket in the runtime folder.")
    for tool, given in (
        ("find", {}),
        ("find", {"query": "kettle whistles"}),
        ("recent", {}),
        ("recent", {"atom": atom}),
    ):
        answer = memory.call(tool, **given, budget=budget)
        if answer.is_error:
            assert answer.error["message"].startswith(f"a budget of {budget} tokens is too small")
            assert budget < 60
        else:
            assert len(answer.text) / 4 <= cost_of(answer.text) <= budget
            assert answer.text.startswith("[")


def test_explore_returns_what_it_gathered(memory: Memory, kettle: str) -> None:
    """The answer has the sentence that answers, the texts, the steps and the cost."""
    found = memory.said("explore", query="when is the kettle descaled?")
    assert found.startswith(
        f"[answer {kettle[:8]}] notes/tea.md | Kettle\n  The kettle is descaled on Mondays"
    )
    assert "  The kettle is descaled on Mondays with half a cup of vinegar." in found
    assert re.search(r"\n\[\d+ steps?, \d+ tokens read; \d+ tokens\]\Z", found)


def test_explore_says_plainly_that_nothing_answers(memory: Memory, kettle: str) -> None:
    """Texts with the question's other words are shown, but not as the answer."""
    found = memory.said("explore", query="Who plays the xylophone in the kettle of Zanzibar?")
    assert found.startswith("[answer] nothing found\n[")
    assert f"[{kettle[:8]}]" in found


@pytest.mark.parametrize("tool", ["recall", "explore_recall", "explore"])
def test_nothing_found_costs_next_to_nothing(memory: Memory, kettle: str, tool: str) -> None:
    """An empty answer says so in at most 25 tokens."""
    found = memory.said(tool, query="unicorn zebra")
    assert found.startswith("nothing found\n")
    assert len(found) / 4 <= 25
