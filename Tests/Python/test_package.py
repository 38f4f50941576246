"""The package is installed by pip, and its types are right."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from support import PACKAGE

import photod

SOURCES = PACKAGE / "Sources/python"


def run(*command, **environment):
    result = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


class PackageTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))


class InstallTests(PackageTests):
    """Without a network: the build backend is that of this Python."""

    def test_pip_installs_it(self):
        # pip builds in the folder of the sources.
        shutil.copytree(SOURCES, self.folder / "python", ignore=shutil.ignore_patterns("build", "*.egg-info"))
        python = self.folder / "venv/bin/python"
        run(sys.executable, "-m", "venv", "--system-site-packages", self.folder / "venv")
        pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
        run(*pip, self.folder / "python", PYTHONPATH="")
        varlink = [path for path in os.environ.get("PYTHONPATH", "").split(":") if Path(path, "varlink").is_dir()]
        program = "import photod, sys; print(photod.__file__); print(photod.Library('/none').socket_path)"
        file, path = run(python, "-c", program, PYTHONPATH=":".join(varlink)).splitlines()
        self.assertEqual(path, "/none")
        self.assertTrue(Path(file).is_relative_to(self.folder / "venv"), file)
        self.assertTrue((Path(file).parent / "py.typed").exists())
        names = {path.name for path in (SOURCES / "photod").glob("*.py")}
        self.assertEqual({path.name for path in Path(file).parent.glob("*.py")}, names)

    def test_version_is_that_of_the_release(self):
        text = (PACKAGE / "Sources/PhotoModel/Release.swift").read_text()
        version = text.split('version = "')[1].split('"')[0]
        self.assertEqual(photod.__version__, version)


class TypeTests(PackageTests):
    """mypy in its strict mode."""

    def test_package_and_a_program_have_right_types(self):
        program = self.folder / "program.py"
        program.write_text(
            textwrap.dedent(
                """
                import photod

                with photod.Library() as library, photod.ImageManager(library) as images:
                    paths: list[str] = [asset.path for asset in library.fetch("smart:favorites")]
                    result = library.perform_changes(photod.EditAssets([1], is_favorite=True))
                    ids: tuple[int, ...] = result.created_collection_ids
                    for change in library.observe(photod.FetchOptions(media_types=("image",))):
                        for edit in change.list_model_edits():
                            print(edit.position + edit.removed)
                    data: bytes = images.image(1, (256, 256)).data()
                """
            )
        )
        configuration = ["--config-file", SOURCES / "pyproject.toml", "--cache-dir", self.folder / "cache"]
        found = run(sys.executable, "-m", "mypy", *configuration, SOURCES / "photod", program, MYPYPATH=str(SOURCES))
        self.assertIn("no issues found", found)
        program.write_text(program.read_text().replace("is_favorite=True", "is_favorite='yes'"))
        with self.assertRaises(AssertionError) as caught:
            run(sys.executable, "-m", "mypy", *configuration, program, MYPYPATH=str(SOURCES))
        self.assertIn('"is_favorite"', str(caught.exception))


if __name__ == "__main__":
    unittest.main()
