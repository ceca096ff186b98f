"""The command line `engine`: one file for each group of commands, without logic of the memory itself."""
