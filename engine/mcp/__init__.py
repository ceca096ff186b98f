"""The memory served to agents by the Model Context Protocol."""
