"""Pictures of a real photod, made by the real photod-image."""

import random
import signal
import threading
import unittest
import unittest.mock

from support import PATIENCE, Daemon, eventually

import photod

SIZE = (256, 256)


def is_jpeg(data):
    return data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"


class ImageTests(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(photo_count=20))
        self.library = self.enterContext(self.daemon.library())
        self.images = self.enterContext(photod.ImageManager(self.library))
        self.ids = list(self.library.fetch_ids())

    def test_a_picture_has_its_file_and_its_revision(self):
        image = self.images.image(self.ids[0], (64, 64), timeout=PATIENCE)
        self.assertTrue(is_jpeg(image.data()))
        self.assertEqual(len(image.data()), image.byte_count)
        with open(image.path, "rb") as file:
            self.assertEqual(file.read(), image.data())
        self.assertEqual(image.revision, self.library.assets(self.ids[:1])[0].revision)
        self.assertTrue(image.is_final and not image.is_degraded and image.content_type == "image/jpeg")
        self.assertLessEqual(max(image.width, image.height), 128)

    def test_results_are_one_degraded_picture_at_most_and_a_final_one(self):
        for id in self.ids:
            results = list(self.images.request(id, SIZE))
            self.assertIn([image.is_final for image in results], [[True], [False, True]])
            # The picture is kept now, so it is the only result.
            self.assertEqual([image.is_final for image in self.images.request(id, SIZE)], [True])

    def test_options(self):
        png = self.images.image(
            self.ids[0], (30, 30), "aspectFill",
            photod.ImageOptions(delivery_mode="highQuality", resize_mode="exact", format="png"), timeout=PATIENCE,
        )  # fmt: skip
        self.assertEqual((png.content_type, png.data()[:4]), ("image/png", b"\x89PNG"))
        self.assertEqual(min(png.width, png.height), 30)
        whole = self.images.image(self.ids[0], None, timeout=PATIENCE)
        asset = self.library.assets(self.ids[:1])[0]
        self.assertEqual((whole.width, whole.height), (asset.pixel_width, asset.pixel_height))

    def test_data_instead_of_paths(self):
        with photod.ImageManager(self.library, wants_data=True) as images:
            image = images.image(self.ids[0], SIZE, timeout=PATIENCE)
            self.assertIsNone(image.path)
            self.assertTrue(is_jpeg(image.data()))
            self.assertEqual(image.data(), self.images.image(self.ids[0], SIZE, timeout=PATIENCE).data())

    def test_a_missing_picture_has_a_reason(self):
        with self.assertRaises(photod.NoImage) as caught:
            self.images.image(10**15, SIZE, timeout=PATIENCE)
        self.assertEqual(caught.exception.kind, "noSuchAsset")
        self.assertTrue(caught.exception.remedy)
        with self.assertRaises(photod.NoImage):
            list(self.images.request(10**15, SIZE))
        # One refused request does not harm the session.
        with self.assertRaises(photod.InvalidParameter):
            self.images.image(self.ids[0], (0, 5), timeout=PATIENCE)
        self.assertTrue(is_jpeg(self.images.image(self.ids[0], SIZE, timeout=PATIENCE).data()))

    def test_nothing_comes_after_a_cancellation(self):
        generator = random.Random(2)
        late, cancelled = [], set()
        lock = threading.Lock()
        done = set()

        def request(number):
            def on_image(image):
                with lock:
                    if number in cancelled:
                        late.append(number)
                    if image.is_final:
                        done.add(number)

            side = generator.randrange(100, 1_000)
            return self.images.request(
                generator.choice(self.ids), (side, side), options=photod.ImageOptions(resize_mode="exact"),
                on_image=on_image,
            )  # fmt: skip

        # 1,000 reused cells, as under fast scrolling.
        cells = {}
        for number in range(1_000):
            cell = number % 12
            if cell in cells:
                earlier, results = cells[cell]
                results.cancel()
                with lock:
                    cancelled.add(earlier)
            cells[cell] = (number, request(number))
        for _, results in cells.values():
            self.assertTrue(results.final(PATIENCE).is_final)
        self.assertTrue(self.images.sent(PATIENCE))
        self.assertEqual(late, [])
        self.assertTrue({number for number, _ in cells.values()} <= done)
        statistics = self.images.statistics()
        self.assertLess(statistics.made, 1_000)
        self.assertEqual((statistics.queued, self.images._session._sent_count), (0, 0))

    def test_a_cancelled_iteration_ends(self):
        self.daemon.process.send_signal(signal.SIGSTOP)
        results = self.images.request(self.ids[0], SIZE)
        threading.Timer(0.05, results.cancel).start()
        self.assertEqual(list(results), [])
        other = self.images.request(self.ids[0], SIZE)
        other.cancel()
        with self.assertRaises(photod.Cancelled):
            other.final(PATIENCE)
        self.daemon.process.send_signal(signal.SIGCONT)

    def test_a_result_that_waits_does_not_come_after_a_cancellation(self):
        arrived = threading.Event()
        results = self.images.request(self.ids[0], SIZE, on_image=lambda image: image.is_final and arrived.set())
        self.assertTrue(arrived.wait(PATIENCE))
        results.cancel()
        self.assertEqual(list(results), [])
        with self.assertRaises(photod.Cancelled):
            results.final(PATIENCE)

    def test_the_final_picture_can_be_read_again(self):
        results = self.images.request(self.ids[0], SIZE)
        final = results.final(PATIENCE)
        results.cancel()
        self.assertEqual(results.final(PATIENCE), final)
        self.assertEqual(list(results), [])
        failed = self.images.request(10**15, SIZE)
        for _ in range(2):
            with self.assertRaises(photod.NoImage):
                failed.final(PATIENCE)

    def test_a_request_that_json_cannot_encode_is_refused(self):
        for id, size, options in [
            ("1", SIZE, None),
            (self.ids[0], (1.5, 2), None),
            (self.ids[0], SIZE, photod.ImageOptions(format=object())),
        ]:
            with self.assertRaises(TypeError):
                self.images.request(id, size, options=options)
        with self.assertRaises(TypeError):
            self.images.start_caching([object()], SIZE)
        # A fault that is found only in the thread of the requests fails these, and no later one.
        with unittest.mock.patch("photod.images._request", lambda *_: {"assetID": object()}):
            results = self.images.request(self.ids[0], SIZE)
        with self.assertRaises(photod.PhotodError):
            results.final(PATIENCE)
        self.assertTrue(self.images.image(self.ids[0], SIZE, timeout=PATIENCE).is_final)

    def test_a_slow_callback_holds_up_no_other_request(self):
        began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

        def wait(image):
            began.set()
            self.assertTrue(go_on.wait(PATIENCE))
            ended.set()

        slow = self.images.request(self.ids[0], SIZE, options=photod.ImageOptions(delivery_mode="highQuality"), on_image=wait)
        self.assertTrue(began.wait(PATIENCE))
        made = threading.Event()

        def work():
            self.images.request(self.ids[1], SIZE).cancel()
            made.set()

        threading.Thread(target=work, daemon=True).start()
        self.assertTrue(made.wait(PATIENCE))
        self.assertFalse(ended.is_set())
        # The cancellation of the same request waits for its callback.
        threading.Timer(0.05, go_on.set).start()
        slow.cancel()
        self.assertTrue(ended.is_set())

    def test_threads_share_a_manager(self):
        failures = []

        def work(seed):
            generator = random.Random(seed)
            for _ in range(30):
                results = self.images.request(generator.choice(self.ids), SIZE)
                if generator.random() < 0.3:
                    results.cancel()
                elif not is_jpeg(results.final(PATIENCE).data()):
                    failures.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(failures, [])

    def test_a_callback_may_request_and_cancel_and_fail(self):
        got, errors = threading.Event(), []

        def again(image):
            if image.is_final:
                results = self.images.request(self.ids[1], SIZE, on_image=lambda _: got.set())
                self.images.request(self.ids[2], SIZE).cancel()
                self.assertIsNotNone(results)
                raise ZeroDivisionError

        with unittest.mock.patch("threading.excepthook", lambda arguments: errors.append(arguments.exc_type)):
            self.images.request(self.ids[0], SIZE, on_image=again)
            self.assertTrue(got.wait(PATIENCE))
        self.assertEqual(errors, [ZeroDivisionError])
        failed = threading.Event()
        self.images.request(10**15, SIZE, on_failure=lambda error: failed.set())
        self.assertTrue(failed.wait(PATIENCE))

    def test_caching_makes_pictures_before_they_are_requested(self):
        self.images.start_caching(self.ids, SIZE)
        eventually(lambda: self.images.statistics().made >= len(self.ids), "all are made")
        before = self.images.statistics()
        for id in self.ids:
            self.images.image(id, SIZE, timeout=PATIENCE)
        after = self.images.statistics()
        self.assertEqual(after.made, before.made)
        self.images.stop_caching(self.ids[:5], SIZE)
        self.images.stop_caching_all()
        self.assertTrue(self.images.sent(PATIENCE))

    def test_requests_and_caching_survive_a_restart(self):
        self.assertTrue(self.images.image(self.ids[0], SIZE, timeout=PATIENCE).is_final)
        for number in (signal.SIGKILL, signal.SIGTERM):
            self.daemon.stop(number)
            with photod.Library(self.daemon.socket) as library, self.assertRaises(photod.Unreachable):
                library.status()
            results = [self.images.request(id, SIZE) for id in self.ids]
            self.images.start_caching(self.ids, (512, 512))
            self.daemon.start()
            for result in results:
                self.assertTrue(is_jpeg(result.final(PATIENCE).data()))
            eventually(lambda: self.images.statistics().sessions == 1, "one session")

    def test_an_outage_that_lasts_fails_the_requests(self):
        with unittest.mock.patch("photod._image_session._PATIENCE", 0.2):
            self.daemon.stop()
            with self.assertRaises(photod.Unreachable):
                self.images.image(self.ids[0], SIZE, timeout=PATIENCE)
        self.daemon.start()
        self.assertTrue(self.images.image(self.ids[0], SIZE, timeout=PATIENCE).is_final)

    def test_caching_sets_are_kept_through_an_outage_that_lasts(self):
        with unittest.mock.patch("photod._image_session._PATIENCE", 0.2):
            self.daemon.stop()
            self.images.start_caching(self.ids[:5], SIZE)
            with self.assertRaises(photod.Unreachable):
                self.images.image(self.ids[0], SIZE, timeout=PATIENCE)
        self.images.stop_caching(self.ids[4:5], SIZE)
        self.daemon.start()
        self.images.start_caching(self.ids[5:10], SIZE)
        eventually(lambda: self.images.statistics().made >= 9, "the pictures of the sets are made")
        self.assertEqual(len(self.images._session._caching), 1)
        self.images.stop_caching(self.ids, SIZE)
        self.assertEqual(self.images._session._caching, {})

    def test_close_ends_requests_and_the_session(self):
        self.images.image(self.ids[0], SIZE, timeout=PATIENCE)
        self.assertEqual(self.images.statistics().sessions, 1)
        self.images.close()
        eventually(lambda: self.images.statistics().sessions == 0, "no session")
        self.assertTrue(self.images.image(self.ids[0], SIZE, timeout=PATIENCE).is_final)

    def test_make_images(self):
        asked = [*self.ids, 10**15]
        made = dict(photod.make_images(self.library, asked, SIZE))
        self.assertEqual(set(made), set(asked))
        self.assertEqual(made[10**15].kind, "noSuchAsset")
        self.assertTrue(all(is_jpeg(made[id].data()) for id in self.ids))
        data = dict(photod.make_images(self.library, self.ids[:2], SIZE, wants_data=True))
        self.assertEqual([data[id].data() for id in self.ids[:2]], [made[id].data() for id in self.ids[:2]])
        # More than one call may have.
        many = list(photod.make_images(self.library, [10**15] * 250, SIZE))
        self.assertEqual(len(many), 250)

    def test_read_resource(self):
        asset = self.library.assets(self.ids[:1])[0]
        with open(asset.path, "rb") as file:
            content = file.read()
        pages = list(photod.read_resource(self.library, asset.id))
        self.assertEqual(b"".join(page.data for page in pages), content)
        [page] = photod.read_resource(self.library, asset.id, offset=2, count=3, if_revision=asset.revision)
        self.assertEqual((page.offset, page.data, page.total), (2, content[2:5], len(content)))
        with self.assertRaises(photod.ResourceChanged):
            list(photod.read_resource(self.library, asset.id, if_revision="other"))
        with self.assertRaises(photod.NoSuchResource):
            list(photod.read_resource(self.library, asset.id, 9))


if __name__ == "__main__":
    unittest.main()
