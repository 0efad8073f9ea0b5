"""The room of OpenCode: its protocol and profile.

Imported by: eventlog/hosts.
"""
