"""The file a host wrote last: a resumed conversation goes on in its file, a new one starts another."""

from eventlog.fast.lean import os


def newest_file(directory: str) -> str:
    """Find the `.jsonl` file of a directory that was written last; "" where there is none."""
    try:
        with os.scandir(directory) as entries:
            files = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:
        return ""
    return max(files, default=(0, ""))[1]
