"""Measures one new photo, one renamed photo, and a burst of photos, from the system call until a client knows."""

import random
import time

import disk
from client import History, Replica
from report import at_most, counted, digits, middle, quantile, under


def single(setting):
    """Measures close(2) and rename(2) of one photo, to a client of the history and to one that observes every photo.

    One thread closes or renames, then sleeps in recv(2) until the event is there.
    """
    number = setting.options.photos
    folder = setting.photos / "new"
    folder.mkdir()
    results = {}
    with setting.new_library() as photod:
        with photod.connect() as connection:
            history = History(connection)
            before = photod.cpu_seconds()
            results["written", "history"] = written(setting, folder, number, history_ids(history, "insertedAssets"))
            after = photod.cpu_seconds()
            used = {name: (after[name] - before[name]) * 1e3 / number for name in after}
            results["renamed", "history"] = renamed(setting, folder, number, history_ids(history, "updatedAssets"))
        empty(setting, photod, folder)
        with photod.connect() as connection:
            replica = Replica(connection)
            results["written", "Observe"] = written(setting, folder, number, replica_ids(replica, "inserted"))
            results["renamed", "Observe"] = renamed(setting, folder, number, replica_ids(replica, "changed"))
            replica.verify()
        empty(setting, photod, folder)
    with disk.Inotify(folder, disk.CLOSE_WRITE) as inotify:
        results["written", "inotify"] = written(setting, folder, number, lambda: ([0], inotify.until(1)))
    with disk.Inotify(folder, disk.MOVED_TO) as inotify:
        results["renamed", "inotify"] = renamed(setting, folder, number, lambda: ([0], inotify.until(1)))
    disk.remove_folder(folder)

    setting.report.keep("one photo", {" ".join(key): values for key, values in results.items()})
    total = sum(used.values())
    # The programs together needed 2.2 ms in the first version that was measured. The target is half of that.
    setting.report.add(
        "CPU of one new photo, with a client of the history", total, "ms",
        note=f"of them photod-watch {digits(used['photod-watch'])}, photod-extract {digits(used['photod-extract'])}",
        targets=[at_most(total, 1.1, "ms")])
    for what, call in [("written", "close(2)"), ("renamed", "rename(2)")]:
        baseline = results[what, "inotify"]
        for client, name in [("history", "the history's event"), ("Observe", f"an observer of all {setting.count:,}")]:
            values = results[what, client]
            half, most = quantile(values, 0.5), quantile(values, 0.99)
            setting.report.add(
                f"{call} to {name}, p50", half, "ms", note=f"p99 {digits(most)}",
                beside=("inotify alone", quantile(baseline, 0.5)),
                targets=[under(half, 3, "ms", "p50 "), under(most, 15, "ms", "p99 ")])


def written(setting, folder, number, known):
    """Returns the milliseconds for each of `number` new files.

    `known` waits for the client's message. It returns the ids in that message and the time when it came.
    """
    contents = [content for _, content in setting.spares]
    return latencies(
        number, known, lambda i: disk.write(folder / f"{i}.jpg", contents[i % len(contents)]))


def renamed(setting, folder, number, known):
    return latencies(number, known, lambda i: disk.rename(folder / f"{i}.jpg", folder / f"{i}-renamed.jpg"))


def latencies(number, known, change):
    pauses = random.Random(7)
    values = []
    for i in range(number):
        # The pause must not be in step with any timer of photod.
        time.sleep(pauses.uniform(0.002, 0.012))
        began = change(i)
        ids, stamp = known()
        values.append((stamp - began) / 1e6)
        if len(ids) != 1:
            raise RuntimeError(f"one photo was changed, and the client got {len(ids)}: {ids}")
    return values


def history_ids(history, kind):
    def known():
        stamp, changes = history.next()
        return [number for change in changes for number in change[kind]], stamp

    return known


def replica_ids(replica, kind):
    def known():
        replica.forget()
        stamp, _ = replica.next()
        return getattr(replica, kind), stamp

    return known


def empty(setting, photod, folder):
    """Removes the files in the folder and waits until photod knows."""
    for path in folder.iterdir():
        path.unlink()
    photod.synchronize()


def burst(setting):
    """Measures photos copied in a tight loop by another process: from its last close(2) to an observer with all."""
    folder = setting.photos / "burst"
    folder.mkdir()
    count = len(setting.burst)
    with setting.new_library() as photod, photod.connect() as connection:
        replica = Replica(connection)

        def once(_):
            replica.forget()
            copying = disk.Beside(lambda: disk.copy_all(setting.burst, folder))
            stamp = replica.until(lambda: len(replica.inserted) >= count)
            closed = copying.result()
            known = {"milliseconds": (stamp - closed) / 1e6, "messages": replica.messages}
            replica.verify()
            replica.forget()
            for path in folder.iterdir():
                path.unlink()
            replica.until(lambda: len(replica.deleted) >= count)
            return known

        rounds = setting.repeat(f"burst of {count:,}", setting.options.rounds + 1, once)[1:]

    def inotify(_):
        with disk.Inotify(folder, disk.CLOSE_WRITE) as watch:
            copying = disk.Beside(lambda: disk.copy_all(setting.burst, folder))
            stamp = watch.until(count)
            closed = copying.result()
        for path in folder.iterdir():
            path.unlink()
        return {"milliseconds": (stamp - closed) / 1e6}

    alone = setting.repeat("the same, inotify alone", setting.options.rounds, inotify)
    folder.rmdir()
    setting.report.keep("burst", {"photod": rounds, "inotify": alone})
    milliseconds, messages = middle(rounds, "milliseconds"), middle(rounds, "messages")
    setting.report.add(
        f"burst of {count:,}, last close(2) to an observer that has all", milliseconds, "ms",
        note=counted(messages, "message"), beside=("inotify alone", middle(alone, "milliseconds")),
        targets=[under(milliseconds, 50, "ms"), at_most(messages, 20, "messages")])
