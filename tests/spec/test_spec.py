"""SPEC.md and its parts agree with the code: each table is compared with the code in both directions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.base import errors, limits
from engine.cli.help_command import EXIT_CODES
from engine.index import columns
from engine.ledger.layout import COUNTERS, CURSOR, DREAM, ERASING, FAMILIES, LOG
from engine.ledger.records import LABELS, AtomRecord, EdgeRecord
from engine.store.views import projections
from engine.text import analyzer, simhash, speaker_labels
from proofs import claim_words, claims, hashing, leaves
from proofs.codec import BODIES, DETAILS, HEADER_FIELDS
from proofs.errors import REASONS
from proofs.events import (
    FACT_KINDS,
    FURTHER,
    OF_EVERY_BODY,
    RESERVED_KINDS,
    AtomBody,
    EventKind,
    Header,
)
from proofs.forms import WHITE_SPACE
from proofs.hashing import FORMAT, NAMESPACES, SALT_BYTES
from proofs.leaves import EdgeType, Group, State
from tests.base import make_unicode14_table
from tests.spec.spec_page import (
    PAGE,
    PARTS,
    blocks,
    number,
    page,
    record_fields,
    sentences,
    stop_words,
    table,
)

SECTIONS = {
    "SPEC": {
        1: "Promises",
        2: "Definitions",
        3: "Forms that all parts share",
        14: "Text rules and limits",
        18: "Threat model",
        19: "Versions",
        23: "Test vectors",
    },
    "journal": {
        4: "Keys",
        5: "Journal",
        6: "Log",
        7: "Records and the fold",
        8: "Followers",
        9: "Trees",
        10: "Tags",
        13: "Checkpoint events",
        15: "Reading the past",
        16: "Verification",
        17: "Assumptions about media and backends",
    },
    "index": {11: "Analyzer", 12: "Index"},
    "proofs": {20: "Proofs"},
    "checkpoints": {21: "Checkpoints outside the store", 22: "The log as tiles"},
    "merge": {24: "The merge law"},
}
"""For each part, the title of each section by its number."""
SHARED = (
    "Notation",
    "Canonical CBOR",
    "Hashes",
    "Events",
    "The log tree",
    "The tree of a namespace",
    "Leaf values",
    "Sets of ordinals",
    "Segments of the index",
    "The overall root",
)
VERIFIER_BYTES_MAX = 52_000
"""The most that somebody who writes a verifier has to read."""


def fields_of(cell: str) -> list[str]:
    """Return the names in a cell of the table of kinds."""
    return [] if cell == "–" else [name.strip() for name in cell.split(",")]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.stem)
def test_sections_are_numbered_across_the_parts(part: Path) -> None:
    """Each part has its sections in ascending order, and no number occurs twice."""
    found = re.findall(r"^## (\d+)\. (.*)$", part.read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(n): title for n, title in found} == SECTIONS[part.stem]
    assert len(found) == len(SECTIONS[part.stem])


def test_section_numbers_are_one_to_twenty_four() -> None:
    """The parts together have each section number from 1 to 24 once."""
    assert sorted(n for part in SECTIONS.values() for n in part) == list(range(1, 25))


def test_the_forms_that_all_parts_share_are_numbered() -> None:
    """Section 3 has its subsections in order."""
    found = re.findall(r"^### 3\.(\d+) (.*)$", page(), re.MULTILINE)
    assert found == [(str(n), title) for n, title in enumerate(SHARED, 1)]


def test_the_entry_lists_the_sections_of_each_part() -> None:
    """The first table of SPEC.md lists the section numbers of each part."""
    for part in PARTS:
        row = re.search(
            rf"^\| \[?(?:docs/spec/)?{part.name}.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert row is not None, part
        cell = row[0].split("|")[2]
        numbers = [range(int(a), int(b or a) + 1) for a, b in re.findall(r"(\d+)(?: to (\d+))?", cell)]
        assert [n for some in numbers for n in some] == list(SECTIONS[part.stem])


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.stem)
def test_sections_that_are_referred_to_exist(part: Path) -> None:
    """Each "section n" or "section n.m" in a part names an existing section, unless it is of an RFC."""
    text = " ".join(part.read_text(encoding="utf-8").split())
    text = re.sub(r"RFC \d+ sections? [\d. and]+", "", text)
    known = set(re.findall(r"^##+ (\d+(?:\.\d+)?)", page(), re.MULTILINE))
    lists = re.findall(r"sections? (\d[\d., and to]*)", text)
    named = {n for some in lists for n in re.findall(r"\d+(?:\.\d+)?", some)}
    assert named - known == set()


@pytest.mark.parametrize("folder", ["engine", "proofs", "backends", "tests", "docs"])
def test_sections_that_code_and_pages_refer_to_exist(folder: str) -> None:
    """Each "SPEC, section n", "SPEC n:" or "SPEC: n" in code or a page names an existing section."""
    known = set(re.findall(r"^##+ (\d+(?:\.\d+)?)", page(), re.MULTILINE))
    unknown = []
    for path in sorted((PAGE.parent / folder).rglob("*.[pm][yd]")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        found = re.findall(r"SPEC(?:\]\([^)]*\))?(?:, sections?|:)? (\d[\d., and]*)", text)
        unknown += [
            (path.name, n) for some in found for n in re.findall(r"\d+(?:\.\d+)?", some) if n not in known
        ]
    assert unknown == []


def test_what_a_verifier_needs_is_short() -> None:
    """Sections 1 to 3 of SPEC.md and docs/spec/proofs.md together have at most 52 kB."""
    part = next(part for part in PARTS if part.stem == "proofs").read_text(encoding="utf-8")
    first = PAGE.read_text(encoding="utf-8").partition("## 1. ")[2].partition("## 14. ")[0]
    assert len((first + part).encode()) <= VERIFIER_BYTES_MAX


def test_every_limit_is_listed_with_its_value() -> None:
    """The table of limits lists exactly the public constants of `engine.base.limits`, with their values."""
    listed = {name: number(value) for name, value, _, _ in table("limits")}
    constants = {name: value for name, value in vars(limits).items() if name.isupper() and name[0] != "_"}
    assert listed == constants


def test_every_limit_names_an_existing_error() -> None:
    """The last column of the table of limits names an existing error code, or `none`."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, errors.EngineError)}
    for name, _, _, over in table("limits"):
        assert re.split("[;:]", over)[0] in codes | {"none"}, name


def test_limits_inside_other_tables_are_the_constants() -> None:
    """The bounds in the tables of header and atom body are the constants of `engine.base.limits`."""
    bounds = {row[1]: row[2] for row in (*table("atom body"), *table("header"))}
    expected = {
        "content": limits.CONTENT_BYTES_MAX,
        "title": limits.TITLE_BYTES_MAX,
        "buckets": limits.BUCKETS_PER_ATOM_MAX,
        "source": limits.SOURCE_BYTES_MAX,
        "trust": limits.TRUST_MAX,
        "key": limits.KEY_BYTES_MAX,
        "kind": 255,
    }
    found = {
        name: re.findall(r"≤ ([\d,]+)", bounds[name])
        for name in ("content", "title", "source", "trust", "key")
    }
    for name, numbers in found.items():
        assert [number(value) for value in numbers] == [expected[name]], name
    assert bounds["tags"] == f"array of ≤ {limits.TAGS_PER_ATOM_MAX} texts ≤ {limits.TAG_BYTES_MAX}"
    assert bounds["buckets"] == f"array of ≤ {limits.BUCKETS_PER_ATOM_MAX} short names"
    assert bounds["seq"] == "uint ≤ 2^53 − 1"
    assert limits.SEQ_MAX == 2**53 - 1


def test_every_family_of_keys_is_listed() -> None:
    """The table of keys lists exactly the families of `engine.ledger.layout`, with their prefixes."""
    listed = {name: prefix.encode() for name, prefix, *_ in table("families")}
    assert listed == FAMILIES


def test_single_rows_under_meta_are_named() -> None:
    """The row of the family `meta` names every single row that the engine stores there."""
    rest = next(rest for name, _, rest, *_ in table("families") if name == "meta")
    named = {b"meta/" + item.partition("‖")[0].strip().encode() for item in rest.split(";")}
    assert named == {LOG, COUNTERS, CURSOR, DREAM, ERASING}


def test_every_kind_of_event_is_listed() -> None:
    """The table of kinds lists exactly all kinds by number and name, and marks reserved ones."""
    *rows, facts = table("kinds")
    listed = {int(kind): name for kind, name, *_ in rows}
    reserved = {int(kind): name for kind, name, subject, *_ in rows if subject == "reserved"}
    named = {int(kind): kind.name.lower() for kind in EventKind if kind not in FACT_KINDS}
    assert listed == named | RESERVED_KINDS
    assert reserved == RESERVED_KINDS
    ends = min(FACT_KINDS), max(FACT_KINDS)
    assert facts[:2] == [" to ".join(map(str, ends)), " to ".join(end.name.lower() for end in ends)]
    assert len(FACT_KINDS) == ends[1] - ends[0] + 1


@pytest.mark.parametrize("kind", EventKind, ids=lambda kind: kind.name.lower())
def test_details_and_bodies_have_the_listed_number_of_fields(kind: EventKind) -> None:
    """For each kind, detail and body have as many fields as the page lists."""
    _, _, _, detail, body = table("kinds")[-1 if kind in FACT_KINDS else kind]
    assert len(fields_of(detail)) == len(DETAILS[kind][1])
    listed = len(table("atom body")) if body == "the atom's body" else len(fields_of(body))
    assert listed == len(BODIES[kind][1])


def test_header_fields_are_listed_in_order() -> None:
    """The table of headers lists `format` and the fields of `Header` before its detail, in order."""
    rows = table("header")
    listed = [name for _, name, *_ in rows]
    assert [int(row[0]) for row in rows] == list(range(len(HEADER_FIELDS)))
    assert listed == ["format", *(name for name in Header._fields if name not in {"detail", "origin"})]
    assert rows[0][2] == f"uint, {FORMAT}"


def test_atom_body_fields_are_listed_in_order() -> None:
    """The tables of the atom body and its further fields list the fields of `AtomBody`, in order."""
    listed = [row[1] for row in (*table("atom body"), *table("further fields"))]
    assert listed == list(AtomBody._fields)


def test_further_fields_are_listed_by_their_numbers() -> None:
    """The table of further fields lists those of the codec and the bodies that may have them."""
    rows = table("further fields")
    assert [(int(number), name) for number, name, *_ in rows] == list(enumerate(name for name, _ in FURTHER))
    wanted = ["every body" if number in OF_EVERY_BODY else "an atom's body" for number in range(len(rows))]
    assert [row[3] for row in rows] == wanted
    lengths = {
        "request": limits.REQUEST_BYTES_MAX,
        "meta": limits.META_ENTRIES_MAX,
        "aliases": limits.ALIASES_MAX,
        "folder": limits.FOLDER_BYTES_MAX,
        "pipeline": limits.PIPELINE_BYTES_MAX,
    }
    for _, name, form, *_ in rows:
        assert name == "origin" or f"of 1 to {lengths[name]}" in form, name
    assert f"of 1 to {limits.ALIAS_BYTES_MAX} bytes" in rows[3][2]


def test_records_are_listed_in_order() -> None:
    """The page lists the fields of both kinds of records in the engine's order."""
    assert record_fields("Atom record") == list(AtomRecord._fields)
    labels = [label.replace("the empty one", "") for _, label in table("labels")]
    assert tuple(labels) == LABELS
    spelled = {"source_id": "src", "code": "type", "target_id": "dst"}
    assert [spelled.get(name, name) for name in record_fields("Edge record")] == list(EdgeRecord._fields)


def test_edge_types_are_listed() -> None:
    """The table of edge types is the built-in enum."""
    assert {name: int(code) for code, name in table("edge types")} == {
        kind.name.lower(): kind.value for kind in EdgeType
    }


def test_groups_are_listed() -> None:
    """The table of groups is the enum of the follower `tags`."""
    assert {name: int(value) for value, name, *_ in table("groups")} == {
        group.name.lower(): group.value for group in Group
    }


def test_states_are_listed() -> None:
    """The page gives the state numbers that leaf values hold."""
    assert (
        f"States are numbers: {', '.join(f'{state.name.lower()} {state.value}' for state in State)}."
        in page()
    )


def test_roles_are_listed_with_their_contexts() -> None:
    """The table of hash roles lists exactly the roles of the code, and the page tells their contexts."""
    assert {role: f"memroot {FORMAT} {role}" for role, *_ in table("roles")} == hashing.CONTEXTS
    assert f"The context string is `memroot {FORMAT} ` followed by the role" in page()


def test_exit_codes_of_errors_are_known() -> None:
    """Every error has an exit code that the command line lists."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert {kind.exit_code for kind in kinds if issubclass(kind, errors.EngineError)} <= set(EXIT_CODES)


def test_projections_and_namespaces_are_named() -> None:
    """The page lists the projections with their versions, and the namespaces in their order."""
    names = [follower.name for follower in projections()]
    assert (
        f"eight projections: {', '.join(f'`{name}`' for name in names)}; `index` is of version 8,"
        in sentences()
    )
    assert {follower.name: follower.version for follower in projections()} == {
        name: {"index": 8, "trees": 4, "tags": 3, "records": 2}.get(name, 1) for name in names
    }
    assert f"one of the committed maps {', '.join(f'`{name}`' for name in NAMESPACES)} |" in page()


def test_claims_are_listed() -> None:
    """The table of claims lists exactly the claims, by number and by their names in words."""
    listed = {name: int(number) for number, names, *_ in table("claims") for name in names.split(", ")}
    assert listed == {name: form.kind.number for name, form in claim_words.FORMS.items()}
    assert set(listed.values()) == set(claims.ALL)


def test_reasons_are_listed() -> None:
    """The table of reasons on the page for users is that of the verifier."""
    guide = (PAGE.parent / "docs" / "proofs.md").read_text(encoding="utf-8")
    assert dict(table("reasons", guide)) == REASONS


def test_files_of_test_vectors_are_listed() -> None:
    """The table of test vectors lists exactly the existing files."""
    found = {path.name for path in (PAGE.parent / "tests" / "vectors").glob("*.json")}
    assert {name for name, _ in table("vectors")} == found


def test_stop_words_are_listed() -> None:
    """The page has the stop words and the clipped endings of the analyzer."""
    assert stop_words() == analyzer.STOP_WORDS
    endings = re.search(r"is, in lower case, one of\n *([a-z ]+), then", page())
    assert endings is not None
    assert frozenset(endings[1].split()) == analyzer.CLIPPED_ENDINGS


def test_blocks_of_code_points_are_listed() -> None:
    """The ranges of the page are those from which the class table was generated."""
    listed = {name: tuple(ranges) for name, ranges in blocks().items() if name != "white space"}
    assert listed == {
        "invisible": make_unicode14_table.IGNORED_BESIDES_FORMAT,
        "no space": make_unicode14_table.NO_SPACE_BLOCKS,
        "pictographs": make_unicode14_table.PICTOGRAPH_BLOCKS,
        "Han": analyzer._HAN,
    }


def test_white_space_is_listed() -> None:
    """The page, the validation of input and the verifier agree on white space."""
    listed = {point for first, last in blocks()["white space"] for point in range(first, last + 1)}
    assert listed == {point for point in range(0x110000) if chr(point).isspace()}
    assert listed == {point for point in range(0x110000) if re.match(f"[{WHITE_SPACE}]", chr(point))}


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("salt[{}] ‖ body", SALT_BYTES),
        ("1 to {:,} members", leaves.SPARSE_MAX),
        ("{:,} bytes of bits", leaves.DENSE_BYTES),
        ("The last N mod {} ordinals", leaves.SEGMENT_DOCUMENTS),
        ("in the heading, at most {:,}.", columns.TF_MAX),
        ("not stop words, at most {:,}.", leaves.LENGTH_MAX),
        ("in its first {} code points", speaker_labels.LABEL_WITHIN),
        ("the speaker has 1 to {} code points", speaker_labels.LABEL_CHARS_MAX),
        ("and consists of 1 to {} words", speaker_labels.LABEL_WORDS_MAX),
        ("M is 0x{:X}; sums", simhash.MULTIPLIER),
        ("0 if fewer than {} of the terms", simhash.DISTINCT_MIN),
        ("differ in fewer than {} bits", simhash.NEAR_BITS),
        ("Keep the first 2^{} code points", analyzer.TEXT_CHARS_MAX.bit_length() - 1),
        ("then up to {} times", analyzer.JOINS_MAX),
        ("in at most {} bytes of UTF-8", analyzer.TERM_BYTES_MAX),
        ("More than {} pieces", analyzer.PIECES_MAX),
        ("The genesis names the analyzer (`{}`)", analyzer.ANALYZER_NAME),
        ("H(overall; u32 {} ‖", hashing.FORMAT),
        ("batches of at most {:,} events", limits.FOLLOW_EVENTS_MAX),
        ("at most {} combining marks (gc M*) in a row", limits.COMBINING_RUN_MAX),
    ],
)
def test_numbers_in_sentences_are_the_constants(sentence: str, value: int | str) -> None:
    """A constant in the running text of the page has the value of the code."""
    assert sentence.format(value) in sentences()
