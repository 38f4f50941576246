"""Compares two sets of programs in pairs of runs: the ratio of each line, newer to older, and the table of them."""

import json
import math
import statistics
import subprocess

from report import Report, shown, digits, is_rate, table
from setting import say

# A line whose median of ratios is above this is marked.
LIMIT = 1.05
# What a section raises if a program has no such option, or photod no such method or field.
UNABLE = (RuntimeError, OSError, KeyError, subprocess.CalledProcessError)


def compare(setting, older, sections):
    """Runs each section on both sets of programs, in the order older, newer, newer, older, and so on.

    A busy machine is then busy for both. `older` is the setting of the older programs. A section that these cannot run is
    skipped with the reason. If the newer programs cannot run it, that is an error.
    """
    comparison = Comparison()
    for name, measure in sections.items():
        for number in range(setting.options.pairs):
            say(f"{name}: pair {number + 1} of {setting.options.pairs}")
            reports = {}
            try:
                for one in [older, setting] if number % 2 == 0 else [setting, older]:
                    reports[one] = run(measure, one)
            except UNABLE as error:
                if one is setting:
                    raise
                comparison.skip(name, f"the older programs cannot run it ({type(error).__name__}: {error})")
                older.forget_photos()
                break
            comparison.add(reports[older], reports[setting])
    return comparison


def run(measure, setting):
    setting.report = Report()
    measure(setting)
    return setting.report


class Comparison:
    """The values of each line in pairs, by the line's text and unit, and what was skipped with the reason."""

    def __init__(self):
        self.pairs = {}
        self.skipped = {}

    def add(self, older, newer):
        """Adds one pair of reports of a section. A line may be there for several baselines, with the same value."""
        before, after = ({(line["what"], line["unit"]): line["value"] for line in report.lines}
                         for report in [older, newer])
        for key, value in after.items():
            if key in before:
                self.pairs.setdefault(key, []).append((before[key], value))
            else:
                self.skip(key[0], "the older programs have no such line")

    def skip(self, name, reason):
        self.skipped[name] = reason

    def missed(self):
        return [key for key in self.pairs if self.median(key) > LIMIT]

    def median(self, key):
        return statistics.median(self.ratios(key))

    def ratios(self, key):
        return [times_worse(older, newer, key[1]) for older, newer in self.pairs[key]]

    def markdown(self):
        rows = [["what", "older", "newer", "ratio of the pairs", f"over {LIMIT}"]]
        for key in self.pairs:
            older, newer = (shown(statistics.median(values), key[1]) for values in zip(*self.pairs[key]))
            ratios = self.ratios(key)
            rows.append([key[0], older, newer,
                         f"{digits(self.median(key))} ({digits(min(ratios))} to {digits(max(ratios))})",
                         "**WORSE**" if self.median(key) > LIMIT else ""])
        reasons = [f"skipped: {name}: {reason}" for name, reason in self.skipped.items()]
        return "\n".join([table(rows), *reasons])

    def json(self, machine):
        lines = [{"what": what, "unit": unit, "pairs": self.pairs[what, unit],
                  "ratio": finite(self.median((what, unit))), "worse": self.median((what, unit)) > LIMIT}
                 for what, unit in self.pairs]
        return json.dumps({"machine": machine, "lines": lines, "skipped": self.skipped}, indent=1) + "\n"


def times_worse(older, newer, unit):
    """Returns how many times the older figure the newer one is. A rate is better if it is larger, so it counts inverted."""
    if is_rate(unit):
        older, newer = newer, older
    if older == 0:
        return 1.0 if newer == 0 else math.inf
    return newer / older


def finite(value):
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
