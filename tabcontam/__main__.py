"""The entry point of `python -m tabcontam`."""

from tabcontam.cli.commands import main

raise SystemExit(main())
