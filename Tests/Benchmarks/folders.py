"""Measures the rename and deletion of a folder of many photos, and the rename of a folder above many folders."""

import os
import shutil

import disk
import pictures
from client import History, Replica
from report import counted, middle, under


def photos(setting):
    """Measures rename(2) and then the last unlink(2) of a folder of photos, to an observer that has all of them.

    A picture of each photo is kept, so the renames show whether they touch the pictures.
    """
    count = len(setting.burst)
    has_pictures = pictures.can_make(setting)
    names = [setting.photos / "folder", setting.photos / "folder-renamed"]
    renames, deletions = [], []
    with setting.new_library() as photod, photod.connect() as connection:
        replica = Replica(connection)

        def once(_):
            names[0].mkdir()
            replica.forget()
            disk.copy_all(setting.burst, names[0])
            replica.until(lambda: len(replica.inserted) >= count)
            if has_pictures:
                with photod.connect() as calls:
                    pictures.make(calls, sorted(replica.inserted))
            for old, new in [names, reversed(names), names]:
                photod.synchronize()
                replica.forget()
                began = disk.rename(old, new)
                stamp = replica.until(lambda: len(replica.changed) >= count)
                renames.append({"milliseconds": (stamp - began) / 1e6, "messages": replica.messages})
            replica.verify()
            photod.synchronize()
            replica.forget()
            deleting = disk.Beside(lambda: disk.remove_folder(names[1]))
            stamp = replica.until(lambda: len(replica.deleted) >= count)
            deletions.append({"milliseconds": (stamp - deleting.result()) / 1e6, "messages": replica.messages})
            replica.verify()
            photod.synchronize()

        setting.repeat(f"folder of {count:,}", setting.options.rounds + 1, once)

    def inotify(_):
        names[0].mkdir()
        disk.copy_all(setting.burst, names[0])
        with disk.Inotify(setting.photos, disk.MOVED_TO) as watch:
            began = disk.rename(*names)
            moved = (watch.until(1) - began) / 1e6
        with disk.Inotify(names[1], disk.DELETE) as watch:
            deleting = disk.Beside(lambda: disk.remove_folder(names[1]))
            stamp = watch.until(count)
            return {"renamed": moved, "deleted": (stamp - deleting.result()) / 1e6}

    alone = setting.repeat("the same, inotify alone", setting.options.rounds, inotify)
    # The first round is a warm-up.
    renames, deletions = renames[3:], deletions[1:]
    setting.report.keep("folder", {"renames": renames, "deletions": deletions, "inotify": alone})
    milliseconds = middle(renames, "milliseconds")
    setting.report.add(
        f"folder of {count:,} renamed, {'with kept pictures, ' if has_pictures else ''}rename(2) to an observer that has all",
        milliseconds, "ms",
        note=counted(middle(renames, "messages"), "message"), beside=("inotify alone", middle(alone, "renamed")),
        targets=[under(milliseconds, 20, "ms")])
    setting.report.add(
        f"folder of {count:,} deleted, last unlink(2) to an observer that has all", middle(deletions, "milliseconds"),
        "ms", note=counted(middle(deletions, "messages"), "message"),
        beside=("inotify alone", middle(alone, "deleted")))


def directories(setting):
    """Measures rename(2) above `options.directories` folders, a tenth with a photo, until the history has it."""
    count = setting.options.directories
    names = [setting.photos / "tree", setting.photos / "tree-renamed"]
    make_tree(setting, names[0], count)
    rounds = []
    try:
        setting.remove_catalog()
        with setting.photod() as photod:
            photod.seconds_to_live(setting.count + len(range(0, count, 10)))
            with photod.connect() as connection:
                history = History(connection)
                for _ in range(2 * setting.options.rounds + 1):
                    began = disk.rename(*names)
                    rounds.append({"milliseconds": (seen(history, *names) - began) / 1e6})
                    names.reverse()
                    photod.synchronize()
        alone = []
        for _ in range(setting.options.rounds):
            with disk.Inotify(setting.photos, disk.MOVED_TO) as watch:
                began = disk.rename(*names)
                alone.append({"milliseconds": (watch.until(1) - began) / 1e6})
            names.reverse()
    finally:
        for name in names:
            shutil.rmtree(name, ignore_errors=True)
    setting.report.keep("directories", {"photod": rounds, "inotify": alone})
    setting.report.add(
        f"rename(2) above {count:,} folders to the commit in the history", middle(rounds[1:], "milliseconds"), "ms",
        beside=("inotify alone", middle(alone, "milliseconds")))


def make_tree(setting, top, count):
    """Makes a tree with a hundred folders in each folder above the lowest level. The top is one of them."""
    folders = [top]
    top.mkdir()
    for number in range(1, count):
        folder = folders[(number - 1) // 100] / str(number)
        folder.mkdir()
        folders.append(folder)
    for number, folder in enumerate(folders):
        if number % 10 == 0:
            disk.write(folder / f"{number}.jpg", setting.spares[number % len(setting.spares)][1])


def seen(history, old, new):
    """Returns the time when the commit was there that renames `old` to `new`."""
    while True:
        stamp, changes = history.next()
        for change in changes:
            if {"fromPath": os.fspath(old), "toPath": os.fspath(new)} in change["renamedDirectories"]:
                return stamp
