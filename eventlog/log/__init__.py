"""The log as it is read: lines, days, one conversation by index, the whole of it; and `EventLog`, which appends to it.

Imported by: projections, app, cli.
"""
