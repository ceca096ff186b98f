"""`engine proof page`: the file that it writes, without a browser."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from engine.window import page
from engine.window.page import whole_page
from tests.support.command_line import Cli

REFUSED = 7


def test_the_policy_names_exactly_what_stands_in_the_page() -> None:
    """The one script and the one style have the hashes in the policy, which allows nothing else."""
    text = whole_page("verify.html")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    for name in ("script", "style"):
        (found,) = re.findall(rf"<{name}[^>]*>(.*?)</{name}>", text, re.DOTALL)
        hashed = b64encode(sha256(found.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{hashed}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_page_refers_to_nothing() -> None:
    """No attribute of its markup names a file or an address."""
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", whole_page("verify.html"), flags=re.DOTALL)
    assert re.findall(r"\b(?:src|href|action|data|srcset)\s*=|url\(|style=|\son\w+=", markup) == []


@pytest.mark.parametrize(
    "code",
    [
        'import * as all from "./other.mjs";',
        'import value from "./other.mjs";',
        "export default 1;",
        "export { here };",
        "export let count = 0;",
        'const text = "</script>";',
    ],
)
def test_code_that_cannot_stand_in_one_file_is_refused(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other forms of JavaScript's modules, and the end of a script, are errors when the page is made."""
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    (tmp_path / "page.html").write_text('<head></head><script type="module" src="code.mjs"></script>')
    (tmp_path / "code.mjs").write_text(f"{code}\n")
    (tmp_path / "other.mjs").write_text("export const value = 1;\n")
    with pytest.raises(ValueError, match=r"code\.mjs has"):
        whole_page("page.html")


def test_modules_that_import_each_other_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module cannot stand before itself."""
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    (tmp_path / "page.html").write_text('<head></head><script type="module" src="a.mjs"></script>')
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.mjs").write_text(f'import {{ {other} }} from "./{other}.mjs";\n')
    with pytest.raises(ValueError, match="imports itself"):
        whole_page("page.html")


def test_the_command_writes_the_page_and_replaces_it(cli: Cli, surroundings: Path) -> None:
    """To a file, or to standard output."""
    for _ in range(2):
        assert cli("proof", "page", "-o", "verify.html").code == 0
    written = (surroundings / "verify.html").read_text(encoding="utf-8")
    assert written == whole_page("verify.html")
    assert cli("proof", "page").out == written


def test_the_command_replaces_no_other_file(cli: Cli, surroundings: Path) -> None:
    """A file that is not the page is left as it is."""
    (surroundings / "notes.html").write_text("<title>Notes</title>")
    assert cli("proof", "page", "-o", "notes.html").code == REFUSED
    assert (surroundings / "notes.html").read_text() == "<title>Notes</title>"
