"""Measures the first scan of photos that are no JPEGs: copies of one real HEIC, and of one real PNG."""

import shutil
import struct
import subprocess
import time
import zlib

import scan
from report import at_most, middle
from setting import real_photos, say

# Below the folder of real photos. Their metadata is within the first 64 KiB.
SAMPLES = {
    "HEIC": "Exiv2__exiv2/test/data/Stonehenge.heic",
    "PNG": "mindeng__nom-exif/testdata/exif.png",
}


def heic(setting):
    """Measures the first scan of each format beside cat(1) on the same files, which are in the cache."""
    photos = real_photos()
    for format, name in SAMPLES.items():
        if not (photos / name).is_file():
            print(f"{photos / name} is missing (PHOTOD_TEST_PHOTOS names its folder): no line of {format}", flush=True)
            continue
        folder = setting.scratch / format.lower()
        say(f"making {setting.count:,} copies of {name}")
        make_copies((photos / name).read_bytes(), format, folder, setting.count)
        measures = {"cat": lambda: read_all(folder), "photod": lambda: scan.photod(setting, folder, setting.count)}
        what = f"first scan of {setting.count:,} {format}"
        results = dict(zip(measures, setting.interleave(what, setting.options.rounds, *measures.values())))
        setting.report.keep(what, results)
        ours, theirs = middle(results["photod"], "seconds"), middle(results["cat"], "seconds")
        targets = [at_most(ours / theirs, 2, "× reading")] if format == "HEIC" else []
        setting.report.add(
            what, ours, "s", note=f"CPU {middle(results['photod'], 'cpu'):.2f}", beside=("cat of the files", theirs),
            targets=targets)
        shutil.rmtree(folder)


def make_copies(content, format, folder, count):
    """Makes copies that differ in their first 16 KiB, so that each is a photo of its own."""
    for number in range(count):
        parent = folder / f"{number // 80:03}"
        parent.mkdir(parents=True, exist_ok=True)
        (parent / f"IMG_{number:05}.{format.lower()}").write_bytes(numbered(content, format, number))


def numbered(content, format, number):
    if format == "HEIC":
        # The minor version of the major brand (ISO 14496-12, 4.3): it moves no offset, and readers ignore it.
        return content[:12] + struct.pack(">I", number) + content[16:]
    # A text chunk after the header, which has 25 bytes after the signature of 8.
    text = b"tEXt" + b"Comment\0" + str(number).encode()
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return content[:33] + chunk + content[33:]


def read_all(folder):
    started = time.monotonic_ns()
    find = subprocess.Popen(["find", folder, "-type", "f", "-print0"], stdout=subprocess.PIPE)
    subprocess.run(["xargs", "-0", "cat"], stdin=find.stdout, stdout=subprocess.DEVNULL, check=True)
    find.stdout.close()
    if find.wait() != 0:
        raise RuntimeError(f"find ended with {find.returncode}")
    return {"seconds": (time.monotonic_ns() - started) / 1e9}
