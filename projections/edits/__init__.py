"""The edits of people in rendered files, interpreted as facts and retractions; pure.

Imported by: app/write.
"""
