"""The room of Kilo: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
