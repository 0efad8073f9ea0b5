"""The room of Qwen Code: its protocol, profile, and where it keeps the past.

Imported by: eventlog/hosts.
"""
