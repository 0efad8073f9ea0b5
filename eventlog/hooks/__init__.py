"""The hooks: a host's JSON becomes an event, and the host gets an answer.

Everything here runs inside an agent's hook: standard library only, as little of it as possible, and nothing raised.

Imported by: eventlog/hosts, app, cli.
"""
