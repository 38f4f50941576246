"""Measures a restart: without changes, and with photos added and deleted while photod was down."""

import itertools
import random
import time

import disk
from client import Replica
from report import at_most, middle
from setting import find

# The rounds of all runs of the section, so that no two of them add the same photos.
NUMBERS = itertools.count()


def unchanged(setting):
    scan_once(setting)

    def restart():
        with setting.photod() as photod:
            seconds = photod.seconds_to_live(setting.count)
            return {"seconds": seconds, "cpu": sum(photod.cpu_seconds().values())}

    looks, restarts = setting.interleave(
        "restart", setting.options.rounds, lambda: find(setting.photos), restart)
    add(setting, f"restart over {setting.count:,}, nothing changed", looks, restarts)


def changed(setting):
    """Adds and deletes `options.changes` photos anywhere in the library. A client resumes with the list that it has."""
    scan_once(setting)
    choice = random.Random(7)

    def restart():
        number = next(NUMBERS)
        with setting.photod() as photod:
            photod.seconds_to_live(setting.count)
            with photod.connect() as connection:
                before = Replica(connection)
                before.verify()
        files = [path for path in setting.photos.rglob("*") if path.is_file()]
        for path in choice.sample(files, setting.options.changes):
            path.unlink()
        folders = [path.parent for path in choice.sample(files, setting.options.changes)]
        for folder, (name, content) in zip(folders, setting.spares):
            # Each round has its own photos: if the content of a deleted photo came again, it would get its id again.
            disk.write(folder / f"{number}-{name}", content + f"round {number}".encode())
        with setting.photod() as photod:
            with photod.connect() as connection:
                replica = Replica(connection, since=before.token, ids=before.ids)
                wanted = setting.options.changes
                stamp = replica.until(lambda: len(replica.inserted) >= wanted and len(replica.deleted) >= wanted)
                live = photod.seconds_to_live(setting.count)
                replica.verify()
                if (len(replica.inserted), len(replica.deleted)) != (wanted, wanted):
                    raise RuntimeError(f"the client saw +{len(replica.inserted)} -{len(replica.deleted)}")
                return {"seconds": max(live, (stamp - photod.started) / 1e9), "client": (stamp - photod.started) / 1e9,
                        "messages": replica.messages}

    looks, restarts = setting.interleave(
        "restart, changed", setting.options.rounds, lambda: find(setting.photos), restart)
    count = setting.options.changes
    add(setting, f"restart over {setting.count:,}, {count} added and {count} deleted while down, seen by a client",
        looks, restarts)


def scan_once(setting):
    setting.remove_catalog()
    with setting.photod() as photod:
        photod.seconds_to_live(setting.count)
        time.sleep(setting.settle_seconds)


def add(setting, what, looks, restarts):
    ours, theirs = middle(restarts, "seconds"), middle(looks, "seconds")
    setting.report.keep(what, {"photod": restarts, "find": looks})
    setting.report.add(
        what, ours * 1e3, "ms", beside=("find -printf", theirs * 1e3),
        targets=[at_most(ours * 1e3, round(theirs * 2e3 + 100), "ms (2 × find + 100)")])
