"""Where the suite keeps what it downloads, builds and runs: below the user's cache, nothing in the checkout.

Not below the temporary directory: there Codex's and Copilot's sandboxes let commands write and read, which hides
what they refuse elsewhere.
"""

import hashlib
import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def cache() -> Path:
    """The directory shared by all checkouts."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "eventlog-realhosts"


def own() -> Path:
    """The directory of this checkout."""
    return cache() / f"checkout-{short(str(CHECKOUT))}"


def short(text: str) -> str:
    """A few characters that stand for a text in a file name."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]
