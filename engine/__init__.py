"""memroot: an embedded, verifiable memory. One journal, one root; `Engine.open(url)` to begin.

The public names are those of `__init__.pyi`, and of no other place. Each is imported when it is first
used: reading Markdown or searching loads what a program that only adds an atom should not wait for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
