"""What the distribution does without its extras, and that each missing extra is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mcp.support import Raw, call

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
OF_EXTRAS = (
    *("anyio", "bs4", "h11", "httpx2", "langchain_core", "langgraph", "lxml", "mammoth", "markdownify"),
    *("mcp", "mcp_types", "psycopg", "pydantic", "pypdf", "spacy", "starlette", "uvicorn", "watchfiles"),
)
"""The modules that an installation without extras does not have."""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PYTHONPATH that hides the packages of extras."""
    (tmp_path / "hidden").mkdir()
    hides = f"import sys\nsys.modules.update(dict.fromkeys({OF_EXTRAS!r}))\n"
    (tmp_path / "hidden" / "sitecustomize.py").write_text(hides, encoding="utf-8")
    return f"{tmp_path / 'hidden'}:{ROOT}"


def run(folder: Path, path: str, *words: str) -> tuple[int, str, str]:
    """Run Python in `folder` with this PYTHONPATH: exit code, stdout and stderr."""
    own = {"PYTHONPATH": path, "HOME": str(folder), "ENGINE_STORE": "sqlite:notes.db"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **own},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_base_stores_recalls_ingests_and_proves(tmp_path: Path, path: str) -> None:
    """Without extras, atoms are added, Markdown is ingested, questions are answered, and proofs verified."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tea.md").write_text(
        "# Tea\n\nThe kettle is descaled on Fridays.\n", encoding="utf-8"
    )
    for words in (
        ["add", "The garden gate sticks in the rain."],
        ["ingest", "pages"],
        ["recall", "when is the kettle descaled?"],
        ["verify-root"],
        ["prove", "no-term", "saxophone", "--out", "proof"],
        ["doctor"],
    ):
        code, out, err = run(tmp_path, path, "-m", "engine", *words)
        assert code == 0, err
        assert words[0] != "recall" or "Fridays" in out


def test_the_base_serves_mcp_over_stdio(tmp_path: Path, path: str) -> None:
    """Without extras, `engine mcp` answers the handshake and the calls of a client."""
    with Raw(f"sqlite:{tmp_path / 'notes.db'}", PYTHONPATH=path) as server:
        server.open()
        server.ask(call(2, "remember", content="The kettle is descaled on Fridays."))
        assert "Fridays" in json.dumps(server.ask(call(3, "recall", query="kettle")))


@pytest.mark.parametrize(
    ("words", "extra", "code"),
    [
        (["serve"], "service", 10),
        (["ui", "--no-browser"], "service", 10),
        (["watch", "."], "watch", 10),
        (["--store", "postgresql://user@host/db", "root"], "postgresql", 2),
    ],
)
def test_a_command_without_its_extra_names_the_command_that_installs_it(
    tmp_path: Path, path: str, words: Sequence[str], extra: str, code: int
) -> None:
    """The error states what to type; nothing is served or written."""
    done, out, err = run(tmp_path, path, "-m", "engine", *words)
    assert (done, out) == (code, ""), err
    assert f"pip install 'memroot[{extra}]'" in err
    assert not (tmp_path / "notes.db").exists()


@pytest.mark.parametrize(
    ("statement", "extra"),
    [
        ("import engine; engine.Engine.connect('http://127.0.0.1:1')", "remote"),
        ("import engine.frameworks.langgraph", "langgraph"),
        ("import engine.frameworks.langchain", "langchain"),
    ],
)
def test_an_error_of_the_library_names_the_command_that_installs_the_extra(
    tmp_path: Path, path: str, statement: str, extra: str
) -> None:
    """The hint of the error states what to type."""
    program = (
        "from engine.base.errors import EngineError\n"
        f"try:\n    {statement}\nexcept EngineError as error:\n    print(error.code, error.hint)"
    )
    assert run(tmp_path, path, "-c", program)[1] == f"system pip install 'memroot[{extra}]'\n"


def test_the_extra_all_contains_every_extra() -> None:
    """`memroot[all]` names all other extras."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (whole,) = extras.pop("all")
    assert set(whole.removeprefix("memroot[").removesuffix("]").split(",")) == set(extras)
