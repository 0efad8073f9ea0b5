"""The room of Codex: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
