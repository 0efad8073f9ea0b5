"""Search by words: how a text becomes tokens, what of the log can be found, how hits are ranked; pure.

What a prompt waits for is here, too: standard library only, and as little of it as possible.

Imported by: projections, app, cli.
"""
