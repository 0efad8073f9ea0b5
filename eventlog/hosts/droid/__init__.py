"""The room of Factory's droid: its protocol and profile.

Imported by: eventlog/hosts.
"""
