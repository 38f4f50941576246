"""Iterators over what happens in the library, which connect again after photod was restarted."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ._connections import LIBRARY, Connection, Connections
from .errors import ConnectionClosed, LibraryUnavailable, OutOfStep, PhotodError, Unreachable
from .fetch_result import CollectionList, CollectionListChange, FetchResult, FetchResultChange
from .messages import CollectionObservation, HistoryPage, Observation, PersistentChange
from .options import FetchOptions
from .status import LibraryStatus

T = TypeVar("T")

# A call has at most 16 MiB. Without the ids, the digest must suffice.
_MOST_BYTES_OF_IDS = 15 << 20


class Following(ABC, Generic[T]):
    """An iterator that waits for what happens. It ends when it is closed, which any thread may do.

    One thread may iterate at a time. The first connection must succeed. After that, an outage of photod is waited for,
    with pauses of 0.05 to 2 seconds, unless `reconnects` is false. If the list differs from that of photod, it begins anew
    after a pause, which grows to 30 seconds if that happens again within 10 seconds.
    """

    _method = ""
    _shortest_pause = 0.05
    _longest_pause = 2.0
    # The pauses after lists that differ. Each repetition sends the whole list again.
    _shortest_fault_pause = 0.1
    _longest_fault_pause = 30.0
    # An attempt that lasted longer was a success, so the next fault is a new one.
    _success = 10.0

    def __init__(self, connections: Connections, reconnects: bool):
        self._connections = connections
        self._reconnects = reconnects
        self._closed = threading.Event()
        self._connection: Connection | None = None
        self._replies: Iterator[dict[str, Any]] | None = None
        self._has_begun = False
        self._pause = self._shortest_pause
        self._fault_pause = self._shortest_fault_pause
        self._attempt_began = time.monotonic()
        self._waiting: list[T] = []

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        while not self._waiting:
            if self._closed.is_set():
                raise StopIteration
            try:
                reply = self._next_reply()
                if reply is not None:
                    self._waiting += reversed(self._take(reply))
            except OutOfStep:
                self._disconnect()
                self._forget()
                self._wait_after_fault()
            except (ConnectionClosed, LibraryUnavailable, Unreachable):
                self._disconnect()
                if not self._reconnects or not self._has_begun:
                    raise
                self._wait()
            except PhotodError:
                self._disconnect()
                raise
        if self._closed.is_set():
            raise StopIteration
        return self._waiting.pop()

    def close(self) -> None:
        """Ends the iteration, also one that waits in another thread."""
        self._closed.set()
        if connection := self._connection:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """The parameters of the call that continues from here."""

    @abstractmethod
    def _take(self, reply: dict[str, Any]) -> list[T]:
        """Returns the items of a reply."""

    def _begin(self) -> None:
        """Prepares for another connection."""

    def _forget(self) -> None:
        """The next connection begins anew."""

    def _next_reply(self) -> dict[str, Any] | None:
        if self._replies is None:
            self._attempt_began = time.monotonic()
            self._begin()
            self._connection, self._replies = self._connections.stream(LIBRARY, self._method, self._parameters())
            if self._closed.is_set():
                # close() was called while the connection was made.
                self._connection.close()
        reply = next(self._replies, None)
        if reply is None:
            # It ends only because it was closed: here, or with the library.
            self._closed.set()
            self._disconnect()
            return None
        self._has_begun = True
        self._pause = self._shortest_pause
        return reply

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = self._replies = None

    def _wait_after_fault(self) -> None:
        if time.monotonic() - self._attempt_began > self._success:
            self._fault_pause = self._shortest_fault_pause
        self._closed.wait(self._fault_pause)
        self._fault_pause = min(self._fault_pause * 2, self._longest_fault_pause)

    def _wait(self) -> None:
        self._closed.wait(self._pause)
        self._pause = min(self._pause * 2, self._longest_pause)


class FetchResultChanges(Following[FetchResultChange]):
    """The changes of a list of assets: first the whole list, and then each difference. `result` is the list.

    After a restart of photod there is one difference to the list that was there before it, or none.
    """

    _method = "Observe"

    def __init__(
        self, connections: Connections, options: FetchOptions, result: FetchResult, objects: bool, reload_only: bool,
        reconnects: bool,
    ):  # fmt: skip
        super().__init__(connections, reconnects)
        self.options = options
        self.result = result
        self._objects = objects
        self._reload_only = reload_only
        self._is_anew = False

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"options": self.options.to_message()}
        if self._objects:
            parameters["objects"] = True
        if self._reload_only:
            parameters["reloadOnly"] = True
        if self.result.token is not None and not self._is_anew:
            ids = self.result.ids
            parameters |= {"since": self.result.token, "sinceDigest": self.result.digest}
            if not ids or len(ids) * (len(str(max(ids))) + 2) <= _MOST_BYTES_OF_IDS:
                parameters["sinceIDs"] = ids
        return parameters

    def _take(self, reply: dict[str, Any]) -> list[FetchResultChange]:
        change = self.result.apply(Observation.from_message(reply["observation"]))
        self._is_anew = False
        return [] if change is None else [change]

    def _begin(self) -> None:
        self.result.drop_unfinished_list()

    def _forget(self) -> None:
        self._is_anew = True


class CollectionListChanges(Following[CollectionListChange]):
    """The changes of the list of collections: first the whole list, and then each difference. `list` is the list."""

    _method = "ObserveCollections"

    def __init__(self, connections: Connections, kinds: list[str] | None, reconnects: bool):
        super().__init__(connections, reconnects)
        self.list = CollectionList()
        self._kinds = kinds

    def _parameters(self) -> dict[str, Any]:
        return {} if self._kinds is None else {"kinds": self._kinds}

    def _take(self, reply: dict[str, Any]) -> list[CollectionListChange]:
        change = self.list.apply(CollectionObservation.from_message(reply))
        return [] if change is None else [change]


class PersistentChanges(Following[PersistentChange]):
    """The commits of the library. `token` is that of the last one, from which a program continues later."""

    _method = "FetchPersistentChanges"

    def __init__(self, connections: Connections, since: str | None, reconnects: bool):
        super().__init__(connections, reconnects)
        self.token = since
        self._last = since

    def __next__(self) -> PersistentChange:
        change = super().__next__()
        self.token = change.token
        return change

    def _parameters(self) -> dict[str, Any]:
        return {"follow": True} if self._last is None else {"follow": True, "since": self._last}

    def _take(self, reply: dict[str, Any]) -> list[PersistentChange]:
        page = HistoryPage.from_message(reply)
        self._last = page.token
        if not page.changes:
            self.token = page.token
        return list(page.changes)


class StatusChanges(Following[LibraryStatus]):
    """The status of photod, and again after each change of it."""

    _method = "Status"

    def _parameters(self) -> dict[str, Any]:
        return {}

    def _take(self, reply: dict[str, Any]) -> list[LibraryStatus]:
        return [LibraryStatus.from_message(reply["status"])]
