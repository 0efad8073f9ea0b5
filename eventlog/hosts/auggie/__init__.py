"""The room of Auggie: its protocol and profile.

Imported by: eventlog/hosts.
"""
