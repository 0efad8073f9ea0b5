"""Search: an index beside the log that is kept current by whoever asks, and what is asked of it.

Imported by: app, cli.
"""
