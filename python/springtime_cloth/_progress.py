"""A bar for long work on standard error, or a line for each stage where that is no terminal."""

from __future__ import annotations

import sys
import time


class Bar:
    """Shows how far a function is: learn(motion, progress=Bar())."""

    WIDTH = 30

    def __init__(self) -> None:
        self.stage = ""
        self.begin = time.monotonic()
        self.live = sys.stderr.isatty()

    def __call__(self, stage: str, done: float, total: float, unit: str, note: str) -> None:
        if stage != self.stage:
            self.finish()
            self.stage, self.begin = stage, time.monotonic()
            if not self.live:
                print(stage, file=sys.stderr, flush=True)
        if not self.live:
            return
        share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
        bar = "#" * round(self.WIDTH * share)
        count = f"{done:g}/{total:g} {unit}" if unit else ""
        seconds = time.monotonic() - self.begin
        line = f"{stage}: {share:4.0%}|{bar:<{self.WIDTH}}| {count} [{seconds:.0f} s] {note}"
        print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self.live and self.stage:
            print(file=sys.stderr, flush=True)
