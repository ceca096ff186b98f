"""memroot: an embedded, verifiable memory with one journal and one root. Begin with `Engine.open(url)`.

The file `__init__.pyi` lists all public names. Each name is loaded when it is first used, so that a program
that only adds an atom does not load the code for reading Markdown or for searching.
"""

from engine.base.lazy_names import load_on_use, names_of_stub

__getattr__, __dir__ = load_on_use(globals(), lambda: names_of_stub(__file__))
