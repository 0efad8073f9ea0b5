"""The room of Auggie."""
