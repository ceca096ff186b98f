"""What happens without the package of a framework, and that nothing else loads the adapters."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys
sys.modules[{package!r}] = None
from engine import SystemFailureError
try:
    import engine.frameworks.{module}
except SystemFailureError as error:
    print(error, "|", error.hint)
"""


@pytest.mark.parametrize(
    ("module", "package", "named", "extra"),
    [
        ("langgraph", "langgraph", "langgraph-checkpoint", "langgraph"),
        ("langchain", "langchain_core", "langchain-core", "langchain"),
    ],
)
def test_the_error_for_a_missing_package_names_the_extra(
    module: str, package: str, named: str, extra: str
) -> None:
    """Importing an adapter without its framework says what to install."""
    program = BLOCKED.format(package=package, module=module)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"needs the package {named}" in done.stdout
    assert f"pip install 'memroot[{extra}]'" in done.stdout


def test_the_session_needs_no_package() -> None:
    """The session of the Agents SDK is a protocol: its module imports no framework."""
    program = "import sys, engine.frameworks.openai_agents; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "engine.frameworks.framework_values" in loaded
    assert loaded.isdisjoint({"agents", "openai", "langgraph", "langchain_core"})


def test_an_open_memory_loads_no_adapter() -> None:
    """A program without a framework does not pay for the adapters."""
    program = (
        "import sys, engine\nwith engine.Engine.open('memory:') as memory:\n    memory.add('tea')\n"
        "    memory.recall('tea')\nprint(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith("engine.frameworks")] == []
