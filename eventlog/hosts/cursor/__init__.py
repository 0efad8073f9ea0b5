"""The room of Cursor."""
