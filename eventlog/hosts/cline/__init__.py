"""The room of Cline: where it keeps the past.

Imported by: eventlog/hosts.
"""
