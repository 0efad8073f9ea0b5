"""Knowledge bases: sections, the ledger of what each should hold, drift, and the edits that plan entries make; pure.

Imported by: projections, app, cli.
"""
