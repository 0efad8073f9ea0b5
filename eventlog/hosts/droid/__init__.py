"""The room of Factory's droid: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
