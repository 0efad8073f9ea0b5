"""The room of GitHub Copilot: its protocol, profile, the hook that permits saving, and where it keeps the past.

Imported by: eventlog/hosts.
"""
