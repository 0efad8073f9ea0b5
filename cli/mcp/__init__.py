"""The use cases as tools of the Model Context Protocol: pipes instead of argv.

Imported by: cli.
"""
