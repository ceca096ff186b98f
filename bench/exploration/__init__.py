"""What exploring finds for its tokens, beside whole atoms: `python -m bench.exploration`."""
