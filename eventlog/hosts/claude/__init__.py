"""The room of Claude Code: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
