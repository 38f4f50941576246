"""Measures a fetch result of PhotoClient, which photod-measure uses as an app does."""

import subprocess
import time

from daemon import Photod
from million import large_photod
from report import at_most, digits, quantile, under

CHANGES = 2


def client(setting):
    """Measures the first screen of all photos after a commit, any other place, memory, and the list after a restart."""
    count, rounds = setting.options.assets, setting.options.rounds
    with large_photod(setting) as photod:
        figures = setting.measure("client", rounds, photod.socket_path)
    resumed = [resume(setting) for _ in range(rounds)]
    setting.report.keep("client", {"figures": figures, "resumed": resumed})

    def median(name):
        return quantile(figures[name], 0.5)

    add = setting.report.add
    add(f"fetch result of {count:,}, first screen of 100 after a commit", median("first screen"), "ms",
        note=f"the count after {digits(median('fetch'))}, all ids after {digits(median('ids'))}",
        targets=[under(median("first screen"), 50, "ms")])
    add(f"fetch result of {count:,}, its end at once", median("end while the ids arrive"), "ms")
    add(f"fetch result of {count:,}, 30 photos at any place", median("place"), "ms",
        note=f"p99 {digits(quantile(figures['place'], 0.99))}; 30 further down {digits(median('scroll'))}",
        targets=[under(quantile(figures["place"], 0.99), 20, "ms")])
    memory = median("memory after scrolling")
    add(f"fetch result of {count:,}, memory of the app", memory, "MB",
        note=f"{digits(median('memory'))} before it scrolls", targets=[at_most(memory, 40, "MB")])
    observed = {name: quantile([one[name] for one in resumed], 0.5) / 1e6 for name in ["app", "restarted app", "photod"]}
    add(f"fetch result of {count:,}, observed, memory of the app", observed["app"], "MB",
        note=f"{digits(observed['restarted app'])} after a restart of photod", targets=[at_most(observed["app"], 40, "MB")])
    add(f"fetch result of {count:,}, observed, memory of photod", observed["photod"], "MB",
        targets=[at_most(observed["photod"], 60, "MB")])
    milliseconds = quantile([one["milliseconds"] for one in resumed], 0.5)
    reloads = sum(one["reloads"] for one in resumed)
    add(f"fetch result of {count:,}, a change after a restart, photod's answer to the app", milliseconds, "ms",
        note=f"{reloads} reloads of {len(resumed)}", targets=[at_most(reloads, 0, "reloads")])


def resume(setting):
    """Restarts photod under an app, and changes a photo. The app has to get this difference."""
    count = setting.options.assets
    with large_photod(setting) as photod:
        idle = photod.memory()["Anonymous"]
        app = subprocess.Popen([setting.options.programs / "photod-measure", "follow", str(CHANGES), photod.socket_path],
                               stdout=subprocess.PIPE, text=True)
        if app.stdout.readline().strip() != "ready":
            raise RuntimeError(f"photod-measure ended with {app.wait()}")
        # The first change proves that the list is observed.
        favor(photod, count - 3)
        _, _, memory = changed(app)
        photod_memory = photod.memory()["Anonymous"] - idle
    with Photod(setting.options.programs, setting.away, setting.made_catalog(count), setting.scratch) as photod:
        answered = favor(photod, count - 4)
        stamp, reloads, memory_after = changed(app)
    app.wait(30)
    app.stdout.close()
    return {"milliseconds": max(0, stamp - answered) / 1e6, "reloads": reloads, "app": memory,
            "restarted app": memory_after, "photod": photod_memory}


def favor(photod, id):
    """Makes the photo a favorite, or no favorite, and returns the time of the reply."""
    with photod.connect() as connection:
        asset = connection.call("GetAssets", ids=[id])["assets"][0]
        edit = {"ids": [id], "isFavorite": not asset["isFavorite"]}
        connection.call("PerformChanges", requests=[{"editAsset": edit}])
        return time.monotonic_ns()


def changed(app):
    """Returns the time of the app's next change, whether it was a reload, and the memory that the app then has."""
    line = app.stdout.readline().split()
    if len(line) != 4:
        raise RuntimeError(f"photod-measure ended with {app.wait()}")
    return int(line[0]), 1 - int(line[2]), int(line[3])
