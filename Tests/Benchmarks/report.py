"""The lines of a report with their baselines and targets, and the table of them."""

import json
import statistics


class Report:
    """The results. Every line has a figure of photod. Most have a named baseline beside it, and some have targets."""

    def __init__(self):
        self.lines = []
        self.figures = {}

    def add(self, what, value, unit, note="", beside=None, targets=()):
        """`value` is photod's, `beside` is (name, value in the same unit), `targets` are of `at_most` and `under`."""
        line = {"what": what, "value": value, "unit": unit, "note": note,
                "targets": [{"target": text, "met": is_met} for text, is_met in targets]}
        if beside:
            line["baseline"], line["baselineValue"] = beside
        self.lines.append(line)

    def keep(self, name, rounds):
        """Keeps every single figure, for --json."""
        self.figures[name] = rounds

    def missed(self):
        return [line for line in self.lines if not all(target["met"] for target in line["targets"])]

    def markdown(self):
        rows = [["what", "photod", "beside it", "ratio", "target"]]
        for line in self.lines:
            rows.append([line["what"], ours(line), theirs(line), ratio(line), verdicts(line)])
        return table(rows)

    def json(self, machine):
        return json.dumps({"machine": machine, "lines": self.lines, "figures": self.figures}, indent=1) + "\n"


def table(rows):
    """Returns a Markdown table, whose first row is the heading."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows)


def under(value, limit, unit, share=""):
    """A target in words, and whether it is met."""
    return f"{share}under {limit:g} {unit}", value < limit


def at_most(value, limit, unit):
    return f"at most {limit:g} {unit}", value <= limit


def at_least(value, limit, text):
    """`text` names the limit, which depends on the baseline."""
    return f"at least {text}", value >= limit


def counted(number, noun):
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"


def ours(line):
    text = shown(line["value"], line["unit"])
    return f"{text}, {line['note']}" if line["note"] else text


def theirs(line):
    return f"{shown(line['baselineValue'], line['unit'])}, {line['baseline']}" if "baseline" in line else ""


def ratio(line):
    if "baseline" not in line or line["baselineValue"] <= 0:
        return ""
    return digits(line["value"] / line["baselineValue"])


def verdicts(line):
    return "; ".join(f"{target['target']}: {'met' if target['met'] else '**MISSED**'}" for target in line["targets"])


def is_rate(unit):
    """Whether a larger value is better."""
    return unit.endswith("/s")


def shown(value, unit):
    return f"{value:,.0f} {unit}" if unit in ["files/s", "bytes"] else f"{digits(value)} {unit}"


def digits(value):
    """Formats at most three digits. A median of few rounds has no more precision."""
    for least, decimals in [(100, 0), (10, 1), (0.1, 2), (0.001, 4)]:
        if value >= least:
            return f"{value:,.{decimals}f}"
    return f"{value:.1g}"


def middle(rounds, figure):
    return statistics.median(values[figure] for values in rounds)


def quantile(values, share):
    """Returns the smallest value that at least this share does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]
