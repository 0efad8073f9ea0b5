"""Every error this library raises on purpose, in one small tree."""


class EventLogError(Exception):
    """Base of all: what happened, where, and what to do about it.

    `what` is one sentence without a full stop, `where` a file, line or field, `hint` an instruction.
    The library raises; only the command line prints and chooses an exit code.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what = what
        self.where = where
        self.hint = hint


class InvalidEvent(EventLogError):
    """An event breaks the format of the log; the field and the reason are named."""


class NotStored(EventLogError):
    """A write that was not acknowledged: the disk is full, read-only or not ours, or a sync failed.

    `lost` is the event with its id and time, where it may be on disk all the same.
    """

    lost: "dict[str, object] | None" = None


class Busy(NotStored):
    """Someone holds a lock and does not let go of it."""


class BadRequest(EventLogError):
    """The caller asked for something that does not exist or makes no sense."""


class BadSettings(EventLogError):
    """`config.yaml` holds an unknown key or a wrong type."""
