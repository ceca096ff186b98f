"""Code that the command line and the servers share: settings, opening a store, times as text."""
