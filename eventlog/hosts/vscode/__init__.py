"""The room of Visual Studio Code."""
