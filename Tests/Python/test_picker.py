"""The picker with GTK shows the library of a real photod, in a window of an X server of its own."""

import contextlib
import os
import random
import subprocess
import sys
import time
import unittest

from screen import HEIGHT, WIDTH, Screen
from support import PACKAGE, PATIENCE, Daemon, eventually

import photod

EXAMPLE = PACKAGE / "Examples/gtk-picker"


def setUpModule():
    """GTK connects to the display when it is imported."""
    global Gdk, GLib, Gtk, picker, screen
    screen = unittest.enterModuleContext(Screen())
    os.environ.update(screen.environment)
    sys.path.insert(0, str(EXAMPLE))
    import picker
    from gi.repository import Gdk, GLib, Gtk


class WindowTests(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(photo_count=40))
        self.library = self.enterContext(self.daemon.library("tests"))
        self.images = self.enterContext(photod.ImageManager(self.library))
        self.application = picker.Picker(self.library, self.images)
        self.application.register()
        self.application.activate()
        [self.window] = self.application.get_windows()
        self.window.set_default_size(WIDTH, HEIGHT)
        self.addCleanup(self.window.destroy)
        self.wait(lambda: len(self.window.photos.ids) == 40, "the photos")

    def wait(self, condition, what):
        """Runs the main loop until the condition holds."""
        context = GLib.MainContext.default()
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"never: {what}")
            if not context.iteration(False):
                time.sleep(0.002)

    def thumbnails(self):
        """The thumbnails of the grid that show a photo, with its id."""
        return [(cell.get_child(), cell.get_item().value) for cell in self.window.cells]

    def wait_for_pictures(self):
        def are_there():
            thumbnails = self.thumbnails()
            return thumbnails and all(thumbnail.get_paintable() for thumbnail, _ in thumbnails)

        self.wait(are_there, "the pictures")

    def model(self):
        photos = self.window.photos
        return [photos.get_item(position).value for position in range(photos.get_n_items())]

    def albums(self):
        """The albums in the sidebar, by their titles."""
        return {item.value.title: item.value for item in self.window.albums}

    def is_equal_to_fetch(self):
        opened = self.window.chosen_album.get_selected_item().value
        return self.model() == list(self.library.fetch_ids(f"id:{opened.id}"))

    def open(self, title):
        titles = [item.value.title for item in self.window.albums]
        self.window.chosen_album.set_selected(titles.index(title))

    def bytes_of(self, texture):
        return bytes(texture.save_to_png_bytes().get_data())

    def test_window_follows_the_library(self):
        generator = random.Random(11)
        signals = []
        self.window.photos.connect("items-changed", lambda _, *numbers: signals.append(numbers))
        for number in range(40):
            photos = sorted(self.daemon.photos.glob("*.jpg"))
            match generator.randrange(5):
                case 0 | 1:
                    self.daemon.add()
                case 2:
                    generator.choice(photos).unlink()
                case 3:
                    generator.choice(photos).rename(self.daemon.photos / f"q{number}.jpg")
                case 4:
                    ids = generator.sample(self.model(), 3)
                    # The window may still show a photo that was just deleted.
                    with contextlib.suppress(photod.NoSuchAsset):
                        self.library.perform_changes(photod.EditAssets(ids, is_favorite=generator.random() < 0.7))
            if number == 20:
                self.daemon.restart()
            if number % 4 == 3:
                self.library.synchronize(PATIENCE)
                self.wait(self.is_equal_to_fetch, "the model equals a fetch")
                # A list widget that follows the signals would have as many rows.
                self.assertEqual(40 + sum(added - removed for _, removed, added in signals), len(self.model()))
        # The list was never read as a whole again.
        self.assertTrue(all(removed + added < 20 for _, removed, added in signals), signals)
        self.open("Favorites")
        self.wait(lambda: self.model() and self.is_equal_to_fetch(), "the favorites")
        self.wait_for_pictures()

    def test_each_cell_has_the_picture_of_its_photo_after_fast_scrolling(self):
        for number in range(160):
            self.daemon.add(f"more{number}.jpg")
        self.library.synchronize(PATIENCE)
        self.wait(lambda: len(self.window.photos.ids) == 200, "all photos")
        adjustment = self.window.grid.get_vadjustment()
        self.wait(lambda: adjustment.get_upper() > 4 * HEIGHT, "the size of the grid")
        for step in range(80):
            bottom = adjustment.get_upper() - adjustment.get_page_size()
            adjustment.set_value(bottom * abs(step % 20 - 10) / 10)
            for _ in range(5):
                GLib.MainContext.default().iteration(False)
        adjustment.set_value(adjustment.get_upper())
        self.wait(lambda: any(id == self.model()[-1] for _, id in self.thumbnails()), "the end of the grid")
        self.wait_for_pictures()
        # The degraded picture of a camera may come first.
        self.wait(lambda: not self.images._session._pending, "the final pictures")
        shown = set()
        for thumbnail, id in self.thumbnails():
            image = self.images.image(id, (150, 150), "aspectFill", timeout=PATIENCE)
            expected = self.bytes_of(Gdk.Texture.new_from_bytes(GLib.Bytes.new(image.data())))
            # The final picture may still be on its way from the thread of the session to the window.
            self.wait(lambda: self.bytes_of(thumbnail.get_paintable()) == expected, f"the picture of photo {id}")
            shown.add(expected)
        self.assertGreater(len(shown), 5, "the photos do not differ")
        self.assertLessEqual(len(self.window.cached), picker.AHEAD)

    def test_sidebar_has_albums_with_counts_and_covers(self):
        ids = list(self.library.fetch_ids())
        self.library.perform_changes(
            photod.CreateAlbum("Rome", asset_ids=ids[:3]),
            photod.CreateSmartAlbum("Cameras", predicate="camera.make != nil"),
            photod.EditAssets(ids[:5], is_favorite=True),
        )

        def counts():
            return {title: album.count for title, album in self.albums().items()}

        self.wait(lambda: counts().get("Rome") == 3 and counts().get("Favorites") == 5, "the albums")
        self.assertEqual(list(self.albums())[:2], ["Recents", "Favorites"])
        self.assertEqual((counts()["Recents"], set(counts())), (40, {"Recents", "Favorites", "Rome", "Cameras"}))
        self.assertEqual(self.albums()["Rome"].key_asset_id, self.library.collections(["album"])[0].key_asset_id)
        album = self.albums()["Rome"].id
        self.open("Rome")
        self.wait(lambda: self.model() == ids[:3], "the photos of the album")
        self.library.perform_changes(photod.EditAlbum(album, place_asset_ids=[ids[2]], before_asset_id=ids[0]))
        self.wait(lambda: self.model() == [ids[2], ids[0], ids[1]], "the new order")
        self.library.perform_changes(photod.DeleteAlbum(album))
        self.wait(lambda: "Rome" not in counts() and len(self.model()) == 40, "the first album instead")

    def test_selection_is_chosen(self):
        ids = self.model()
        self.assertFalse(self.window.choose_button.get_sensitive())
        self.window.selection.select_item(1, True)
        self.window.selection.select_item(3, False)
        self.assertEqual(self.window.get_title(), "2 of 40 Photos")
        self.window.choose()
        paths = [asset.path for asset in self.library.assets([ids[1], ids[3]])]
        self.assertEqual(self.application.chosen, paths)

    def test_empty_album_has_a_message(self):
        self.open("Favorites")
        self.wait(lambda: self.window.stack.get_visible_child_name() == "message", "the message")
        self.assertEqual(self.window.message.get_label(), "No Photos")

    def test_without_photod_the_window_says_so(self):
        with photod.Library(f"{self.daemon.socket}-none") as library, photod.ImageManager(library) as images:
            application = picker.Picker(library, images)
            application.register()
            application.activate()
            [window] = application.get_windows()
            self.addCleanup(window.destroy)
            self.wait(lambda: window.stack.get_visible_child_name() == "message", "the message")
            self.assertIn("there is no socket", window.message.get_label())

    def test_screen_shows_the_photos(self):
        self.wait_for_pictures()

        def colours():
            pixels = screen.pixels()
            return len({pixels[start : start + 4] for start in range(0, len(pixels), 4)})

        # Text and widgets have some hundreds of colours.
        self.wait(lambda: colours() > 2_000, "photos on the screen")
        if folder := os.environ.get("PHOTOD_SCREENSHOTS"):
            pixels = GLib.Bytes.new(screen.pixels())
            kind = Gdk.MemoryFormat.B8G8R8A8_PREMULTIPLIED
            Gdk.MemoryTexture.new(WIDTH, HEIGHT, kind, pixels, WIDTH * 4).save_to_png(f"{folder}/picker.png")


class ProgramTests(unittest.TestCase):
    """The program itself, with the keys of a person."""

    def setUp(self):
        self.daemon = self.enterContext(Daemon(photo_count=6))
        self.screen = self.enterContext(Screen())

    def run_picker(self, *keys):
        """Starts the picker, presses keys when its window is shown, and returns its exit status and output."""
        environment = os.environ | self.screen.environment
        command = [sys.executable, EXAMPLE / "picker.py", "--socket", self.daemon.socket]
        program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

        def ends():
            # A key that comes before the window has the focus has no effect.
            if program.poll() is None:
                subprocess.run(press, env=environment, check=False, capture_output=True)
                time.sleep(0.2)
            return program.poll() is not None

        try:
            with self.daemon.library() as library:
                # It observes the list of albums, and the photos of one of them.
                eventually(lambda: library.status().observer_count == 2, "the picker observes")
            press = ["xdotool", "search", "--onlyvisible", "--name", "Photos", "windowfocus", "key", *keys]
            eventually(ends, "the picker ends")
        finally:
            program.kill()
            output, _ = program.communicate()
        return program.returncode, output

    def test_escape_chooses_nothing(self):
        self.assertEqual(self.run_picker("Escape"), (1, ""))

    def test_enter_prints_the_selected_photos(self):
        with self.daemon.library() as library:
            paths = "".join(f"{asset.path}\n" for asset in library.fetch("smart:recents"))
        self.assertEqual(self.run_picker("ctrl+a", "Return"), (0, paths))


if __name__ == "__main__":
    unittest.main()
