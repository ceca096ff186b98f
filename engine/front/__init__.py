"""What the command line and the servers share: the settings, opening a store, times as text."""
