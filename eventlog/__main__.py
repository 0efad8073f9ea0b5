"""`python -m eventlog`."""

from eventlog.cli.main import main

main()
