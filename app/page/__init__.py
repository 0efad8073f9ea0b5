"""The page: what a log knows and knew, as plain data that a browser, a program or a test can read.

Imported by: cli.
"""
