"""Each adapter in an environment with its framework: the tests of `inside`, and the examples of the page."""

import re
from pathlib import Path

import pytest

from tests.frameworks.environments import ROOT, TOOLS, run
from tests.support.pages import Block, blocks, environment_of

pytestmark = pytest.mark.frameworks

INSIDE = ROOT / "tests" / "frameworks" / "inside"
EXAMPLES = [block for block in blocks("python") if environment_of(block)]


@pytest.mark.parametrize("extra", TOOLS)
def test_the_adapter_behaves_as_its_framework_asks(extra: str, tmp_path: Path) -> None:
    """The tests inside the environment pass, and there are some."""
    tests = INSIDE / f"{extra.replace('-', '_')}_inside.py"
    code, printed = run(extra, tmp_path, "-m", "pytest", *_ALONE, *_MODES.get(extra, ()), str(tests))
    assert code == 0, printed
    assert re.search(r"\d+ passed", printed), printed


_ALONE = ("-q", "--noconftest", "-c", "/dev/null", f"--rootdir={ROOT}", "-p", "no:cacheprovider")
"""Options without the settings of this project's own tests, whose tools are not installed there."""
_MODES = {"langchain": ("-o", "asyncio_mode=auto")}
"""What the framework's own conformance tests ask of pytest."""


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.name)
def test_every_example_for_a_framework_prints_what_the_page_says(block: Block, tmp_path: Path) -> None:
    """An example runs in the environment that the comment before it names."""
    program = tmp_path / "example.py"
    program.write_text(block.text, encoding="utf-8")
    code, printed = run(environment_of(block), tmp_path, str(program))
    assert code == 0, printed
    assert block.output is None or printed == block.output


def test_every_framework_has_an_example() -> None:
    """The page shows each adapter once or more."""
    assert {environment_of(block) for block in EXAMPLES} == set(TOOLS)
