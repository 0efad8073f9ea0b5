"""The room of Visual Studio Code: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
