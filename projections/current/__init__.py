"""The state that holds now: conversations, facts, conclusions and knowledge after every withdrawal; pure.

Imported by: projections, app, cli.
"""
