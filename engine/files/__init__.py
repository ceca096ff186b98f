"""Files: reading them into the memory, watching folders, and the mirror that people edit."""
