"""The MCP server: the memory for agents, over the Model Context Protocol."""
