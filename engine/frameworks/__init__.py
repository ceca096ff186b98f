"""Adapters for agent frameworks, one module for each (docs/frameworks.md).

The memory does not know them: no other part of the engine imports this folder, and `import engine` loads
none of it.
"""
