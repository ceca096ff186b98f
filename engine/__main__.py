"""`python -m engine`: the command line, for use if the `engine` script is not on the path."""

import sys

from engine.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
