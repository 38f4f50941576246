"""The session of an ImageManager: one connection for results, and one for requests."""

from __future__ import annotations

import base64
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ._connections import IMAGES, Connection, Connections
from .errors import (
    ConnectionClosed,
    LibraryUnavailable,
    MalformedReply,
    PhotodError,
    SnapshotExpired,
    Unreachable,
)
from .images import Image, ImageResults, read_result

Frame = tuple[int, int, str]

# The contract's limits.
_MOST_PER_CALL = 1_000
_MOST_CANCELLED = 10_000
_MOST_OPEN = 10_000
# How long photod may be away, in seconds. It may be restarting.
_PATIENCE = 10.0


@dataclass
class _Pending:
    """A request without a final result."""

    request: dict[str, Any]
    results: ImageResults
    is_sent: bool = False
    has_degraded: bool = False


@dataclass(eq=False)
class _Open:
    """A session of photod."""

    name: str
    stream: Connection
    calls: Connection

    def close(self) -> None:
        self.stream.close()
        self.calls.close()


# An operation is ("request", id), ("start", ids, frame), ("stop", ids, frame) or ("stopAll",).
_Operation = tuple[Any, ...]


class ImageSession:
    """Sends requests from one thread, in their order, and cancellations before them. Delivers results from another thread.

    If the session is lost, the sender opens another one. It repeats the requests without a final result, and the
    caching sets.
    """

    def __init__(self, connections: Connections, wants_data: bool):
        self._connections = connections
        self._wants_data = wants_data
        # Protects all that follows. Callbacks are called without it, so that a slow one holds up no request.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._last_id = 0
        self._pending: dict[int, _Pending] = {}
        # The open requests as photod counts them: a cancelled one until photod has replied to the cancellation.
        self._sent_count = 0
        self._operations: deque[_Operation] = deque()
        # The sent requests whose cancellation is not sent. They come first, because they make room for requests.
        self._cancelled: list[int] = []
        # The results that are being delivered, by thread.
        self._delivering: dict[int, ImageResults] = {}
        # The ids of each frame, in the order in which they were asked for.
        self._caching: dict[Frame, dict[int, None]] = {}
        self._open: _Open | None = None
        self._sender: threading.Thread | None = None
        self._is_sending = False
        # Whether photod was away for so long that the sender stopped trying, until the next operation.
        self._has_given_up = False

    # Operations

    def request(
        self, request: dict[str, Any], on_image: Callable[[Image], None] | None,
        on_failure: Callable[[PhotodError], None] | None,
    ) -> ImageResults:  # fmt: skip
        with self._lock:
            self._last_id += 1
            id = self._last_id
            results = ImageResults(lambda _: self._cancel(id), on_image, on_failure)
            self._pending[id] = _Pending({"id": id, **request}, results)
            self._has_given_up = False
            self._send(("request", id))
            return results

    def start_caching(self, ids: Sequence[int], frame: Frame) -> None:
        with self._lock:
            if not ids:
                return
            self._caching.setdefault(frame, {}).update(dict.fromkeys(ids))
            self._has_given_up = False
            self._send(("start", list(ids), frame))

    def stop_caching(self, ids: Sequence[int], frame: Frame) -> None:
        with self._lock:
            if frame in self._caching:
                for id in ids:
                    self._caching[frame].pop(id, None)
                if not self._caching[frame]:
                    del self._caching[frame]
            if self._open:
                self._send(("stop", list(ids), frame))

    def stop_caching_all(self) -> None:
        with self._lock:
            self._caching.clear()
            if self._open:
                self._send(("stopAll",))

    def sent(self, timeout: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._is_sending and not self._has_work(), timeout)

    def close(self) -> None:
        with self._changed:
            ended = [waiting.results for waiting in self._pending.values()]
            ended += self._delivering.values()
            self._pending = {}
            self._operations.clear()
            self._cancelled.clear()
            self._caching.clear()
            self._sent_count = 0
            open_session, self._open = self._open, None
            # The sender ends, and the next request starts another one.
            self._sender = None
            self._changed.notify_all()
        for results in ended:
            results._end()
        if open_session:
            open_session.close()

    def read_image(self, image_id: str) -> bytes:
        with self._lock:
            session = self._open
        if session is None:
            raise SnapshotExpired("the session of the picture has ended", "Request it again.")
        data = b""
        while True:
            page = session.calls.call("ReadImage", {"session": session.name, "imageID": image_id, "offset": len(data)})
            part = base64.b64decode(page["data"])
            data += part
            if len(data) >= page["total"]:
                return data
            if not part:
                raise MalformedReply("ReadImage replied with an empty page")

    def _cancel(self, id: int) -> None:
        with self._lock:
            pending = self._pending.pop(id, None)
            if pending is None:
                return
            if pending.is_sent and self._open:
                self._cancelled.append(id)
                self._changed.notify_all()

    # Sending

    def _send(self, operation: _Operation) -> None:
        """Gives the sender an operation. The lock is held."""
        self._operations.append(operation)
        if self._sender is None:
            self._sender = threading.Thread(target=self._send_all, name="photod images: requests", daemon=True)
            self._sender.start()
        self._changed.notify_all()

    def _has_work(self) -> bool:
        if self._open is None:
            return not self._has_given_up and bool(self._pending or self._caching)
        if self._cancelled:
            return True
        if not self._operations:
            return False
        return self._operations[0][0] != "request" or self._sent_count < _MOST_OPEN

    def _send_all(self) -> None:
        me = threading.current_thread()
        lost_at: float | None = None
        pause = 0.02
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._sender is not me or self._has_work())
                if self._sender is not me:
                    return
                self._is_sending = True
            try:
                session = self._session(me)
                while session and (batch := self._next_batch(session)):
                    self._perform(batch, session)
                lost_at, pause = None, 0.02
            except PhotodError as error:
                self._drop()
                lost_at = lost_at or time.monotonic()
                if self._may_pass(error) and time.monotonic() - lost_at < _PATIENCE:
                    with self._changed:
                        self._changed.wait_for(lambda: self._sender is not me, pause)
                    pause = min(pause * 2, 1.0)
                else:
                    self._fail_all(error)
                    lost_at, pause = None, 0.02
            except Exception as error:
                # The thread must go on, or no later request would have a result.
                self._drop()
                self._fail_all(MalformedReply(f"the requests for pictures failed: {error!r}"))
                lost_at, pause = None, 0.02
            finally:
                with self._changed:
                    self._is_sending = False
                    self._changed.notify_all()

    @staticmethod
    def _may_pass(error: PhotodError) -> bool:
        """Whether a later attempt may succeed. A session that photod does not know is gone."""
        return isinstance(error, (ConnectionClosed, LibraryUnavailable, Unreachable)) or error.name.endswith(
            ".NoSuchSession"
        )

    def _session(self, me: threading.Thread) -> _Open | None:
        """Returns the open session, or opens one. Returns None if the sender has to end."""
        with self._lock:
            if self._open or not (self._pending or self._caching):
                return self._open
        parameters = {"wantsData": True} if self._wants_data else {}
        stream, replies = self._connections.stream(IMAGES, "OpenSession", parameters)
        first = next(replies, None)
        if first is None:
            raise ConnectionClosed("photod closed the connection before it replied")
        session = _Open(first["session"], stream, self._connections.open(IMAGES))
        with self._lock:
            if self._sender is not me or not (self._pending or self._caching):
                session.close()
                return None
            self._open = session
            # The new session knows nothing of the earlier one.
            self._sent_count = 0
            self._cancelled.clear()
            for pending in self._pending.values():
                pending.is_sent = False
            self._operations = deque(("request", id) for id in sorted(self._pending))
            self._operations.extend(("start", list(ids), frame) for frame, ids in self._caching.items())
        threading.Thread(
            target=self._receive, args=(session, replies), name="photod images: results", daemon=True
        ).start()
        return session

    def _next_batch(self, session: _Open) -> tuple[str, dict[str, Any]] | None:
        """Takes operations of one kind, in their order. Returns None if there is nothing to send now."""
        with self._lock:
            if self._open is not session:
                return None
            if self._cancelled:
                cancelled = self._cancelled[:_MOST_CANCELLED]
                del self._cancelled[:_MOST_CANCELLED]
                return "CancelRequests", {"ids": cancelled}
            requests: list[dict[str, Any]] = []
            operations = self._operations
            while operations and operations[0][0] == "request":
                if len(requests) == _MOST_PER_CALL or self._sent_count == _MOST_OPEN:
                    break
                if pending := self._pending.get(operations.popleft()[1]):
                    requests.append(pending.request)
                    pending.is_sent = True
                    self._sent_count += 1
            if requests:
                return "RequestImages", {"requests": requests}
            if not operations or operations[0][0] == "request":
                return None
            kind, *rest = operations.popleft()
            if kind == "stopAll":
                return "StopCachingAll", {}
            ids, (width, height, mode) = rest
            frame = {"assetIDs": ids, "targetWidth": width, "targetHeight": height, "contentMode": mode}
            return "StartCaching" if kind == "start" else "StopCaching", frame

    def _perform(self, batch: tuple[str, dict[str, Any]], session: _Open) -> None:
        method, parameters = batch
        try:
            session.calls.call(method, {"session": session.name, **parameters})
        except PhotodError as error:
            if self._may_pass(error) or not error.name:
                raise
            # photod refused this call. Caching is only a hint, so its refusal has no effect.
            for request in parameters.get("requests", ()):
                self._finish(request["id"], error)
        if method == "CancelRequests":
            # photod no longer counts them. If the session was lost meanwhile, the count begins anew with the next one.
            with self._lock:
                if self._open is session:
                    self._sent_count -= len(parameters["ids"])

    # Results

    def _receive(self, session: _Open, replies: Iterator[dict[str, Any]]) -> None:
        try:
            for reply in replies:
                for result in reply["results"]:
                    self._deliver(result, session)
        except PhotodError:
            pass  # The sender opens another session, and reports what prevents that.
        finally:
            with self._changed:
                if self._open is session:
                    self._open = None
                    self._changed.notify_all()
            session.close()

    def _deliver(self, result: dict[str, Any], session: _Open) -> None:
        is_final = bool(result["isFinal"]) or "failure" in result
        with self._changed:
            id = result["requestID"]
            pending = self._pending.get(id)
            if pending is None or self._open is not session:
                return
            if is_final:
                del self._pending[id]
                self._sent_count -= pending.is_sent
                # There may be room for further requests.
                self._changed.notify_all()
            elif pending.has_degraded:
                return  # After a reconnection, the degraded picture comes a second time.
            pending.has_degraded = True
            self._delivering[threading.get_ident()] = pending.results
        self._hand_over(pending.results, read_result(result, self))

    def _hand_over(self, results: ImageResults, result: Image | PhotodError) -> None:
        """Delivers a result without the lock. `close` finds it in `_delivering`."""
        try:
            results._deliver(result)
        finally:
            with self._lock:
                self._delivering.pop(threading.get_ident(), None)

    def _finish(self, id: int, error: PhotodError) -> None:
        with self._lock:
            pending = self._pending.pop(id, None)
            if pending is None:
                return
            self._sent_count -= pending.is_sent
            self._delivering[threading.get_ident()] = pending.results
        self._hand_over(pending.results, error)

    def _fail_all(self, error: PhotodError) -> None:
        """Ends all requests. The caching sets stay, and are sent with the next operation."""
        with self._lock:
            self._operations.clear()
            self._cancelled.clear()
            self._has_given_up = True
            ids = sorted(self._pending)
        for id in ids:
            self._finish(id, error)

    def _drop(self) -> None:
        with self._lock:
            session, self._open = self._open, None
        if session:
            session.close()
