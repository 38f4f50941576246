#!/usr/bin/python3
"""A window to choose photos from the library of photod. It prints the paths of the chosen photos.

    picker.py | xargs -d '\\n' cp -t ~/Desktop

Enter or a double click chooses the selected photos. Escape closes the window, and the exit status is then 1. The window
follows the library: photos appear, move and leave while it is open.
"""

from __future__ import annotations

import argparse
import sys
import threading

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, GObject, Gtk, Pango  # noqa: E402

import photod  # noqa: E402

CELL, COVER = 150, 40
AHEAD = 60  # pictures that are made ahead of the scrolling
STYLE = """
gridview { padding: 6px; }
gridview > child { padding: 3px; border-radius: 10px; }
gridview > child:selected { background: @theme_selected_bg_color; }
.thumbnail { border-radius: 6px; background: alpha(currentColor, 0.07); }
"""


class Item(GObject.Object):
    """A photo, by its id, or an album. `version` rises when it changes, so that its cell shows it anew."""

    version = GObject.Property(type=int, default=0)

    def __init__(self, value: int | photod.AssetCollection):
        super().__init__()
        self.value = value


class PhotoList(GObject.Object, Gio.ListModel):
    """The photos of an album as a GListModel. Each change of the library becomes `items-changed` signals."""

    def __init__(self):
        super().__init__()
        self.ids: list[int] = []
        self.items: dict[int, Item] = {}

    def do_get_item_type(self):
        return Item.__gtype__

    def do_get_n_items(self):
        return len(self.ids)

    def do_get_item(self, position):
        if position < len(self.ids):
            id = self.ids[position]
            return self.items.setdefault(id, Item(id))

    def apply(self, change: photod.FetchResultChange):
        for position, removed, ids in change.list_model_edits():
            self.ids[position : position + removed] = ids
            self.items_changed(position, removed, len(ids))
        for id in self.items.keys() - set(self.ids):
            del self.items[id]
        if change.details:
            for position in photod.positions(change.details.changed_after):
                if item := self.items.get(self.ids[position]):
                    item.version += 1


class Thumbnail(Gtk.Picture):
    """Shows the picture of one photo at a time. A request that is no longer needed is cancelled."""

    def __init__(self, images: photod.ImageManager, side: int):
        super().__init__(content_fit=Gtk.ContentFit.COVER, overflow=Gtk.Overflow.HIDDEN, css_classes=["thumbnail"])
        self.images, self.side = images, side
        self.results: photod.ImageResults | None = None

    def do_measure(self, orientation, for_size):
        return self.side, self.side, -1, -1

    def show_photo(self, id: int | None):
        if self.results:
            self.results.cancel()
        self.results = None
        current = self.current = object()
        if id is None:
            return self.set_paintable(None)

        def receive(image: photod.Image):  # on a thread of the images
            texture = Gdk.Texture.new_from_bytes(GLib.Bytes.new(image.data()))
            GLib.idle_add(lambda: self.set_paintable(texture) if self.current is current else None)

        side = self.side * self.get_scale_factor()
        self.results = self.images.request(id, (side, side), "aspectFill", on_image=receive)


def factory(setup, bind, unbind):
    made = Gtk.SignalListItemFactory()
    made.connect("setup", lambda _, cell: setup(cell))
    made.connect("bind", lambda _, cell: bind(cell, cell.get_child(), cell.get_item()))
    made.connect("unbind", lambda _, cell: unbind(cell, cell.get_child(), cell.get_item()))
    return made


class Window(Gtk.ApplicationWindow):
    """The sidebar with the albums, and the grid with the photos of one of them."""

    def __init__(self, application: Picker):
        super().__init__(application=application, title="Choose Photos", default_width=1040, default_height=700)
        self.library, self.images = application.library, application.images
        self.photos = PhotoList()
        self.following: photod.FetchResultChanges | None = None
        self.cells: set[Gtk.ListItem] = set()
        self.cached: set[int] = set()
        self.last_position = 0

        self.albums = Gio.ListStore(item_type=Item)
        self.chosen_album = Gtk.SingleSelection(model=self.albums, autoselect=False)
        self.chosen_album.connect("notify::selected-item", lambda *_: self.open_album())
        rows = factory(self.setup_album, self.bind_album, self.unbind_album)
        sidebar = Gtk.ListView(model=self.chosen_album, factory=rows, css_classes=["navigation-sidebar"])
        self.selection = Gtk.MultiSelection(model=self.photos)
        self.selection.connect("selection-changed", lambda *_: self.show_count())
        photos = factory(self.setup_photo, self.bind_photo, self.unbind_photo)
        self.grid = Gtk.GridView(model=self.selection, factory=photos, max_columns=20, enable_rubberband=True)
        self.grid.connect("activate", lambda *_: self.choose())
        self.message = Gtk.Label(wrap=True, css_classes=["title-2"])
        self.stack = Gtk.Stack(hexpand=True)
        self.stack.add_named(Gtk.ScrolledWindow(child=self.grid), "grid")
        self.stack.add_named(self.message, "message")
        albums = Gtk.ScrolledWindow(child=sidebar, hscrollbar_policy=Gtk.PolicyType.NEVER)
        self.set_child(Gtk.Paned(start_child=albums, end_child=self.stack, resize_start_child=False, position=220))

        self.choose_button = Gtk.Button(label="Choose", sensitive=False, css_classes=["suggested-action"])
        self.choose_button.connect("clicked", lambda _: self.choose())
        cancel = Gtk.Button(label="Cancel")
        cancel.connect("clicked", lambda _: self.close())
        header = Gtk.HeaderBar(show_title_buttons=False)
        header.pack_start(cancel)
        header.pack_end(self.choose_button)
        self.set_titlebar(header)
        self.set_focus(self.grid)
        keys = Gtk.EventControllerKey(propagation_phase=Gtk.PropagationPhase.CAPTURE)
        keys.connect("key-pressed", self.press)
        self.add_controller(keys)
        self.follow(self.library.observe_collections(["smartAlbum", "album"]), self.show_albums)

    def follow(self, changes, apply):
        """Reads changes in a thread of its own, and applies them in the main loop."""

        def read():
            try:
                for change in changes:
                    GLib.idle_add(apply, change)
            except photod.PhotodError as error:
                GLib.idle_add(self.show_message, str(error))

        threading.Thread(target=read, daemon=True).start()

    def show_albums(self, change: photod.CollectionListChange):
        places = {"recents": 0, "favorites": 1}
        shown = [album for album in change.after if album.subtype in places or album.kind == "album" or album.query]
        shown.sort(key=lambda album: places.get(album.subtype, 2))
        known = {item.value.id: item for item in self.albums}
        opened = self.chosen_album.get_selected_item()
        items = [known.get(album.id) or Item(album) for album in shown]
        if items != list(self.albums):
            self.albums.splice(0, len(self.albums), items)
            self.chosen_album.set_selected(items.index(opened) if opened in items else 0)
        for item, album in zip(items, shown):
            item.value = album
            item.version += 1

    def setup_album(self, cell):
        row = Gtk.Box(spacing=10, margin_top=3, margin_bottom=3)
        row.cover = Thumbnail(self.images, COVER)
        row.title = Gtk.Label(xalign=0, hexpand=True, ellipsize=Pango.EllipsizeMode.END)
        row.count = Gtk.Label(css_classes=["dim-label"])
        for child in (row.cover, row.title, row.count):
            row.append(child)
        cell.set_child(row)

    def bind_album(self, cell, row, item):
        def show(*_):
            row.title.set_label(item.value.title)
            row.count.set_label(f"{item.value.count:,}")
            row.cover.show_photo(item.value.key_asset_id)

        row.handler = item.connect("notify::version", show)
        show()

    def unbind_album(self, cell, row, item):
        item.disconnect(row.handler)
        row.cover.show_photo(None)

    def open_album(self):
        if self.following:
            self.following.close()
        photos = self.photos = PhotoList()
        self.selection.set_model(photos)
        if item := self.chosen_album.get_selected_item():
            self.following = self.library.observe(f"id:{item.value.id}")
            self.follow(self.following, lambda change: self.show_change(photos, change))

    def show_change(self, photos: PhotoList, change: photod.FetchResultChange):
        photos.apply(change)
        if photos is self.photos:
            self.show_count()
            self.prefetch()

    def show_count(self):
        count = self.selection.get_selection().get_size()
        self.choose_button.set_sensitive(count > 0)
        self.set_title(f"{count:,} of {len(self.photos.ids):,} Photos" if count else "Choose Photos")
        self.stack.set_visible_child_name("grid")
        if not self.photos.ids:
            self.show_message("No Photos")

    def show_message(self, text: str):
        self.message.set_label(text)
        self.stack.set_visible_child_name("message")

    def setup_photo(self, cell):
        cell.set_child(Thumbnail(self.images, CELL))

    def bind_photo(self, cell, thumbnail, item):
        self.cells.add(cell)
        thumbnail.handler = item.connect("notify::version", lambda *_: thumbnail.show_photo(item.value))
        thumbnail.show_photo(item.value)
        GLib.idle_add(self.prefetch)

    def unbind_photo(self, cell, thumbnail, item):
        self.cells.remove(cell)
        item.disconnect(thumbnail.handler)
        thumbnail.show_photo(None)

    def prefetch(self):
        """Makes the pictures that come next in the direction of the scrolling."""
        positions = [cell.get_position() for cell in self.cells]
        first, last = min(positions, default=0), max(positions, default=0)
        is_down = first >= self.last_position
        self.last_position = first
        ids = self.photos.ids
        # The nearest photos come first.
        wanted = ids[last + 1 : last + 1 + AHEAD] if is_down else ids[max(0, first - AHEAD) : first][::-1]
        size = (CELL * self.get_scale_factor(),) * 2
        if stopped := self.cached - set(wanted):
            self.images.stop_caching(list(stopped), size, "aspectFill")
        if started := [id for id in wanted if id not in self.cached]:
            self.images.start_caching(started, size, "aspectFill")
        self.cached = set(wanted)

    def press(self, _, key, code, state):
        if key == Gdk.KEY_Escape:
            self.close()
        elif key in (Gdk.KEY_Return, Gdk.KEY_KP_Enter) and self.choose_button.get_sensitive():
            self.choose()
        else:
            return False
        return True

    def choose(self):
        selected = self.selection.get_selection()
        ids = [self.photos.ids[selected.get_nth(index)] for index in range(selected.get_size())]
        try:
            assets = self.library.assets(ids)
        except photod.PhotodError as error:
            # For example while photod is restarted. The selection stays, so a person can try again.
            return self.set_title(str(error))
        self.get_application().chosen = [asset.path for asset in assets]
        self.close()


class Picker(Gtk.Application):
    """`chosen` has the paths of the chosen photos when it has run."""

    def __init__(self, library: photod.Library, images: photod.ImageManager):
        super().__init__(application_id="org.photod.Picker", flags=Gio.ApplicationFlags.NON_UNIQUE)
        self.library, self.images = library, images
        self.chosen: list[str] = []

    def do_activate(self):
        style = Gtk.CssProvider()
        style.load_from_data(STYLE.encode())
        Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), style, 600)
        Window(self).present()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", help="the socket of photod (default: that of your own photod)")
    with photod.Library(parser.parse_args().socket) as library, photod.ImageManager(library) as images:
        picker = Picker(library, images)
        picker.run()
    print("".join(f"{path}\n" for path in picker.chosen), end="")
    return 0 if picker.chosen else 1


if __name__ == "__main__":
    sys.exit(main())
