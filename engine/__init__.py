"""memroot: an embedded, verifiable memory with one journal and one root. Begin with `Engine.open(url)`.

The file `__init__.pyi` lists all public names. Each name is loaded when it is first used, so that a program
that only adds an atom does not wait for the code that reads Markdown or searches.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
