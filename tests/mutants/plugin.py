"""A plugin of pytest that replaces a module by the mutant that MEMROOT_MUTANT names."""

import os

from tests.mutants.sites import install

if named := os.environ.get("MEMROOT_MUTANT"):
    module, _, number = named.partition(":")
    install(module, int(number))
