"""The calls of the package to a real photod with real photos."""

import threading
import unittest

from support import PATIENCE, Daemon

import photod


class LibraryTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(photo_count=14))

    def setUp(self):
        self.library = self.enterContext(self.daemon.library("python-tests"))

    def test_fetch(self):
        by_name = photod.FetchOptions(
            predicate="filename BEGINSWITH 'p'", sort_descriptors=(photod.SortDescriptor("filename"),)
        )
        assets = list(self.library.fetch(by_name))
        names = [asset.filename for asset in assets]
        self.assertEqual(names, [f"p{number:04}.jpg" for number in range(1, 15)])
        self.assertEqual({asset.media_type for asset in assets}, {"image"})
        pages = list(self.library.fetch_pages(by_name, offset=2, page_size=5))
        self.assertEqual([(page.offset, len(page.assets)) for page in pages], [(2, 5), (7, 5), (12, 2)])
        self.assertEqual(pages[0].total, 14)
        page = self.library.fetch_page(by_name, offset=13, count=9)
        self.assertEqual(page.assets, tuple(assets[13:]))
        ids = self.library.fetch_ids(by_name)
        self.assertEqual(list(ids), [asset.id for asset in assets])
        self.assertEqual(list(self.library.fetch("smart:videos")), [])

    def test_assets_by_ids_and_paths(self):
        ids = list(self.library.fetch_ids())
        asked = [ids[3], 10**15, ids[1]]
        self.assertEqual([asset.id for asset in self.library.assets(asked)], [ids[3], ids[1]])
        self.assertEqual(self.library.assets([]), [])
        # More ids than a call may have.
        self.assertEqual(len(self.library.assets(ids + list(range(10**12, 10**12 + 1_500)) + ids[:1])), len(ids) + 1)
        asset = self.library.assets(ids[:1])[0]
        self.assertEqual(self.library.find_assets([asset.path, "/nowhere.jpg"]), [asset.id, None])

    def test_a_fetch_that_is_left_closes_its_connection(self):
        def connections():
            return self.library.status().connection_count

        before = connections()
        pages = self.library.fetch_pages(page_size=1)
        next(pages)
        self.assertEqual(connections(), before + 1)
        pages.close()
        for status in self.library.status_changes():
            if status.connection_count <= before + 1:  # this stream itself
                break

    def test_changes_in_one_transaction(self):
        ids = list(self.library.fetch_ids())[:3]
        result = self.library.perform_changes(
            photod.CreateFolder("Trips"),
            photod.CreateAlbum("Rome", asset_ids=ids[:2], parent_id=-1),
            photod.CreateSmartAlbum("Stars", predicate="rating == 5"),
            photod.EditAssets(ids[2:], rating=5, title="Trevi", add_keywords=["sea", "rome"]),
        )
        folder, album, smart = result.created_collection_ids
        self.assertEqual(list(self.library.fetch_ids(f"id:{album}")), ids[:2])
        self.assertEqual(list(self.library.fetch_ids("Stars")), ids[2:])
        [edited] = self.library.assets(ids[2:])
        self.assertEqual((edited.title, edited.rating, edited.keywords), ("Trevi", 5, ("sea", "rome")))
        [data] = self.library.user_data(ids[2:])
        self.assertEqual((data.title, data.rating, set(data.added_keywords)), ("Trevi", 5, {"rome", "sea"}))
        self.assertIn(data, list(self.library.user_data()))
        albums = {
            collection.id: collection for collection in self.library.collections(["album", "folder", "smartAlbum"])
        }
        self.assertEqual((albums[album].parent_id, albums[album].count), (folder, 2))
        self.assertEqual(albums[smart].query, photod.SmartAlbumQuery(predicate="rating == 5"))
        containing = self.library.collections(containing_asset=ids[0])
        self.assertIn(album, [collection.id for collection in containing])

        self.library.perform_changes(photod.EditAlbum(album, place_asset_ids=[ids[2]], before_asset_id=ids[0]))
        self.assertEqual(list(self.library.fetch_ids(f"id:{album}")), [ids[2], ids[0], ids[1]])
        with self.assertRaises(photod.ChangeRejected) as caught:
            self.library.perform_changes(
                photod.EditAssets(ids[:1], is_favorite=True), photod.EditCollection(folder, parent_id=folder)
            )
        self.assertEqual(caught.exception.request_index, 1)
        self.assertFalse(self.library.assets(ids[:1])[0].is_favorite)

        undoable = self.library.undoable_changes("client:python-tests")
        self.assertEqual(undoable[0].asset_count, 1)
        self.library.undo_change(undoable[0].id)
        self.assertEqual(list(self.library.fetch_ids(f"id:{album}")), ids[:2])
        self.library.perform_changes(
            photod.DeleteAlbum(folder), photod.DeleteAlbum(smart),
            photod.EditAssets(ids[2:], clear=["rating", "title", "keywords"]),
        )  # fmt: skip
        self.assertNotIn(album, [collection.id for collection in self.library.collections()])

    def test_history(self):
        ids = list(self.library.fetch_ids())[:2]
        before = self.library.status().token
        tokens = [
            self.library.perform_changes(photod.EditAssets(ids, is_hidden=hidden)).token for hidden in [True, False]
        ]
        changes = [change for change in self.library.persistent_changes(before) if change.updated_assets]
        self.assertEqual([change.token for change in changes], tokens)
        self.assertEqual({change.origin for change in changes}, {"client:python-tests"})
        self.assertEqual([set(change.updated_assets) for change in changes], [set(ids)] * 2)
        with self.assertRaises(photod.PhotodError):
            list(self.library.persistent_changes("nonsense"))

    def test_errors(self):
        with self.assertRaises(photod.InvalidPredicate) as caught:
            list(self.library.fetch(photod.FetchOptions(predicate="rating ==")))
        self.assertEqual(caught.exception.position, 9)
        self.assertTrue(caught.exception.remedy)
        with self.assertRaises(photod.NoSuchCollection) as missing:
            self.library.fetch_ids("smart:favourites")
        self.assertIn("smart:favorites", missing.exception.similar)
        with self.assertRaises(photod.UnknownKey) as unknown:
            self.library.fetch_page(photod.FetchOptions(sort_descriptors=(photod.SortDescriptor("shoeSize"),)))
        self.assertIn("id", unknown.exception.known)
        with self.assertRaises(photod.NoSuchAsset) as gone:
            self.library.perform_changes(photod.EditAssets([10**15], rating=1))
        self.assertEqual(gone.exception.ids, (10**15,))
        with self.assertRaises(photod.InvalidParameter):
            self.library.perform_changes(photod.CreateAlbum("a" * 1_001))
        with self.assertRaises(photod.ChangeRejected):
            self.library.perform_changes(photod.EditAssets([1], rating=6))
        with self.assertRaises(photod.NotInLibrary):
            self.library.rescan("/proc")
        with self.assertRaises(photod.MethodMissing):
            self.library.perform_changes(photod.TrashAssets([1]))
        # The same connection still works after all of these.
        self.assertEqual(self.library.status().state, "live")

    def test_an_option_that_photod_does_not_know_is_refused(self):
        with self.assertRaises(photod.InvalidParameter):
            self.library._connections.call("org.photod.library", "Fetch", {"options": {"includeDreams": True}})

    def test_other_calls(self):
        self.assertIn("creationDate", self.library.keys().sort_keys)
        values = self.library.values("mediaType")
        self.assertEqual((values.values, values.counts), (("image",), (14,)))
        self.assertEqual(self.library.values("year", limit=1, options="smart:videos").values, ())
        self.assertEqual(self.library.authorization().status, "authorized")
        self.assertEqual(self.library.request_authorization("readWrite").status, "authorized")
        path = str(self.daemon.photos / "p0001.jpg")
        self.assertTrue(self.library.explain(path).asset_id)
        scan = self.library.rescan(dry_run=True)
        self.assertEqual((scan.inserted, scan.updated, scan.removed), (0, 0, 0))
        status = self.library.status()
        self.assertEqual((status.asset_count, [root.state for root in status.roots]), (14, ["online"]))

    def test_threads_share_a_library(self):
        expected = list(self.library.fetch_ids())
        results = []

        def fetch():
            for _ in range(20):
                results.append(list(self.library.fetch_ids()) == expected)
                results.append(self.library.status().asset_count == 14)

        threads = [threading.Thread(target=fetch) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(results, [True] * 320)


class SocketTests(unittest.TestCase):
    def test_missing_sockets(self):
        with Daemon(photo_count=0) as daemon:
            with self.assertRaises(photod.Unreachable) as caught:
                photod.Library(daemon.socket + "-none").status()
            self.assertIn("there is no socket", caught.exception.message)
            # systemd serves the standard socket only.
            self.assertIn("Start the photod that serves this socket", caught.exception.remedy)
            with daemon.library() as library:
                library.status()
                daemon.restart()
                # The connection of the call before belongs to the earlier photod.
                self.assertEqual(library.status().state, "live")
                daemon.restart()
                self.assertEqual(library.perform_changes(photod.CreateAlbum("A")).created_collection_ids[1:], ())
                daemon.stop()
                with self.assertRaises(photod.Unreachable):
                    library.status()


if __name__ == "__main__":
    unittest.main()
