"""Steps of past conversations: read from transcripts and from the log, summarised, reduced to their searchable text.

Pure but for the files it reads. Rooms of hosts import `steps`; use cases import all; no hook does.

Imported by: eventlog/hosts, app.
"""
