"""Coding agents: what their hooks send, turned into events; one file per host.

Everything here runs inside an agent's hook: standard library only, as little of it as possible, and nothing raised.
"""
