"""Start the server from a host: `python -I -S …/cli/mcp/start.py --agent NAME`; see `eventlog/hook.py`."""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__[: -len("/eventlog/cli/mcp/start.py")])
    try:
        from eventlog.fast import modules

        modules.install()
        from eventlog.cli.mcp.server import main

        sys.exit(0 if main(sys.argv[1:]) else 2)
    except KeyboardInterrupt:  # before it serves, or after
        sys.exit(0)
