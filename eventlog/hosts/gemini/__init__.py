"""The room of Gemini CLI: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
