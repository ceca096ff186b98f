"""Which memory is opened, with which settings, by whom and for how long; and named memories in one place."""
