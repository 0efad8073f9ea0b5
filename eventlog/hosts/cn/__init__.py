"""The room of Continue's command line."""
