"""Benchmark of what agents pay over MCP, compared with whole texts: `python -m bench.agents`."""
