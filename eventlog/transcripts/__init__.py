"""Hosts' own records of conversations, read for what was done; one file per format, never on a hook's path."""
