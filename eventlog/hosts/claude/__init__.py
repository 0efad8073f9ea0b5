"""The room of Claude Code."""
