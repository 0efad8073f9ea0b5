"""The room of Auggie: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
