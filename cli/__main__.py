"""`python -m eventlog.cli`."""

from eventlog.cli.main import main

main()
