"""Lists that are observed stay equal to those of a real photod: through changes of all kinds, and its restarts."""

import contextlib
import random
import signal
import threading
import time
import unittest
import unittest.mock

from support import PATIENCE, Daemon, eventually

import photod
from photod import _connections
from photod.change_details import list_digest
from photod.following import FetchResultChanges

BY_NAME = photod.FetchOptions(sort_descriptors=(photod.SortDescriptor("filename"),))


class Observer:
    """Observes a list in a thread, and keeps a model with the edits of a GListModel."""

    def __init__(self, changes):
        self.changes = changes
        self.model = []
        self.seen = []
        self.error = None
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        try:
            for change in self.changes:
                for edit in change.list_model_edits():
                    self.model[edit.position : edit.position + edit.removed] = edit.ids
                self.seen.append(change)
        except BaseException as error:
            self.error = error

    def end(self):
        self.changes.close()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        if self.error:
            raise self.error


class ObservingTests(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon())
        self.library = self.enterContext(self.daemon.library("python-tests"))

    def observe(self, *arguments, **options):
        observer = Observer(self.library.observe(*arguments, **options))
        self.addCleanup(observer.end)
        eventually(lambda: observer.seen or observer.error, "the list comes")
        return observer

    def assert_equal_to_fetch(self, observer, options):
        """Waits until the model is the list of the library."""
        self.library.synchronize(PATIENCE)

        def is_equal():
            self.assertIsNone(observer.error)
            return observer.model == list(self.library.fetch_ids(options))

        eventually(is_equal, "the model equals a fetch")
        self.assertEqual(list(observer.changes.result), observer.model)

    def act(self, generator, number):
        """Changes something in the library."""
        photos = sorted(self.daemon.photos.rglob("*.jpg"))
        photo = generator.choice(photos)
        ids = list(self.library.fetch_ids())
        match generator.randrange(7):
            case 0 | 1:
                self.daemon.add()
            case 2:
                if len(photos) > 4:
                    photo.unlink()
            case 3:
                photo.rename(self.daemon.photos / f"q{number:04}.jpg")
            case 4:
                folder = self.daemon.photos / f"d{number % 3}"
                folder.mkdir(exist_ok=True)
                photo.rename(folder / photo.name)
            case 5:
                chosen = generator.sample(ids, min(3, len(ids)))
                self.edit(photod.EditAssets(chosen, is_favorite=generator.random() < 0.6))
            case 6:
                chosen = generator.sample(ids, min(2, len(ids)))
                self.edit(photod.EditAssets(chosen, rating=generator.randrange(6)))

    def edit(self, request):
        """Photos that were just deleted may still have been in the list."""
        with contextlib.suppress(photod.NoSuchAsset):
            self.library.perform_changes(request)

    def test_random_changes_and_restarts(self):
        generator = random.Random(5)
        lists = {
            "newest": photod.FetchOptions(),
            "names": BY_NAME,
            "favorites": photod.FetchOptions(collection="smart:favorites"),
            "best": photod.FetchOptions(sort_descriptors=(photod.SortDescriptor("rating", False),), fetch_limit=6),
        }
        observers = {name: self.observe(options) for name, options in lists.items()}
        for number in range(60):
            if number in (20, 40):
                # A kill, in the middle of what it does, and an orderly end.
                self.daemon.restart(signal.SIGKILL if number == 20 else signal.SIGTERM)
            self.act(generator, number)
            if number % 6 == 5:
                for name, options in lists.items():
                    self.assert_equal_to_fetch(observers[name], options)
        for observer in observers.values():
            self.assertEqual([change.reload for change in observer.seen if change.reload], [])
            self.assertEqual(sum(change.details is None for change in observer.seen), 1)

    def test_a_restart_brings_one_difference_at_most(self):
        observer = self.observe(BY_NAME)
        for number in range(5):
            self.daemon.stop()
            self.daemon.add(f"offline{number}a.jpg")
            self.daemon.add(f"offline{number}b.jpg")
            # The scan at the start may find both photos in two commits. A commit of one call is one difference.
            self.daemon.start()
            self.assert_equal_to_fetch(observer, BY_NAME)
        count = len(observer.seen)
        for _ in range(5):
            self.daemon.restart()
        [id] = self.library.fetch_ids(photod.FetchOptions(fetch_limit=1))
        self.library.perform_changes(photod.EditAssets([id], is_favorite=True))
        eventually(lambda: len(observer.seen) > count, "the change after the restarts")
        self.assertEqual(len(observer.seen), count + 1)
        self.assertEqual(observer.seen[-1].origin, "client:python-tests")
        self.assertEqual(list(observer.seen[-1].details.changed_fields), ["favorite"])
        self.assertTrue(all(change.details for change in observer.seen[1:]))

    def test_a_list_that_was_stored_continues_with_the_difference(self):
        with self.library.observe(BY_NAME) as changes:
            next(changes)
            stored, token = list(changes.result), changes.result.token
        self.daemon.stop()
        self.daemon.add("between.jpg")
        self.daemon.start()
        with self.library.observe(BY_NAME, result=photod.FetchResult(stored, token)) as changes:
            change = next(changes)
            self.assertEqual((list(change.before), change.reload), (stored, None))
            self.assertEqual(len(change.details.inserted_ids), 1)

    def test_another_list_under_the_token_is_replaced(self):
        token = self.library.fetch_ids(BY_NAME).token
        wrong = photod.FetchResult([1, 2, 10**9], token)
        with self.library.observe(BY_NAME, result=wrong) as changes:
            next(changes)
            self.assertEqual(list(changes.result), list(self.library.fetch_ids(BY_NAME)))

    def test_whole_assets_come_with_the_difference(self):
        observer = self.observe(BY_NAME, objects=True)
        path = self.daemon.add("whole.jpg")
        self.assert_equal_to_fetch(observer, BY_NAME)
        inserted = [asset for change in observer.seen for asset in change.inserted_assets or ()]
        self.assertEqual([asset.path for asset in inserted], [str(path)])
        self.library.perform_changes(photod.EditAssets([inserted[0].id], rating=4))
        eventually(lambda: observer.seen[-1].changed_assets, "the changed asset")
        self.assertEqual(observer.seen[-1].changed_assets[0].rating, 4)

    def test_reload_only_reports_changes_without_them(self):
        with self.library.observe(BY_NAME, reload_only=True) as changes:
            first = next(changes)
            self.daemon.add()
            change = next(changes)
            self.assertEqual((change.reload, change.details), ("notWanted", None))
            self.assertEqual(change.after, first.after)

    def test_a_fault_in_the_list_begins_it_anew(self):
        observer = self.observe(BY_NAME)
        # As if a difference had been lost.
        observer.changes.result._ids = observer.changes.result._ids[::-1]
        self.daemon.add()
        eventually(lambda: len(observer.seen) > 1, "the list comes again")
        self.assert_equal_to_fetch(observer, BY_NAME)
        self.assertIsNone(observer.seen[-1].details)

    def test_a_list_that_always_differs_is_fetched_less_and_less_often(self):
        observer = self.observe(BY_NAME)
        attempts = []

        def differ(_):
            attempts.append(time.monotonic())
            raise photod.OutOfStep("the list differs")

        observer.changes._take = differ
        self.daemon.add()
        eventually(lambda: observer.changes._fault_pause > 1, "the pauses grow")
        # With pauses that begin anew, there would be about twenty attempts a second.
        self.assertLess(len(attempts), 8)

    def test_close_ends_the_iteration_at_once(self):
        for end in (lambda changes: changes.close(), lambda _: self.library.close()):
            observer = self.observe(BY_NAME)
            count = len(observer.seen)
            end(observer.changes)
            observer.thread.join(PATIENCE)
            self.assertFalse(observer.thread.is_alive())
            self.assertIsNone(observer.error)
            self.daemon.add()
            self.library.synchronize(PATIENCE)
            self.assertEqual(len(observer.seen), count)
            self.assertEqual(list(observer.changes), [])
        # photod notices it, too.
        eventually(lambda: self.library.status().observer_count == 0, "photod has no observers")

    def test_close_ends_the_wait_for_photod(self):
        observer = self.observe(BY_NAME)
        self.daemon.stop()
        eventually(lambda: observer.changes._pause > 0.4, "it waits for photod")
        began = time.monotonic()
        observer.end()
        # Without the end of the pause, this would take up to two seconds more each time.
        self.assertLess(time.monotonic() - began, 60)

    def test_an_outage_can_be_an_error(self):
        observer = self.observe(BY_NAME, reconnects=False)
        self.daemon.stop()
        observer.thread.join(PATIENCE)
        self.assertIsInstance(observer.error, (photod.ConnectionClosed, photod.LibraryUnavailable))
        observer.error = None
        with self.assertRaises(photod.Unreachable):
            next(self.library.observe(BY_NAME))

    def test_collections(self):
        changes = self.library.observe_collections(["album", "smartAlbum"])
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(changes))
        thread.start()
        self.addCleanup(lambda: (changes.close(), thread.join(PATIENCE)))
        [album] = self.library.perform_changes(photod.CreateAlbum("Rome")).created_collection_ids
        ids = list(self.library.fetch_ids())[:4]

        def is_equal():
            return list(changes.list.collections) == self.library.collections(["album", "smartAlbum"])

        eventually(is_equal, "the albums with the new one")
        self.library.perform_changes(
            photod.EditAlbum(album, place_asset_ids=ids, key_asset_id=ids[2]), photod.EditAssets(ids, is_favorite=True)
        )
        eventually(is_equal, "the counts and the cover")
        self.daemon.restart()
        self.library.perform_changes(photod.EditAlbum(album, title="Roma"))
        eventually(is_equal, "the title after a restart")
        self.library.perform_changes(photod.DeleteAlbum(album))
        eventually(is_equal, "the albums without it")
        self.assertGreaterEqual(len(seen), 3)
        self.assertTrue(any(change.details for change in seen))

    def test_history_through_a_restart(self):
        changes = self.library.follow_persistent_changes(self.library.status().token)
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(changes))
        thread.start()
        self.addCleanup(lambda: (changes.close(), thread.join(PATIENCE)))
        tokens = []
        for number in range(6):
            ids = list(self.library.fetch_ids())[:2]
            tokens.append(self.library.perform_changes(photod.EditAssets(ids, rating=number)).token)
            if number == 2:
                self.daemon.restart(signal.SIGKILL)

        def own():
            return [change.token for change in list(seen) if change.origin == "client:python-tests"]

        eventually(lambda: len(own()) == len(tokens), "all commits")
        self.assertEqual(own(), tokens)
        eventually(lambda: changes.token == seen[-1].token, "the token to store")

    def test_status_changes(self):
        with self.library.status_changes() as statuses:
            first = next(statuses)
            self.daemon.add()
            for status in statuses:
                if status.asset_count == first.asset_count + 1:
                    break

    def test_long_lists_are_resumed_by_their_digest(self):
        ids = list(range(1, 4_000))
        changes = self.library.observe(result=photod.FetchResult(ids, "t"))
        self.assertEqual(changes._parameters()["sinceIDs"], ids)
        with unittest.mock.patch("photod.following._MOST_BYTES_OF_IDS", 1_000):
            self.assertEqual(set(changes._parameters()), {"options", "since", "sinceDigest"})


class LostConnections:
    """Connections to a photod that is replaced by scripted streams. Each ends as if photod died."""

    def __init__(self, *streams):
        self.streams = iter(streams)
        self.count = 0

    def stream(self, interface, method, parameters):
        self.count += 1
        return unittest.mock.Mock(), self.replies(next(self.streams))

    def replies(self, observations):
        for observation in observations:
            yield {"observation": observation}
        raise photod.ConnectionClosed("photod died")


class FollowingTests(unittest.TestCase):
    def test_a_new_list_that_breaks_off_is_forgotten(self):
        page = {"token": "l.1.2", "count": 3, "digest": list_digest([7, 8, 9]), "offset": 0, "ids": [7]}
        difference = {
            "token": "l.1.3", "previousToken": "l.1.1", "count": 1, "digest": list_digest([2]),
            "details": {"countBefore": 2, "countAfter": 1, "removedBefore": [{"start": 0, "count": 1}]},
        }  # fmt: skip
        connections = LostConnections([page], [difference])
        result = photod.FetchResult([1, 2], "l.1.1")
        changes = FetchResultChanges(connections, photod.FetchOptions(), result, False, False, True)
        change = next(changes)
        self.assertEqual((connections.count, list(change.after)), (2, [2]))
        self.assertIsNotNone(change.details)


class StreamTests(unittest.TestCase):
    def test_default_socket(self):
        path = "/run/user/7/photod/photod.sock"
        for variables, expected in [
            ({"XDG_RUNTIME_DIR": "/run/user/7/"}, f"^{path}$"),
            ({"XDG_RUNTIME_DIR": "relative"}, "^/run/user/[0-9]+/photod/photod.sock$"),
            ({"XDG_RUNTIME_DIR": "/run/user/7", "PHOTOD_SOCKET": "/tmp/s"}, "^/tmp/s$"),
            ({"XDG_RUNTIME_DIR": "/run/user/7", "PHOTOD_SOCKET": ""}, f"^{path}$"),
        ]:
            with unittest.mock.patch.dict("os.environ", variables, clear=True):
                self.assertRegex(_connections.default_socket_path(), expected)


if __name__ == "__main__":
    unittest.main()
