"""The configuration files of MCP clients, and functions that add the server to these files."""
