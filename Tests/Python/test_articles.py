"""The programs of the articles run as they are, against a real photod."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import PACKAGE, PATIENCE, Daemon

import photod

ARTICLE = PACKAGE / "Documentation/photod.docc/GettingStartedInOtherLanguages.md"
README = PACKAGE / "Sources/python/README.md"


def programs(path):
    """The listings that import the package."""
    listings = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    return [listing for listing in listings if "import photod" in listing]


class ArticleTests(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(photo_count=5))
        self.library = self.enterContext(self.daemon.library("tests"))
        # The programs find the socket by themselves.
        directory = self.daemon.folder / "run/photod"
        directory.mkdir(parents=True)
        (directory / "photod.sock").symlink_to(self.daemon.socket)
        self.environment = os.environ | {"XDG_RUNTIME_DIR": str(directory.parent), "PYTHONUNBUFFERED": "1"}
        self.ids = list(self.library.fetch_ids())
        self.library.perform_changes(photod.EditAssets(self.ids[:2], is_favorite=True))
        self.show, self.follow, self.thumbnail, self.album = programs(ARTICLE)

    def run_program(self, text):
        result = subprocess.run(
            [sys.executable, "-c", text], env=self.environment, cwd=self.daemon.folder, capture_output=True, text=True,
            timeout=PATIENCE,
        )  # fmt: skip
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def follow_program(self, text):
        command = [sys.executable, "-c", text]
        program = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (program.kill(), program.communicate()))
        return program.stdout

    def test_favorites_are_printed(self):
        assets = self.library.assets(self.ids[:2])
        lines = ["5 photos and videos"] + [f"{asset.creation_date} {asset.path}" for asset in assets]
        self.assertEqual(self.run_program(self.show).splitlines(), lines)

    def test_favorites_are_followed(self):
        output = self.follow_program(self.follow)
        self.assertEqual(output.readline(), "2 favorites\n")
        self.assertEqual(output.readline(), f"at 0 remove 0 insert {self.ids[:2]}\n")
        self.library.perform_changes(photod.EditAssets(self.ids[2:3], is_favorite=True))
        self.assertEqual(output.readline(), "3 favorites\n")
        self.assertEqual(output.readline(), f"at 2 remove 0 insert [{self.ids[2]}]\n")
        self.daemon.restart()
        self.library.perform_changes(photod.EditAssets(self.ids[:1], is_favorite=False))
        self.assertEqual(output.readline(), "2 favorites\n")
        self.assertEqual(output.readline(), "at 0 remove 1 insert []\n")

    def test_thumbnail_is_written(self):
        width, height, path = self.run_program(self.thumbnail).split()
        self.assertEqual(path, self.library.assets(self.ids[:1])[0].path)
        picture = Path(self.daemon.folder, "newest.jpg").read_bytes()
        self.assertEqual((picture[:2], picture[-2:]), (b"\xff\xd8", b"\xff\xd9"))
        self.assertTrue(0 < int(width) <= 256 and 0 < int(height) <= 256)

    def test_thumbnail_with_transparent_parts_is_a_png(self):
        path = self.daemon.add_transparent()
        self.library.synchronize()
        self.assertTrue(self.run_program(self.thumbnail).endswith(f" {path}\n"))
        picture = Path(self.daemon.folder, "newest.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertFalse(Path(self.daemon.folder, "newest.jpg").exists())

    def test_album_is_made(self):
        text, id = self.run_program(self.album).rsplit(" ", 1)
        self.assertEqual(text, "the album has the id")
        self.assertEqual(list(self.library.fetch_ids(f"id:{int(id)}")), self.ids[:2])
        self.assertTrue(all("best" in asset.keywords for asset in self.library.assets(self.ids[:2])))
        self.assertEqual(self.library.undoable_changes()[0].origin, "client:my-program")

    def test_program_of_the_readme_runs(self):
        [program] = programs(README)
        output = self.follow_program(program)
        for asset in self.library.assets(self.ids[:2]):
            self.assertEqual(output.readline(), f"{asset.creation_date} {asset.path}\n")
        self.assertEqual(output.readline(), "2 favorites None\n")
        self.library.perform_changes(photod.EditAssets(self.ids[2:3], is_favorite=True))
        self.assertRegex(output.readline(), r"^3 favorites FetchResultChangeDetails\(count_before=2, count_after=3")


if __name__ == "__main__":
    unittest.main()
