"""Which modules load a framework, and that nothing else loads the adapters."""

import subprocess
import sys


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
