"""Tests that workflows, CITATION.cff and the pages for contributors agree with the project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.base import __version__

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[Any, Any]:
    """Return the mapping in a YAML file."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_named_by_commit(workflow: Path) -> None:
    """Workflows refer to each action by its commit, because a tag can be moved to other code."""
    steps = [step for job in read(workflow)["jobs"].values() for step in job.get("steps", [])]
    used = [step["uses"] for step in steps if "uses" in step]
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_has_only_the_permissions_that_it_names(workflow: Path) -> None:
    """A workflow grants no permissions; each job states the permissions that it needs, and a timeout."""
    found = read(workflow)
    assert found["permissions"] == {}
    assert [name for name, job in found["jobs"].items() if "permissions" not in job] == []
    timeless = [name for name, job in found["jobs"].items() if not {"timeout-minutes", "uses"} & set(job)]
    assert timeless == []


def test_the_workflow_tests_every_python_that_is_named() -> None:
    """The classifiers name exactly the versions of Python that are tested."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "classifiers"
    ]
    named = [text.rpartition(" ")[2] for text in classifiers if re.search(r":: Python :: 3\.\d+$", text)]
    jobs = read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named


def test_the_citation_names_this_version() -> None:
    """CITATION.cff has the version of the package."""
    assert str(read(ROOT / "CITATION.cff")["version"]) == __version__


def test_every_target_that_is_named_is_in_the_makefile() -> None:
    """`make X` in a workflow or on a page for contributors is a target."""
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "maintaining.md", *WORKFLOWS]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = re.findall(r"(?:`|\$ |run: )make ([a-z]+)", text)
    assert {"test", "docs", "package"} <= set(named)
    assert [name for name in named if name not in targets] == []
