"""The room of Codex."""
