"""The configuration files of MCP clients, and how the server is entered in them."""
