"""`python -m tabcontam`."""

from tabcontam.cli import main

raise SystemExit(main())
