"""The room of Qwen Code."""
