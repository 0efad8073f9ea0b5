"""The room of Gemini CLI."""
