"""Tests of reading and generating sets of questions (`pytest bench/retrieval`).

Question: are the questions correct? Data: small. Seed: 1. How: ordinary tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.question_sets import sets_of
from bench.retrieval.garden import LinkContext, questions, words_around
from bench.retrieval.ours import open_store
from bench.retrieval.sets import main_of, read_set
from engine.base.errors import InvalidInputError
from proofs.events import EventKind

CORPUS = [{"id": "p1", "title": "A title", "text": "alpha beta"}, {"id": "p2", "text": "gamma"}]
ASKED = {"query": "alpha?", "relevant": ["p1"], "category": "plain"}


def write(folder: Path, corpus: list[dict[str, Any]], queries: list[dict[str, Any]]) -> Path:
    """Write the two files of a set to `folder` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("corpus", corpus), ("queries", queries)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_questions_without_an_answer_are_left_out(tmp_path: Path) -> None:
    """Questions of the category `adversarial` and questions without relevant ids are left out."""
    queries = [ASKED, ASKED | {"category": "adversarial"}, ASKED | {"relevant": []}]
    found = read_set(write(tmp_path / "set", CORPUS, queries))

    assert [one.category for one in found.memories[0].questions] == ["plain"]


def test_audited_relevance_is_kept_beside_the_plain_one(tmp_path: Path) -> None:
    """Audited relevance is a second judgement; without it, the first judgement is used for both."""
    queries = [ASKED, ASKED | {"relevant_audited": ["p2"], "audit_error": "WRONG_CITATION"}]
    found = read_set(write(tmp_path / "set", CORPUS, queries))

    plain, audited = found.memories[0].questions
    assert plain.relevant == plain.second == audited.relevant == {"p1"}
    assert audited.second == {"p2"}
    assert found.judged_twice


def test_a_folder_of_folders_is_one_set_of_several_memories(tmp_path: Path) -> None:
    """Each subfolder with the two files is a memory, and their questions are counted together."""
    for name in ("one", "two"):
        write(tmp_path / "set" / name, CORPUS, [ASKED, ASKED])
    (tmp_path / "set" / "other").mkdir()

    found = read_set(tmp_path / "set")
    assert [memory.name for memory in found.memories] == ["set-one", "set-two"]
    assert (found.questions, found.main) == (4, "R@10")


def test_rivals_are_given_title_and_text(tmp_path: Path) -> None:
    """Rivals without fields get the title before the text."""
    documents = read_set(write(tmp_path / "set", CORPUS, [ASKED])).memories[0].documents

    assert [one.whole for one in documents] == ["A title\nalpha beta", "gamma"]


def test_thinning_spreads_over_all_memories(tmp_path: Path) -> None:
    """Thinning keeps all documents and evenly spread questions; a limit above the total changes nothing."""
    for name in ("one", "two"):
        queries = [ASKED | {"query": f"{name} {number}"} for number in range(4)]
        write(tmp_path / "set" / name, CORPUS, queries)
    found = read_set(tmp_path / "set")

    thin = found.thinned(4)
    assert [one.text for memory in thin.memories for one in memory.questions] == [
        "one 0",
        "one 2",
        "two 0",
        "two 2",
    ]
    assert len(thin.memories[0].documents) == 2
    assert found.thinned(8) is found


@pytest.mark.parametrize(
    ("corpus", "queries", "said"),
    [
        ([{"text": "no id"}], [ASKED], "`id` and `text`"),
        ([*CORPUS, *CORPUS], [ASKED], "twice"),
        (CORPUS, [{"query": 3, "relevant": ["p1"]}], "`query` and `category`"),
        (CORPUS, [ASKED | {"relevant": "p1"}], "a list of ids"),
        (CORPUS, [ASKED | {"relevant": []}], "no question"),
    ],
)
def test_a_malformed_set_is_refused(
    tmp_path: Path, corpus: list[dict[str, Any]], queries: list[dict[str, Any]], said: str
) -> None:
    """Malformed files raise an error that names the fault."""
    with pytest.raises(InvalidInputError, match=said):
        read_set(write(tmp_path / "set", corpus, queries))


def test_neither_a_name_nor_a_folder_is_refused(tmp_path: Path) -> None:
    """A set that does not exist is an error."""
    with pytest.raises(InvalidInputError, match="not a set of questions"):
        list(sets_of([str(tmp_path / "nowhere")], tmp_path, 1))


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    """A second folder of the same name is refused, because both would share a store."""
    folders = [str(write(tmp_path / outer / "set", CORPUS, [ASKED])) for outer in ("one", "two")]

    with pytest.raises(InvalidInputError, match="two memories are called set"):
        list(sets_of(folders, tmp_path, 1))


def test_relevance_of_what_is_not_there_is_kept_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A relevant id that is missing in the corpus is kept, and reported on stderr."""
    found = read_set(write(tmp_path / "set", CORPUS, [ASKED | {"relevant": ["p1", "p9"]}]))

    assert found.memories[0].questions[0].relevant == {"p1", "p9"}
    assert "1 relevant ids are not in the corpus" in capsys.readouterr().err


def test_context_leaves_the_link_out_and_named_keeps_it() -> None:
    """The words of the link stay in place in the category `named`, and are removed in `context`."""
    cited = LinkContext(
        "id", "we met Alice Smith near the old", "Alice", "harbour on a stormy evening", "alice.md"
    )

    assert " ".join(words_around(cited, named=True)) == "met Smith near old Alice harbour stormy evening"
    assert " ".join(words_around(cited, named=False)) == "met Smith near old harbour stormy evening"


def test_only_the_nearest_words_are_kept() -> None:
    """At most twelve words are kept: those nearest to the link, in the order of the text."""
    before = " ".join(f"left{number}x" for number in range(20))
    after = " ".join(f"right{number}x" for number in range(20))

    words = words_around(LinkContext("id", before, "note", after, "note.md"), named=False)
    assert words == [f"left{at}x" for at in range(14, 20)] + [f"right{at}x" for at in range(6)]
    assert len(words_around(LinkContext("id", before, "note", after, "note.md"), named=True)) == 12


def test_a_link_with_little_around_it_is_not_asked_about() -> None:
    """URLs, numbers, stop words and short words do not count as content words."""
    assert not words_around(
        LinkContext("id", "see https://example.org/page 2021 and the", "x", "is of an old boat", "x.md"),
        named=True,
    )


def test_garden_questions_are_about_the_linked_note(tmp_path: Path) -> None:
    """The relevant atoms of a question are the atoms of the linked note and the citing atom."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.md").write_text("boats rest here", encoding="utf-8")
    (notes / "diary.md").write_text("walked along cold stones to the [[Harbour]] today", encoding="utf-8")
    with open_store(tmp_path / "store", [notes], 1) as engine:
        added = [item.subject for item in engine.log() if item.kind is EventKind.ATOM_ADDED]
        atoms = [engine.get(atom) for atom in added]

    (question,) = questions(atoms, 1)
    by_source = {atom.source: atom.id for atom in atoms}
    assert question.text == "walked along cold stones today"
    assert question.second == {by_source["notes/harbour.md"]}
    assert question.relevant == set(by_source.values())
    assert list(questions(atoms, 1)) == [question]


def test_sets_of_abstracts_are_measured_by_their_order() -> None:
    """The main measure of CACM and NPL is nDCG@10, of HotpotQA R@5, and of any other set R@10."""
    assert [main_of(name) for name in ("cacm", "npl", "hotpotqa", "notes")] == [
        "nDCG@10",
        "nDCG@10",
        "R@5",
        "R@10",
    ]
