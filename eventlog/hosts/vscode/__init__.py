"""The room of Visual Studio Code: its protocol and profile.

Imported by: eventlog/hosts.
"""
