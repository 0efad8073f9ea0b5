"""The room of Cursor: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
