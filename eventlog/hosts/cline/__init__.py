"""The room of Cline."""
