"""Views of the log: every file of the knowledge directory is one projection of it, rebuilt by replay.

`ALL` is imported when first asked for: a session that starts needs a few views, and waits for what they import.

Imported by: projections, app, cli.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.projections.catalog import ALL

__all__ = ["ALL"]


def __getattr__(name: str) -> object:
    """Load `ALL`; raises AttributeError for any other name."""
    if name != "ALL":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from eventlog.projections.catalog import ALL

    return ALL
