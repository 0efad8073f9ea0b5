"""Known failures, each with its reason: `expected.json` beside this file, scenario -> host -> reason."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.realhosts.outcome import Outcome


class Expected:
    """What is known to fail."""

    FILE = Path(__file__).parent / "expected.json"

    def __init__(self, reasons: Mapping[str, Mapping[str, str]]) -> None:
        self._reasons = reasons

    @classmethod
    def read(cls) -> "Expected":
        """The list beside this file."""
        return cls(json.loads(cls.FILE.read_text(encoding="utf-8")))

    def reason(self, outcome: Outcome) -> str:
        """Why this host's scenario is known to fail; "" where it is to hold."""
        return self._reasons.get(outcome.scenario, {}).get(outcome.host, "")

    def is_regression(self, outcome: Outcome) -> bool:
        """Whether it fails and nobody knew."""
        return outcome.verdict == "fails" and not self.reason(outcome)

    def is_mended(self, outcome: Outcome) -> bool:
        """Whether it holds and was known to fail: its line can go."""
        return outcome.verdict == "ok" and bool(self.reason(outcome))
