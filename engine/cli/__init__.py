"""The command line `engine`: one module for each group of commands. The logic of the memory is elsewhere."""
