"""Pictures of the library's assets at the size in which they are shown."""

from __future__ import annotations

import base64
import json
import operator
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ._connections import IMAGES
from ._records import Record
from .errors import Cancelled, MalformedReply, NoImage, PhotodError, SnapshotExpired

if TYPE_CHECKING:
    from ._image_session import ImageSession
    from .library import Library

ContentMode = Literal["aspectFit", "aspectFill"]
DeliveryMode = Literal["opportunistic", "highQuality", "fast"]
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ImageOptions(Record):
    """How a picture is made. The contract `org.photod.images` explains each member.

    delivery_mode: opportunistic (default): at once what there is, then the final picture;
        highQuality: only the final one;
        fast: one picture, which may be degraded.
    resize_mode: fast (default): the smallest kept size that fills the frame; exact: as large as the frame asks.
    version: current (default) or original.
    resource: another file of the asset, by its index.
    at_seconds: of a video, the time of the frame.
    format: jpeg (default) or png.
    """

    delivery_mode: DeliveryMode | None = None
    resize_mode: Literal["fast", "exact"] | None = None
    version: Literal["current", "original"] | None = None
    resource: int | None = None
    at_seconds: float | None = None
    format: Literal["jpeg", "png"] | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture. Cache it by the id of the asset, revision and size.

    is_degraded: it is smaller than asked for, or comes from the camera.
    is_final: no other result follows.
    path: its file, which stays readable for 60 s. Pictures that a camera embedded have no file.
    """

    content_type: str
    width: int
    height: int
    byte_count: int
    is_degraded: bool
    revision: str
    is_final: bool
    path: str | None = None
    _data: str | None = field(default=None, repr=False)
    _image_id: str | None = field(default=None, repr=False)
    _session: ImageSession | None = field(default=None, repr=False, compare=False)

    def data(self) -> bytes:
        """The bytes of the picture, within 60 s after it came. Raises SnapshotExpired if it came longer ago."""
        if self._data is not None:
            return base64.b64decode(self._data)
        if self.path is not None:
            try:
                with open(self.path, "rb") as file:
                    return file.read()
            except FileNotFoundError:
                raise SnapshotExpired(f"the picture {self.path} is gone", "Request it again.") from None
            except OSError as error:
                raise PhotodError(f"{self.path} can't be read: {error.strerror}", "Check its permissions.") from None
        if self._image_id is not None and self._session is not None:
            return self._session.read_image(self._image_id)
        raise MalformedReply("a picture has neither a path nor data")


_thread = threading.local()


class ImageResults:
    """The results of one request: at most one degraded picture, and the final one. Iterate over it, or call `final`.

    The iteration raises NoImage if there is no picture. It ends without one when the request is cancelled, which any
    thread may do. After `cancel` has returned, there is no further result, and no call of `on_image` or `on_failure`.
    """

    def __init__(
        self, cancel: Callable[[ImageResults], None], on_image: Callable[[Image], None] | None,
        on_failure: Callable[[PhotodError], None] | None,
    ):  # fmt: skip
        self._cancel = cancel
        self._on_image = on_image
        self._on_failure = on_failure
        self._results: queue.SimpleQueue[Image | PhotodError | None] = queue.SimpleQueue()
        # Held while a result is delivered, so that none comes after a cancellation.
        self._delivery = threading.Lock()
        self._is_cancelled = False
        # Whether the last result was delivered, and whether a reader has got it.
        self._is_complete = False
        self._has_ended = False

    def cancel(self) -> None:
        """Ends the request. Work that has not begun never begins. It has no effect after a reader has got the final result.

        It waits for a callback of this request that runs in another thread, except if it is called in a callback.
        """
        self._cancel(self)
        self._end()

    def final(self, timeout: float | None = None) -> Image:
        """The final picture, also a second time. Raises NoImage, Cancelled, or TimeoutError."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                result = self._next(None if deadline is None else max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError("the final picture has not come yet") from None
            if isinstance(result, PhotodError):
                raise result
            if result is None:
                raise Cancelled("the request was cancelled")
            if result.is_final:
                return result

    def __iter__(self) -> Iterator[Image]:
        while not self._has_ended:
            result = self._next(None)
            if isinstance(result, PhotodError):
                raise result
            if result is not None:
                yield result

    def _next(self, timeout: float | None) -> Image | PhotodError | None:
        """The next result; None if the request was cancelled. The last one stays in the queue for later calls."""
        result = self._results.get(timeout=timeout)
        is_last = not isinstance(result, Image) or result.is_final
        if self._is_cancelled and not self._has_ended:
            result, is_last = None, True
        if is_last:
            self._has_ended = True
            self._results.put(result)
        return result

    def _end(self) -> None:
        """Ends the request without a result, and waits for a callback of it that runs in another thread."""
        if not self._has_ended:
            self._is_cancelled = True
            self._results.put(None)
        # Two callbacks that cancelled each other's requests would wait for ever.
        if not getattr(_thread, "is_in_callback", False):
            with self._delivery:
                pass

    def _deliver(self, result: Image | PhotodError) -> None:
        with self._delivery:
            if self._is_cancelled or self._is_complete:
                return
            self._is_complete = not isinstance(result, Image) or result.is_final
            self._results.put(result)
            _thread.is_in_callback = True
            try:
                if isinstance(result, Image) and self._on_image:
                    self._on_image(result)
                elif isinstance(result, PhotodError) and self._on_failure:
                    self._on_failure(result)
            except Exception as error:
                # The fault of one callback must not keep results from the others.
                thread = threading.current_thread()
                threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))
            finally:
                _thread.is_in_callback = False


class ImageManager:
    """Requests and caches pictures, as PhotoKit's PHCachingImageManager.

        with photod.ImageManager(library) as images:
            for image in images.request(asset.id, (256, 256)):
                show(image.data())          # a small picture at once, then the final one

    All requests of a manager are one session of photod. It is opened for the first request, and uses two connections
    and two threads. Use one manager for all views of a program. If photod is restarted, the requests without a final
    result are repeated in another session.
    """

    def __init__(self, library: Library, wants_data: bool = False):
        """wants_data: photod sends the bytes of pictures instead of paths, for a program that can't open files."""
        from ._image_session import ImageSession

        self._library = library
        self._session = ImageSession(library._connections, wants_data)

    def request(
        self, asset_id: int, size: Size | None, content_mode: ContentMode = "aspectFit",
        options: ImageOptions | None = None, *, on_image: Callable[[Image], None] | None = None,
        on_failure: Callable[[PhotodError], None] | None = None,
    ) -> ImageResults:  # fmt: skip
        """Requests a picture, and returns at once.

        size: the frame in pixels; None for the picture's own size.
        on_image, on_failure: are called with each result on a thread of the manager. The results of other requests wait
            meanwhile. They must not wait for a thread that cancels this request. A program with a main loop passes the result on to it, as by
            GLib.idle_add. The first call may come before the caller has stored the value that this returns.
        """
        return self._session.request(_request(asset_id, size, content_mode, options), on_image, on_failure)

    def image(
        self, asset_id: int, size: Size | None, content_mode: ContentMode = "aspectFit",
        options: ImageOptions = ImageOptions(delivery_mode="highQuality"), timeout: float | None = None,
    ) -> Image:  # fmt: skip
        """Waits for the final picture. Raises NoImage, or TimeoutError."""
        results = self.request(asset_id, size, content_mode, options)
        try:
            return results.final(timeout)
        finally:
            results.cancel()

    def start_caching(self, asset_ids: Sequence[int], size: Size, content_mode: ContentMode = "aspectFit") -> None:
        """Makes pictures before they are requested, while photod has nothing else to do; at most 50,000."""
        self._session.start_caching(_integers(asset_ids), _frame(size, content_mode))

    def stop_caching(self, asset_ids: Sequence[int], size: Size, content_mode: ContentMode = "aspectFit") -> None:
        """Takes pictures out of the set. Those that were made stay."""
        self._session.stop_caching(_integers(asset_ids), _frame(size, content_mode))

    def stop_caching_all(self) -> None:
        """Empties the set."""
        self._session.stop_caching_all()

    def sent(self, timeout: float | None = None) -> bool:
        """Waits until photod has replied to all that was sent before. Returns false after the timeout."""
        return self._session.sent(timeout)

    def statistics(self) -> ImageStatistics:
        """The work of photod on pictures now, and since its start."""
        return ImageStatistics.from_message(self._library._connections.call(IMAGES, "Statistics", {}))

    def close(self) -> None:
        """Ends the session and its requests. The next request opens another session."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class ImageStatistics(Record):
    """The work of photod on pictures. The contract `org.photod.images` explains each member."""

    sessions: int
    queued: int
    running: int
    made: int
    cache_hits: int
    failed: int
    undelivered: int
    bytes: int
    maximum_bytes: int


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """A part of a file that begins at `offset`. `total` is the size of the file."""

    offset: int
    data: bytes
    total: int
    revision: str


def make_images(
    library: Library, asset_ids: Sequence[int], size: Size | None, content_mode: ContentMode = "aspectFit",
    options: ImageOptions | None = None, wants_data: bool = False,
) -> Iterator[tuple[int, Image | PhotodError]]:  # fmt: skip
    """Makes pictures over one connection, for programs that want a few: the ids with their pictures, as they come."""
    for start in range(0, len(asset_ids), 100):
        ids = asset_ids[start : start + 100]
        requests = [{"id": index, **_request(id, size, content_mode, options)} for index, id in enumerate(ids)]
        parameters: dict[str, Any] = {"requests": requests}
        if wants_data:
            parameters["wantsData"] = True
        _, replies = library._connections.stream(IMAGES, "MakeImages", parameters)
        for reply in replies:
            for result in reply["results"]:
                yield ids[result["requestID"]], read_result(result)


def read_resource(
    library: Library, asset_id: int, resource: int = 0, offset: int | None = None, count: int | None = None,
    if_revision: str | None = None,
) -> Iterator[ResourcePage]:  # fmt: skip
    """The bytes of one file of an asset, in pages, for programs that can't open files.

    Raises ResourceChanged if the file changes meanwhile, or the asset has another revision. Discard what was read then.
    """
    given = {"assetID": asset_id, "resource": resource, "offset": offset, "count": count, "ifRevision": if_revision}
    parameters = {name: value for name, value in given.items() if value is not None}
    _, replies = library._connections.stream(IMAGES, "ReadResource", parameters)
    for reply in replies:
        yield ResourcePage(reply["offset"], base64.b64decode(reply["data"]), reply["total"], reply["revision"])


def read_result(result: dict[str, Any], session: ImageSession | None = None) -> Image | PhotodError:
    """Returns the picture of a result of the contract, or the reason why there is none."""
    try:
        if failure := result.get("failure"):
            return NoImage(failure["kind"], failure["message"])
        image = result["image"]
        return Image(
            image["contentType"], image["width"], image["height"], image["byteCount"], image["isDegraded"],
            image["revision"], result["isFinal"], image.get("path"), image.get("data"), image.get("imageID"), session,
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        return MalformedReply(f"a result of a picture has no {error}")


def _request(
    asset_id: int, size: Size | None, content_mode: ContentMode, options: ImageOptions | None
) -> dict[str, Any]:
    # Requests are encoded later, together and in another thread. A fault must be an exception here.
    request: dict[str, Any] = {"assetID": _integer(asset_id, "asset id"), "contentMode": str(content_mode)}
    if size is not None:
        width, height = size
        request |= {"targetWidth": _integer(width, "width"), "targetHeight": _integer(height, "height")}
    if options is not None:
        request |= options.to_message()
        json.dumps(request, allow_nan=False)
    return request


def _integer(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"the {name} {value!r} is of the type {type(value).__name__}; it must be an int") from None


def _integers(asset_ids: Sequence[int]) -> list[int]:
    return [_integer(id, "asset id") for id in asset_ids]


def _frame(size: Size, content_mode: ContentMode) -> tuple[int, int, str]:
    width, height = size
    return _integer(width, "width"), _integer(height, "height"), str(content_mode)
