"""The room of Kilo: its protocol and profile.

Imported by: eventlog/hosts.
"""
