"""A screen for windows, without a display: Xvfb keeps it in a file."""

import os
import select
import struct
import subprocess
import tempfile

from support import end_with_parent

WIDTH, HEIGHT = 880, 530


class Screen:
    """An X server of its own. `environment` is for programs, and pixels() is what they show."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="photod-screen-")
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24"]
        command += ["-fbdir", self.folder.name, "-nolisten", "tcp"]
        self.process = subprocess.Popen(
            command, pass_fds=[writing], stderr=subprocess.DEVNULL, preexec_fn=end_with_parent
        )
        os.close(writing)
        with open(reading) as numbers:
            assert select.select([numbers], [], [], 120)[0], "Xvfb does not start"
            number = numbers.readline().strip()
        assert number, "Xvfb ended"
        self.environment = {
            "DISPLAY": f":{number}", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GSETTINGS_BACKEND": "memory",
            "GTK_A11Y": "none", "GTK_THEME": "Default",
        }  # fmt: skip
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def pixels(self) -> bytes:
        """The rows of the screen. A pixel is blue, green, red and 255."""
        with open(f"{self.folder.name}/Xvfb_screen0", "rb") as file:
            dump = file.read()
        # The format of xwd: 25 numbers, a name, the colours, and then the rows.
        header = struct.unpack(">25I", dump[:100])
        assert (header[4], header[5], header[11], header[12]) == (WIDTH, HEIGHT, 32, WIDTH * 4), header
        start = header[0] + header[19] * 12
        pixels = bytearray(dump[start : start + WIDTH * HEIGHT * 4])
        pixels[3::4] = b"\xff" * (WIDTH * HEIGHT)
        return bytes(pixels)

    def key(self, *keys: str):
        """Presses keys in the window that has the focus."""
        subprocess.run(["xdotool", "key", *keys], env=os.environ | self.environment, check=True)
