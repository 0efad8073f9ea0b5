"""The room of Factory's droid."""
