"""Measures lists alone: the differences between them, and keeping one in order as photos change.

photod-measure does it in one process, without a socket. Times are CPU time of its thread, which never waits.
"""

from report import at_most, digits, quantile, under

# The numbers of rounds by size. A smoke run makes fewer and smaller lists.
ROUNDS_OF_DETAILS = 15


def details(setting):
    """Measures the full form of a difference, beside a plain Heckel difference and that of Swift's standard library."""
    count = setting.options.assets // 10
    figures = setting.measure("details", count, 1 if setting.options.quick else ROUNDS_OF_DETAILS)
    setting.report.keep("details", figures)
    few = max(10, count // 100)
    for kind, what, other, limit in [
        ("edited", edited(count), "Heckel", 10), ("shuffled", f"{2 * count:,} shuffled", "Heckel", 60),
        ("few edited", edited(few), "difference(from:)", None),
        ("few shuffled", f"{few:,} shuffled", "difference(from:)", None),
    ]:
        ours, theirs = (quantile(figures[f"{kind}: {form}"], 0.5) for form in ["full", other])
        name = "a plain Heckel" if other == "Heckel" else "Swift's difference(from:)"
        setting.report.add(f"full details, {what}", ours, "ms", beside=(name, theirs),
                           targets=[at_most(ours, limit, "ms")] if limit else [])


def edited(count):
    return f"{count:,} with {count // 10:,} removed and {count // 10:,} inserted"


def observations(setting):
    """Measures the cost of one changed photo for each observed list, from after the commit to the encoded message.

    The distinct fetches have limits of 1,000 and more. The photo is among the newest 500.
    """
    sizes = sorted({setting.options.assets // part for part in [100, 10, 1]})
    catalogs = [setting.made_catalog(size) for size in sizes]
    figures = setting.measure("observations", setting.options.observations, *catalogs)
    setting.report.keep("observations", figures)
    least = quantile(figures[f"date, {sizes[0]}"], 0.5)
    for size in sizes:
        micros, note = microseconds(figures[f"date, {size}"])
        anew = quantile(figures[f"anew, {size}"], 0.5) * 1e3
        targets = []
        if size == sizes[-1]:
            targets = [under(micros, 200, "µs"), at_most(micros / (least * 1e3), 3, f"× that of {sizes[0]:,}")]
        setting.report.add(f"one photo's date changed, an observation of all {size:,}", micros, "µs", note,
                           beside=("fetched anew, full details", anew), targets=targets)
    micros, note = microseconds(figures[f"favorite, {sizes[-1]}"])
    setting.report.add(f"one favorite, an observation of all {sizes[-1]:,}", micros, "µs", note)
    one = quantile(figures["distinct, 1"], 0.5) * 1e3
    for count in [10, 100, 1_000]:
        micros, note = microseconds(figures[f"distinct, {count}"])
        setting.report.add(f"one photo's date changed, an observation, one of {count:,} distinct fetches",
                           micros, "µs", note, beside=("one fetch", one), targets=[under(micros, 200, "µs")])


def albums(setting):
    """Measures an album of many photos: placing them, and what one edit of it costs its observers.

    The photos are placed by calls of 1,000, each a durable commit, and the baseline writes the rows in as many.
    """
    count = setting.options.album
    catalog = setting.made_catalog(max(count, setting.options.assets // 10))
    figures = setting.measure("albums", count, setting.options.observations, catalog)
    setting.report.keep("albums", figures)
    seconds = figures["place"][0] / 1e3
    setting.report.add(f"{count:,} photos placed in one album", seconds, "s",
                       beside=("the rows alone in SQLite", figures["rows"][0] / 1e3), targets=[under(seconds, 2, "s")])
    memory = figures["place memory"][0]
    setting.report.add("memory that this takes at its peak", memory, "MB", targets=[under(memory, 64, "MB")])
    for what, name, target in [("its durable commit", "edit", None), ("an observation of it", "observe", 200),
                               ("its count and cover", "counts", None)]:
        micros, note = microseconds(figures[name])
        beside = ("the row alone in SQLite", quantile(figures["row"], 0.5) * 1e3) if name == "edit" else None
        setting.report.add(f"one photo moved in an album of {count:,}, {what}", micros, "µs", note, beside=beside,
                           targets=[under(micros, target, "µs")] if target else [])


def edits(setting):
    """Measures titles of many photos, and how long the library is busy while it undoes the largest changes.

    The photos are edited by calls of 1,000, each a durable commit. Each undo is one commit. The baselines write the rows
    in as many transactions.
    """
    count, members = setting.options.edits, setting.options.members
    catalog = setting.made_catalog(max(count, members, setting.options.assets // 10))
    figures = setting.measure("edits", count, members, catalog)
    setting.report.keep("edits", figures)
    for what, name, rows, target in [
        (f"{count:,} photos titled", "edit", "rows of edits", None),
        (f"{count:,} titles undone", "undo of edits", "rows of undone edits", 1),
        (f"{2 * count:,} places in an album of {members:,} undone", "undo of places", "rows of undone places", 1),
        (f"deletion of an album of {members:,} undone", "undo of a deletion", "rows of an undone deletion", 1),
    ]:
        seconds = figures[name][0] / 1e3
        setting.report.add(what, seconds, "s", beside=("the rows alone in SQLite", figures[rows][0] / 1e3),
                           targets=[under(seconds, target, "s")] if target else [])


def microseconds(milliseconds):
    return quantile(milliseconds, 0.5) * 1e3, f"p99 {digits(quantile(milliseconds, 0.99) * 1e3)}"
