"""Hooks: record a host's JSON as an event, and answer the host.

Runs inside an agent's hook: standard library only, as little of it as possible, and nothing raised.

Imported by: eventlog/hosts, app, cli.
"""
