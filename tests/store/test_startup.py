"""What importing the index costs."""

import subprocess
import sys


def test_importing_the_index_loads_no_numbers_library() -> None:
    """The packages numpy and pyroaring are slow to import and wait for their first use."""
    program = (
        "import sys, engine.followers.index, engine.query.recall.signals.bm25, engine.text.analyzer;"
        "print(sorted({'numpy', 'pyroaring'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"
