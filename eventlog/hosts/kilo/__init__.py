"""The room of Kilo."""
