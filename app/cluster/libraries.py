"""The libraries of the extra `cluster`, imported when they are needed."""

from importlib import import_module
from typing import Any

from eventlog.format.errors import BadRequest


def library(name: str) -> Any:
    """Import a module of the extra; raises BadRequest where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        hint = "pip install 'agent-eventlog[cluster]'"
        raise BadRequest(f"{name} is needed for this, and not installed", hint=hint) from error
