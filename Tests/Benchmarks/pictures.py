"""Measures pictures: how many a second, how soon one is there, and a scroll through many cells."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from daemon import Photod, kilobytes
from report import at_least, middle, quantile, under
from setting import PACKAGE

IMAGES = "org.photod.images."
SIZE = 256
# A grid of photos shows this many cells at once.
VISIBLE = 60
CELLS_A_SECOND = 2_000
# Below the folder of real photos. The embedded picture of a RAW file is a JPEG of 1620 × 1080, and the others have HEVC.
EMBEDDED = {
    "RAW": "mindeng__nom-exif/testdata/canon-r6.cr3",
    "HEIC": "immich-app__test-assets/formats/heic/IMG_2682.heic",
    "HEIF with thumbnails of 1616 and 320 pixels": "Exiv2__exiv2/test/data/Sony.HIF",
}


def pictures(setting):
    if not shutil.which("vipsthumbnail") or not shutil.which("vips"):
        print("libvips-tools is not installed: no lines of pictures", flush=True)
        return
    if not can_make(setting):
        print("photod-image is missing: no lines of pictures", flush=True)
        return
    folder = large_photos(setting, setting.options.pictures)
    made(setting, folder)
    soon(setting, folder)
    embedded(setting)
    scroll(setting)
    shutil.rmtree(folder)
    videos(setting)


def large_photos(setting, count):
    """Makes photos of 12 megapixels with a camera's thumbnail, if exiftool can put it in."""
    folder = setting.scratch / "large"
    folder.mkdir()
    parts = setting.scratch / "parts"
    parts.mkdir()
    for number in range(count):
        bands = []
        for band in range(3):
            noise = parts / f"noise{band}.v"
            seed = str(number * 3 + band)
            run("vips", "gaussnoise", noise, "4000", "3000", "--mean", "128", "--sigma", "10", "--seed", seed)
            bands.append(str(noise))
        joined = parts / "joined.v"
        run("vips", "bandjoin", " ".join(bands), joined)
        path = folder / f"{number:04}.jpg"
        cast = parts / "cast.v"
        run("vips", "cast", joined, cast, "uchar")
        srgb = parts / "srgb.v"
        run("vips", "copy", cast, srgb, "--interpretation", "srgb")
        run("vips", "jpegsave", srgb, path, "--Q", "90")
    shutil.rmtree(parts)
    if shutil.which("exiftool"):
        thumbnails = setting.scratch / "thumbnails"
        thumbnails.mkdir()
        run("vipsthumbnail", *sorted(folder.iterdir()), "-s", "160", "-o", f"{thumbnails}/%s.jpg[strip]")
        run("exiftool", "-q", "-overwrite_original", f"-ThumbnailImage<={thumbnails}/%f.jpg", folder)
        shutil.rmtree(thumbnails)
    return folder


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


class Library:
    """`with` returns a photod that knows the photos and has made no picture, and their ids."""

    def __init__(self, setting, folder):
        self.setting = setting
        self.folder = folder

    def __enter__(self):
        setting = self.setting
        setting.remove_catalog()
        shutil.rmtree(setting.scratch / ".cache", ignore_errors=True)
        self.photod = Photod(setting.options.programs, self.folder, setting.catalog, setting.scratch)
        self.photod.seconds_to_live(sum(1 for path in self.folder.rglob("*") if path.is_file()))
        return self

    def __exit__(self, *error):
        self.photod.__exit__(*error)

    def ids(self, count):
        ids = []
        with self.photod.connect() as connection:
            connection.send("FetchIDs", more=True)
            while True:
                reply = connection.parameters(connection.reply_bytes())
                ids += reply["ids"]
                if len(ids) >= min(count, reply["total"]):
                    return ids[:count]

    def call(self, connection, method, **parameters):
        connection.send(method, interface=IMAGES, **parameters)
        return connection.parameters(connection.reply_bytes())

    def statistics(self):
        with self.photod.connect() as connection:
            return self.call(connection, "Statistics")


def made(setting, folder):
    """Measures pictures a second: each core makes pictures, on both sides."""
    cores = len(os.sched_getaffinity(0))
    count = setting.options.pictures

    def ours():
        with Library(setting, folder) as library:
            seconds = seconds_to_make(library, count)
            memory = workers_memory(library.photod, "photod-image")
        return {"a second and core": count / seconds / cores, "memory": memory}

    def theirs():
        output = setting.scratch / "output"
        output.mkdir()
        paths = sorted(folder.iterdir())
        began = time.monotonic_ns()
        processes = [
            subprocess.Popen(["vipsthumbnail", *map(str, paths[core::cores]), "-s", str(SIZE), "--vips-concurrency=1",
                              "-o", f"{output}/%s.jpg[Q=85,strip]"])
            for core in range(cores)
        ]
        if any(process.wait() for process in processes):
            raise RuntimeError("vipsthumbnail failed")
        seconds = (time.monotonic_ns() - began) / 1e9
        shutil.rmtree(output)
        return {"a second and core": count / seconds / cores}

    rounds = setting.interleave("pictures", setting.options.rounds, ours, theirs)
    setting.report.keep("pictures made", dict(zip(["photod", "vipsthumbnail"], rounds)))
    value, beside = (middle(values, "a second and core") for values in rounds)
    setting.report.add(
        f"pictures of {SIZE} pixels from 12 megapixels, a second and core", value, "pictures/s",
        beside=("vipsthumbnail", beside), targets=[at_least(value, 0.8 * beside, "0.8 × vipsthumbnail")])
    setting.report.add(
        "peak memory of the processes that decode, sum of RSS", middle(rounds[0], "memory") / 1e6, "MB")


def seconds_to_make(library, count):
    """Makes one picture of each of so many assets, and returns the time that it took."""
    with library.photod.connect() as connection:
        ids = library.ids(count)
        began = time.monotonic_ns()
        make(connection, ids)
        return (time.monotonic_ns() - began) / 1e9


def can_make(setting):
    return os.access(setting.options.programs / "photod-image", os.X_OK)


def make(connection, ids):
    """Makes one picture of each of these assets."""
    left = len(ids)
    for start in range(0, len(ids), 100):
        requests = [{"id": index + 1, "assetID": number, "targetWidth": SIZE, "targetHeight": SIZE}
                    for index, number in enumerate(ids[start : start + 100])]
        wanted = len(requests)
        connection.send("MakeImages", more=True, interface=IMAGES, requests=requests)
        while wanted > 0:
            for result in connection.parameters(connection.reply_bytes())["results"]:
                if result.get("failure"):
                    raise RuntimeError(f"no picture: {result}")
                wanted -= 1
                left -= 1
        # The call ends with a reply that has no results.
    if left:
        raise RuntimeError(f"{left} pictures did not come")


def workers_memory(photod, program):
    """Returns the sum of the peaks of these processes. Memory that was freed after a picture counts too."""
    return sum(kilobytes(f"/proc/{pid}/status", ["VmHWM"])["VmHWM"] * 1024 for pid in photod.pids()[program])


def videos(setting):
    """Measures pictures of videos a second, beside ffmpeg and ffmpegthumbnailer, which are started for each video."""
    if not shutil.which("ffmpeg"):
        print("ffmpeg is not installed: no lines of videos", flush=True)
        return
    if not os.access(setting.options.programs / "photod-video", os.X_OK):
        print("photod-video is missing: no lines of videos", flush=True)
        return
    cores = len(os.sched_getaffinity(0))
    count = setting.options.pictures
    folder = setting.scratch / "videos"
    folder.mkdir()
    run("ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30:d=2,noise=alls=12:allf=t",
        "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast", folder / "0000.mp4")
    first = (folder / "0000.mp4").read_bytes()
    for number in range(1, count):
        # Each file has other bytes: a box that all readers skip follows.
        skipped = (16).to_bytes(4, "big") + b"free" + number.to_bytes(8, "big")
        (folder / f"{number:04}.mp4").write_bytes(first + skipped)
    output = setting.scratch / "output"

    def ours():
        with Library(setting, folder) as library:
            seconds = seconds_to_make(library, count)
            memory = workers_memory(library.photod, "photod-video")
        return {"a second and core": count / seconds / cores, "memory": memory}

    def theirs(command):
        def measure():
            output.mkdir()
            began = time.monotonic_ns()
            shares = [sorted(folder.iterdir())[core::cores] for core in range(cores)]
            scripts = [" && ".join(command(path, output / f"{path.stem}.jpg") for path in share) for share in shares]
            processes = [subprocess.Popen(["sh", "-c", script], stderr=subprocess.DEVNULL) for script in scripts]
            if any([process.wait() for process in processes]):
                raise RuntimeError("the other program failed")
            seconds = (time.monotonic_ns() - began) / 1e9
            shutil.rmtree(output)
            return {"a second and core": count / seconds / cores}
        return measure

    others = {"ffmpeg": lambda path, made: f"ffmpeg -v error -nostdin -threads 1 -i '{path}' -frames:v 1"
              f" -vf scale={SIZE}:-2 -q:v 3 '{made}'"}
    if shutil.which("ffmpegthumbnailer"):
        others["ffmpegthumbnailer"] = lambda path, made: f"ffmpegthumbnailer -i '{path}' -o '{made}' -s {SIZE} -t 0"
    rounds = setting.interleave(
        "videos", setting.options.rounds, ours, *(theirs(command) for command in others.values()))
    setting.report.keep("pictures of videos", dict(zip(["photod", *others], rounds)))
    value = middle(rounds[0], "a second and core")
    for name, figures in zip(others, rounds[1:]):
        beside = middle(figures, "a second and core")
        setting.report.add(
            f"pictures of {SIZE} pixels from videos of 1920 × 1080, a second and core", value, "pictures/s",
            beside=(name, beside), targets=[at_least(value, beside, name)])
    setting.report.add(
        "peak memory of the processes that decode videos, sum of RSS", middle(rounds[0], "memory") / 1e6, "MB")
    shutil.rmtree(folder)


class Session:
    """A session of `library`, whose requests are made one after another."""

    def __init__(self, library, stream, calls):
        self.library, self.stream, self.calls = library, stream, calls
        stream.send("OpenSession", more=True, interface=IMAGES)
        self.name = stream.parameters(stream.reply_bytes())["session"]
        self.number = 0

    def request(self, asset, side, **options):
        """Requests a picture, and yields the milliseconds until each result with the result, to the final one."""
        self.number += 1
        began = time.monotonic_ns()
        self.library.call(self.calls, "RequestImages", session=self.name, requests=[
            {"id": self.number, "assetID": asset, "targetWidth": side, "targetHeight": side, **options}])
        is_final = False
        while not is_final:
            results = self.stream.parameters(self.stream.reply_bytes())["results"]
            taken = (time.monotonic_ns() - began) / 1e6
            # A result of the last request may have been on its way when that was cancelled.
            for result in results:
                if result["requestID"] == self.number:
                    is_final = result["isFinal"]
                    yield taken, result

    def cancel(self):
        self.library.call(self.calls, "CancelRequests", session=self.name)


def soon(setting, folder):
    """Measures the time from a request to its first result, new and kept."""
    kinds = {"first": [], "degraded": [], "final": [], "kept": []}

    def once(_):
        with Library(setting, folder) as library, library.photod.connect() as stream, \
                library.photod.connect() as calls:
            ids = library.ids(setting.options.pictures)
            session = Session(library, stream, calls)
            for place, asset in enumerate(ids):
                for taken, result in session.request(asset, SIZE):
                    if not result["isFinal"]:
                        # The first one of all waits for the start of a process.
                        kinds["degraded" if place else "first"].append(taken)
                    elif place:
                        kinds["final"].append(taken)
            for asset in ids:
                kinds["kept"] += [taken for taken, _ in session.request(asset, SIZE)]

    setting.repeat("first pictures", setting.options.rounds, once)
    setting.report.keep("first picture", kinds)
    for kind, what, limit in [("first", "the camera's thumbnail, the first one of a session", 10),
                              ("degraded", "the camera's thumbnail", 10), ("final", "the final picture", None),
                              ("kept", "a kept picture", 2)]:
        add_latency(setting, what, kinds[kind], limit)
    busy(setting, folder)


def embedded(setting):
    """Measures the time to the embedded picture of real photos that are no JPEGs."""
    photos = pathlib.Path(os.environ.get("PHOTOD_TEST_PHOTOS") or PACKAGE.parent / "shared/photos")
    for format, name in EMBEDDED.items():
        if not (photos / name).is_file():
            print(f"{photos / name} is missing (PHOTOD_TEST_PHOTOS names its folder): no line of {format}", flush=True)
            continue
        folder = setting.scratch / "embedded"
        folder.mkdir()
        shutil.copy(photos / name, folder)
        times = []
        with Library(setting, folder) as library, library.photod.connect() as stream, \
                library.photod.connect() as calls:
            asset, = library.ids(1)
            session = Session(library, stream, calls)
            for number in range(10 * setting.options.pictures + 1):
                # A fast request has the embedded picture as its only result, so nothing else is decoded.
                (taken, result), = session.request(
                    asset, SIZE - number % 50, resizeMode="exact", deliveryMode="fast")
                if "image" not in result:
                    raise RuntimeError(f"no picture of {name}: {result}")
                # The first one waits for the start of a process.
                if number:
                    times.append(taken)
            # A picture that is not embedded is kept.
            if library.statistics()["bytes"]:
                raise RuntimeError(f"{name} has no embedded picture")
        setting.report.keep(f"embedded picture of {format}", times)
        add_latency(setting, f"the embedded picture of a {format}", times, 10)
        shutil.rmtree(folder)


def busy(setting, folder):
    """Measures the same while the requests of another process keep all decoders busy. Turns go between processes."""
    kinds = {"degraded": [], "kept": []}
    count = max(10, min(200, 5 * setting.options.pictures))
    with Library(setting, folder) as library, library.photod.connect() as stream, library.photod.connect() as calls:
        ids = library.ids(setting.options.pictures)
        decoding = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("decode.py"), str(library.photod.socket_path),
             *map(str, ids[:10])], stdout=subprocess.PIPE)
        # It writes a line when the first pictures are there.
        decoding.stdout.readline()
        try:
            session = Session(library, stream, calls)
            # The first one waits for the start of a process.
            for number in range(count + 1):
                # No picture of such a size is kept, so each request gives the camera's thumbnail first.
                taken, result = next(session.request(ids[number % len(ids)], 161 + number, resizeMode="exact"))
                session.cancel()
                if number and not result["isFinal"]:
                    kinds["degraded"].append(taken)
            list(session.request(ids[0], SIZE))
            for _ in range(count):
                kinds["kept"] += [taken for taken, _ in session.request(ids[0], SIZE)]
            # The figures would be those of an idle photod.
            if decoding.poll() is not None:
                raise RuntimeError(f"the process that requests pictures ended with {decoding.returncode}")
        finally:
            decoding.kill()
            decoding.wait()
            decoding.stdout.close()
    setting.report.keep("first picture while others are decoded", kinds)
    for kind, what, limit in [("degraded", "the camera's thumbnail", 10), ("kept", "a kept picture", 2)]:
        add_latency(setting, f"{what}, while all decoders are busy", kinds[kind], limit)


def add_latency(setting, what, times, limit):
    if not times:
        raise RuntimeError(f"there was no {what.partition(',')[0]}, so its target was not checked")
    half, most = quantile(times, 0.5), quantile(times, 0.99)
    setting.report.add(
        f"request to {what}, p50", half, "ms", note=f"p99 {most:.2f}",
        targets=[under(half, limit, "ms", "p50 "), under(most, limit, "ms", "p99 ")] if limit else [])


def scroll(setting):
    """Scrolls through all photos. Each cell that leaves the view is cancelled."""
    with Library(setting, setting.photos) as library, library.photod.connect() as stream, \
            library.photod.connect() as calls:
        ids = library.ids(min(10_000, setting.count))
        stream.send("OpenSession", more=True, interface=IMAGES)
        session = stream.parameters(stream.reply_bytes())["session"]
        delivered = 0
        stream.socket.setblocking(False)
        began = time.monotonic()
        step = 10
        for start in range(0, len(ids), step):
            library.call(calls, "RequestImages", session=session, requests=[
                {"id": start + index + 1, "assetID": asset, "targetWidth": SIZE, "targetHeight": SIZE}
                for index, asset in enumerate(ids[start : start + step])])
            gone = start - VISIBLE
            if gone >= 0:
                library.call(calls, "CancelRequests", session=session, ids=list(range(gone + 1, gone + step + 1)))
            delivered += drained(stream)
            time.sleep(max(0, began + (start + step) / CELLS_A_SECOND - time.monotonic()))
        seconds = time.monotonic() - began
        library.call(calls, "CancelRequests", session=session)
        delivered += drained(stream)
        statistics = library.statistics()
    setting.report.keep("scroll", {"delivered": delivered, "seconds": seconds, **statistics})
    setting.report.add(
        f"scroll of {len(ids):,} cells, pictures made and not delivered", statistics["undelivered"], "pictures",
        note=f"{statistics['made']:,} made, {delivered:,} results delivered in {seconds:.1f} s")


def drained(stream):
    """Returns the number of final results that came, without waiting."""
    while True:
        try:
            piece = stream.socket.recv(1 << 20)
        except BlockingIOError:
            break
        if not piece:
            raise ConnectionError("photod closed the stream")
        stream.received += piece
    count = 0
    while (end := stream.received.find(b"\0")) >= 0:
        frame = bytes(stream.received[:end])
        del stream.received[: end + 1]
        count += sum(result["isFinal"] for result in stream.parameters(frame)["results"])
    return count
