"""How results are shown on a terminal: tables, colours, times, wrapped Markdown.

Imported by: cli.
"""
