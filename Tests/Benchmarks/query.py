"""Measures the newest photos in a cold process: photoctl, from its start to its end."""

import shutil

from report import middle, under
from setting import seconds_of

NEWEST = 100
# The columns that a list shows. A program without photod would read them from a catalog.
SQL = """
SELECT asset.id, directory.name, asset.name, creation_date, modification_date, added_date, pixel_width, pixel_height,
  orientation, duration, latitude, longitude, altitude, camera_make, camera_model, camera_lens, exposure, f_number, iso,
  focal_length, flash_fired, title, caption, rating, is_favorite, byte_count, content_type
FROM asset JOIN directory ON directory.id = asset.directory_id
WHERE is_hidden = 0 AND is_trashed = 0 ORDER BY creation_date DESC, asset.id DESC LIMIT %d""" % NEWEST


def newest(setting):
    photoctl = setting.options.programs / "photoctl"
    with setting.new_library() as photod:
        count = min(NEWEST, setting.count)

        def run(command, lines):
            def once():
                seconds, output = seconds_of(command)
                if output.count(b"\n") != lines:
                    raise RuntimeError(f"{command[0]} printed {output.count(10)} lines, not {lines}: {output[:500]}")
                return {"milliseconds": seconds * 1e3}

            return once

        measures = {
            "photoctl": run([photoctl, "query", "--socket", photod.socket_path, "--limit", str(NEWEST)], count),
            "true, a process that does nothing": run(["true"], 0),
        }
        if shutil.which("sqlite3"):
            measures["sqlite3 on the same catalog"] = run(
                ["sqlite3", "-readonly", "-json", setting.catalog, SQL], count)
        else:
            print("sqlite3 is not installed: no line beside it", flush=True)
        rounds = dict(zip(measures, setting.interleave(
            f"newest {NEWEST}", 4 * setting.options.rounds, *measures.values())))
    setting.report.keep("newest", rounds)
    ours = middle(rounds.pop("photoctl"), "milliseconds")
    for name, values in rounds.items():
        setting.report.add(
            f"newest {NEWEST} of {setting.count:,} by a cold photoctl", ours, "ms",
            beside=(name, middle(values, "milliseconds")), targets=[under(ours, 30, "ms")])
