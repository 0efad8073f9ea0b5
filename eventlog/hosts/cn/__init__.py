"""The room of Continue's command line: its protocol and profile.

Imported by: eventlog/hosts.
"""
