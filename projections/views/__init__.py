"""The rendered files of knowledge, one view in a module: sessions, summaries, memories, days, index, statistics; pure.

Imported by: projections, app, cli.
"""
