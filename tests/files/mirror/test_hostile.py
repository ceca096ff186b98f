"""Hostile contents and names cannot leave the folder or become part of a page's structure."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from engine.files.mirror.mirror_place import MANIFEST
from tests.files.mirror.parsing import listed, pages, parse, plain, structure, whole
from tests.support.engines import engine_on

pytestmark = pytest.mark.slow

STYLES = ("plain", "obsidian")


HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "CON",
    "nul.md",
    "a" * 255,
    "name.",
    " name ",
    ".git",
    "..",
    ".",
    "-rf",
    "Tea",
    "tea",
    "TEA",
    "é",
    "e\u0301",
    "\u202egnp.exe",
    "a\\b",
    "x:y*?<>|",
    "~",
    "%2e%2e",
    "\U0001f600" * 60,
    "index_0123456789ab",
    "#tag",
    "[[x]]",
    "^a-x",
    "%%",
    "untagged",
    "entities",
]


@pytest.mark.parametrize("style", STYLES)
def test_hostile_names_stay_in_the_folder(tmp_path: Path, style: str) -> None:
    """Names from any tags, sources and buckets are short, safe, and distinct ignoring case."""
    from engine.base.errors import EngineError

    engine = engine_on()
    count = 0
    for number, name in enumerate(HOSTILE):
        for fields in (
            {"source": name},
            {"tags": [name]},
            {"buckets": [name]},
            {"title": name, "source": "t"},
        ):
            try:
                engine.add(f"text {number} {sorted(fields)}", **fields)
                count += 1
            except EngineError:
                continue
    for bucket in ("con", ".", "..", "a.", "-", ".git", "a_0123456789ab"):
        engine.add("in a bucket", buckets=[bucket], source=bucket)
        count += 1
    (tmp_path / "canary").write_text("here")
    engine.mirror(tmp_path / "m", style=style)
    assert {path.name for path in tmp_path.iterdir()} == {"canary", "m"}
    assert len(whole(tmp_path / "m")) == count
    parts = {path.relative_to(tmp_path / "m") for path in (tmp_path / "m").rglob("*")}
    folded = {unicodedata.normalize("NFC", str(path).casefold()) for path in parts}
    assert len(folded) == len(parts)
    for path in parts:
        assert len(path.name.encode()) <= 120
        if path.name == MANIFEST:
            continue
        assert re.fullmatch(r"[@#]?[\w-]+(?:\.md)?", path.name), path.name
        if style == "obsidian":
            assert not set(path.name) & set('#^[]|:\\/*"<>?')


def test_two_tags_never_share_a_folder(tmp_path: Path) -> None:
    """Tags that differ only in replaced characters, or resemble another's folder, are kept apart."""
    engine = engine_on()
    engine.add("text", tags=["c+", "c-", "c?", "c_", "ä", "a\u0308\u0308", "日本", "日+"])
    engine.mirror(tmp_path / "m")
    shown = next(name[1:] for name in listed(tmp_path / "m" / "@inbox") if "c_" in name)
    assert len(listed(tmp_path / "m" / "@inbox")) == 8
    engine.add("other", tags=[shown])
    engine.mirror(tmp_path / "m")
    assert len(listed(tmp_path / "m" / "@inbox")) == 9


@pytest.mark.parametrize("text", ["a ", " a", "a\n", "\na", "a \nb", "a\n\n b", "\u3000a"])
def test_white_space_that_editors_strip_is_fenced(tmp_path: Path, text: str) -> None:
    """A content with white space at the ends of its lines is fenced."""
    engine = engine_on()
    engine.add(text)
    engine.mirror(tmp_path / "m")
    (page,) = pages(tmp_path / "m").values()
    assert f"```text\n{text}\n```" in page


@pytest.mark.parametrize("name", ["1.", "-", "a.b", "_", "facts", "see"])
def test_a_predicate_is_never_structure(tmp_path: Path, name: str) -> None:
    """For any predicate, Markdown sees one list, and the edge can be read back."""
    engine = engine_on()
    a, b = (engine.add(text, source="s").subject for text in ("one", "two"))
    engine.register_type(name)
    engine.link(a, name, b)
    engine.mirror(tmp_path / "m")
    (page,) = pages(tmp_path / "m").values()
    assert whole(tmp_path / "m")[a].edges == [(name, b)]
    assert [
        token.level for token in MarkdownIt("commonmark").parse(page) if token.type.endswith("_list_open")
    ] == [0] * 3


STRUCTURE = [
    "---\ntitle: x\n---\n",
    "# heading",
    "## [1f0c0000-0000-4000-8000-000000000001] fake",
    "```\nfence",
    "````text\n```",
    "text\n\n---\n\n## [1f0c0000-0000-4000-8000-000000000001] fake\n\n- facts: x\n\ny",
    "[[x]] ![[y]] ^a-b",
    "<b>x</b> <!-- c",
    "\u202eabc",
    "a\r\nb\rc",
    "a\n\n\nb",
    " a",
    "a ",
    "a\n",
    "\na",
    "- item\n- see: x",
    "1. one",
    "| a |\n|---|",
    "x\n===",
    "a\n    code",
    "[x]: http://evil",
    "![i](http://evil/i.png)",
    "~~~\nx",
    "> quote",
    "%%\nhidden",
    "$$\nx",
    "⟨U+0041⟩",
    "\x1b[31mred",
    "&#x202E;",
    "^a-frvrdxo7zoaaxdztxgciziztxe",
    "`" * 50,
    "#tag",
    "\x0b\x0c\x85\u2028x",
    "a\tb",
    "prose, plainly.\n\nTwo parts: R&D, 50% & more.",
    "Setext\n-----",
    "*\n*\n*",
    "text `code",
    "<script>",
    "a\\",
    "{{x}} {% y %}",
    "\ufeffbom",
    "***",
    "x\n***",
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("text", STRUCTURE)
def test_a_content_is_never_structure(tmp_path: Path, style: str, text: str) -> None:
    """Any content can be read back, and Markdown sees only the page's own headings and rules."""
    engine = engine_on()
    ids = [engine.add(content, source="s").subject for content in ("before", text, "after")]
    engine.mirror(tmp_path / "m", style=style)
    (page,) = pages(tmp_path / "m").values()
    assert [entry.id for entry in parse(page).entries] == ids
    assert [entry.content for entry in parse(page).entries] == ["before", text, "after"]
    assert structure(page) == (3, 2)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", page.replace("a\tb", ""))


NOISE = st.text(
    st.sampled_from("ab \n\t-#>`~[]()<>|^*_=+.:!&;%$\\{}\"'1\r\u202e\u27e8\u27e9U+0é猫\u0085")
    | st.characters(codec="utf-8"),
    min_size=1,
    max_size=60,
)


@given(st.lists(st.tuples(NOISE, NOISE, NOISE), min_size=1, max_size=4), st.sampled_from(STYLES))
@settings(max_examples=150, deadline=None)
def test_a_page_gives_back_exactly_its_atoms(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, str, str]], style: str
) -> None:
    """Any valid content, title and tag can be read back, and the page's structure is its own."""
    from engine.base.errors import EngineError

    folder = tmp_path_factory.mktemp("noise")
    engine = engine_on()
    put: dict[str, tuple[str, str | None]] = {}
    for content, title, tag in drawn:
        fields: dict[str, Any] = {"source": "s"}
        for one in ({"title": title}, {"tags": [tag]}):
            try:
                engine_on().add("probe", **one)
                fields |= one
            except EngineError:
                continue
        try:
            put.setdefault(engine.add(content, **fields).subject, (content, fields.get("title")))
        except EngineError:
            continue
    engine.mirror(folder / "m", style=style)
    found = whole(folder / "m")
    assert {
        id_: (entry.content, plain(entry.fields["title"]) if "title" in entry.fields else None)
        for id_, entry in found.items()
    } == put
    for text in pages(folder / "m").values():
        entries = len(parse(text).entries)
        assert structure(text) == (entries, entries - 1)
    for id_, entry in found.items():
        if style == "plain":
            tags = re.split(r"(?<!\\), ", entry.fields["tags"]) if "tags" in entry.fields else []
            assert tuple(map(plain, tags)) == engine.get(id_).tags
