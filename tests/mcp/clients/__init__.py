"""Tests of the configuration files of MCP clients."""
