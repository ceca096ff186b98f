"""The cost of importing the index."""

import subprocess
import sys


def test_importing_the_index_loads_no_numbers_library() -> None:
    """Importing the index does not load the slow packages numpy and pyroaring."""
    program = (
        "import sys, engine.index.index_follower, engine.query.recall.recall_config, engine.text.analyzer;"
        "print(sorted({'numpy', 'pyroaring'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"
