"""Benchmark of what agents receive over MCP, compared with whole texts: `python -m bench.agents`."""
