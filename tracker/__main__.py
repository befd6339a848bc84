"""`python -m tracker` is `tracker`."""

import sys

from tracker.cli import main

sys.exit(main())
