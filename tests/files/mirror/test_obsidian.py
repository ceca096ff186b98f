"""The style for Obsidian: properties, tags and links."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.files.mirror.mirror_place import MANIFEST
from engine.files.mirror.page_style import block
from tests.files.mirror.parsing import pages, whole
from tests.support.engines import engine_on


def test_obsidian_pages_begin_with_flat_properties(tmp_path: Path) -> None:
    """A page begins with flat YAML properties, with tags without `#` and aliases."""
    engine = engine_on()
    engine.add("text", source='so: "x" # \u202e\\', tags=["c++"])
    engine.mirror(tmp_path / "m", style="obsidian")
    (text,) = pages(tmp_path / "m").values()
    found = yaml.safe_load(text.split("---\n")[1])
    assert text.startswith("---\n")
    assert found["source"] == 'so: "x" # \u202e\\'
    assert found["aliases"] == [found["source"]]
    assert all(isinstance(value, (str, int, list)) for value in found.values())
    manifest = json.loads((tmp_path / "m" / MANIFEST).read_text())
    assert [manifest["tags"][tag] for tag in found["tags"]] == ["c++"]


def is_obsidian_tag(tag: str) -> bool:
    """Return True if Obsidian accepts the text as a tag."""
    return not tag.isdigit() and all(char in "_-/" or unicodedata.category(char)[0] in "LMN" for char in tag)


@given(
    st.lists(st.text(st.characters(codec="utf-8", max_codepoint=0x3000), min_size=1, max_size=8), max_size=6)
)
@settings(max_examples=60, deadline=None)
def test_tags_for_obsidian_are_its_tags_and_can_be_read_back(
    tmp_path_factory: Any, given_tags: list[str]
) -> None:
    """Tags have a form that Obsidian accepts, and the manifest maps changed names to the tags."""
    from engine.base.errors import EngineError
    from engine.base.validation import tags
    from proofs.leaves import tag_identity

    folder = tmp_path_factory.mktemp("tags")
    try:
        kept = tags([*given_tags, "1984", "y1984", "a/b", "C#"])
    except EngineError:
        return
    engine = engine_on()
    id_ = engine.add("text", tags=kept).subject
    engine.mirror(folder / "m", style="obsidian")
    shown = whole(folder / "m")[id_].fields["tags"].split(" ")
    names = json.loads((folder / "m" / MANIFEST).read_text())["tags"]
    assert all(tag[0] == "#" and is_obsidian_tag(tag[1:]) for tag in shown)
    read = [names.get(tag[1:], tag_identity(tag[1:])) for tag in shown]
    assert read == [tag_identity(tag) for tag in kept]


def test_obsidian_links_lead_to_blocks(tmp_path: Path) -> None:
    """A link names a page with a unique name and a block id on that page."""
    engine = engine_on()
    a = engine.add("one", source="s", tags=["x"]).subject
    b = engine.add("two [[|]] #^", source="s", tags=["y"]).subject
    engine.link(a, "references", b)
    engine.mirror(tmp_path / "m", style="obsidian")
    found = pages(tmp_path / "m")
    names = [path.rpartition("/")[2] for path in found]
    assert len({name.casefold() for name in names}) == len(names)
    ((page, anchor),) = re.findall(
        r"^- references \[\[([^#]*)#(\^[a-z0-9-]*)\|[^\]]*\]\]$", "\n".join(found.values()), re.MULTILINE
    )
    (target,) = [text for path, text in found.items() if path.endswith(f"/{page}.md")]
    assert f"\n{anchor}\n" in target
    assert anchor == f"^{block(bytes.fromhex(b.replace('-', '')))}"
