"""The hook that lets Copilot's agent save unasked: `python -I -S …/permit.py PROGRAM STORE`, at `permissionRequest`.

It is registered with the person's consent, and called where Copilot is about to ask. It allows a line of nothing but
saving commands, and our tools except `forget`; it ignores everything else: Copilot asks as without it.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_SHELL = "bash"


def main(program: str, store: str) -> "NoReturn":
    """Answer one request, and always exit with 0."""
    from eventlog.hooks import deadline

    try:
        deadline.start()
        deadline.set_stage(deadline.LAST)
        os.write(1, answer(b"".join(iter(lambda: os.read(0, 1 << 20), b"")), program, store))
    except BaseException:  # noqa: BLE001, S110 - nobody is left to tell: stderr is the host's
        pass
    finally:
        os._exit(0)


def answer(request: bytes, program: str, store: str) -> bytes:
    """Allow a call of the shell that only saves, and of our tools that destroy nothing; b"" for everything else."""
    from eventlog.fast import fastjson
    from eventlog.hosts.save_commands import TOOLS, only_saves

    call = fastjson.object_in(request)
    tool, arguments = call.get("toolName"), call.get("toolInput")
    line = arguments.get("command") if isinstance(arguments, dict) and tool == _SHELL else None
    is_own = tool in [f"eventlog/{name}" for name in TOOLS]
    if not is_own and not (isinstance(line, str) and only_saves(line, program, store)):
        return b""
    return fastjson.dumps({"behavior": "allow"})


if __name__ == "__main__":
    sys.path.insert(0, os.path.abspath(f"{__file__}/../../../.."))
    main(*sys.argv[1:3])
