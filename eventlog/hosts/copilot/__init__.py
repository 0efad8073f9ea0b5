"""The room of GitHub Copilot: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
