"""Adapters for agent frameworks, one module for each (docs/frameworks.md).

No other part of the engine imports this folder, and `import engine` loads no module in it.
"""
