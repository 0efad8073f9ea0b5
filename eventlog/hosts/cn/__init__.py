"""The room of Continue's command line: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
