"""The room of opencode."""
