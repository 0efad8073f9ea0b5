"""The room of GitHub Copilot."""
