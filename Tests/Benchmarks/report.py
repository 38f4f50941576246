"""Lines with their baselines and targets, and the table of them."""

import json
import statistics


class Report:
    """What was measured. Every line has a figure of photod's; most a named baseline beside it, some a target."""

    def __init__(self):
        self.lines = []
        self.figures = {}

    def add(self, what, value, unit, note="", beside=None, target=None, is_met=None):
        """`beside` is (name, value in the same unit). `target` in words, `is_met` whether it holds."""
        line = {"what": what, "value": value, "unit": unit, "note": note, "target": target, "met": is_met}
        if beside:
            line["baseline"], line["baselineValue"] = beside
        self.lines.append(line)

    def below(self, what, value, unit, limit, **more):
        """A line whose value must stay under a number."""
        self.add(what, value, unit, target=f"under {limit:g} {unit}", is_met=value < limit, **more)

    def keep(self, name, rounds):
        """Every single figure, for --json."""
        self.figures[name] = rounds

    def missed(self):
        return [line for line in self.lines if line["met"] is False]

    def markdown(self):
        rows = [["what", "photod", "beside it", "ratio", "target"]]
        for line in self.lines:
            rows.append([line["what"], ours(line), theirs(line), ratio(line), verdict(line)])
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        rows.insert(1, ["-" * width for width in widths])
        return "\n".join(
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows)

    def json(self, machine):
        return json.dumps({"machine": machine, "lines": self.lines, "figures": self.figures}, indent=1) + "\n"


def ours(line):
    text = shown(line["value"], line["unit"])
    return f"{text}, {line['note']}" if line["note"] else text


def theirs(line):
    return f"{shown(line['baselineValue'], line['unit'])}, {line['baseline']}" if "baseline" in line else ""


def ratio(line):
    if "baseline" not in line or line["baselineValue"] <= 0:
        return ""
    value = line["value"] / line["baselineValue"]
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def verdict(line):
    if line["target"] is None:
        return ""
    return f"{line['target']}: {'met' if line['met'] else '**MISSED**'}"


def shown(value, unit):
    """Three digits are all that a median of few rounds can say."""
    if unit in ["messages", "files/s", "bytes"] or value >= 100:
        return f"{value:,.0f} {unit}"
    return f"{value:.1f} {unit}" if value >= 10 else f"{value:.2f} {unit}" if value >= 0.1 else f"{value:.3f} {unit}"


def middle(rounds, figure):
    return statistics.median(values[figure] for values in rounds)


def quantile(values, share):
    """The smallest value that at least this share does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]
