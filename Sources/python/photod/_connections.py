"""Connections to photod, on the package `varlink`."""

from __future__ import annotations

import os
import socket
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import varlink

from .errors import (
    ConnectionClosed,
    InvalidParameter,
    MalformedReply,
    MethodMissing,
    PermissionDenied,
    PhotodError,
    Unreachable,
    error_from_reply,
)

LIBRARY = "org.photod.library"
IMAGES = "org.photod.images"


def default_socket_path() -> str:
    """The socket of the user's own photod, where photoctl looks for it, too: $PHOTOD_SOCKET, else that of the session."""
    return os.environ.get("PHOTOD_SOCKET") or standard_socket_path()


def standard_socket_path() -> str:
    """The socket that systemd and a photod without options use, whatever $PHOTOD_SOCKET says."""
    directory = os.environ.get("XDG_RUNTIME_DIR", "")
    if not directory.startswith("/"):
        directory = f"/run/user/{os.geteuid()}"
    return f"{directory.rstrip('/')}/photod/photod.sock"


class _Interface(varlink.Interface):  # type: ignore[misc]
    """An interface that passes values as they are: photod checks requests, and records check replies.

    The package `varlink` drops members that are not in the description of the daemon. An option that an older photod
    does not know would then be ignored, and the list would be another one than the program asked for.
    """

    def filter_params(self, parent_name: str, varlink_type: Any, _namespaced: bool, args: Any, kwargs: Any) -> Any:
        return args if kwargs is None else kwargs


class _Handler(varlink.SimpleClientInterfaceHandler):  # type: ignore[misc]
    """Reads large messages in large pieces, and each byte once."""

    _in_buffer: bytes

    def _next_message(self) -> Iterator[str]:
        received = bytearray(self._in_buffer)
        searched = 0
        while (end := received.find(0, searched)) < 0:
            searched = len(received)
            data = self._connection.recv(1 << 18)
            if not data:
                raise BrokenPipeError("Disconnected")
            received += data
        self._in_buffer = bytes(received[end + 1 :])
        yield received[:end].decode()


class _Client(varlink.Client):  # type: ignore[misc]
    handler = _Handler


class Connection:
    """One connection with one call, or one stream, at a time."""

    def __init__(self, handler: _Handler, connected: socket.socket, socket_path: str):
        self._handler = handler
        self._socket = connected
        self._path = socket_path
        self._reading = threading.Lock()
        self._is_closed = False

    def call(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Calls a method. After any exception but an error reply, the connection is closed."""
        with self._reading:
            try:
                return dict(self._method(method)(**parameters))
            except varlink.VarlinkError as error:
                raise translated(error, self._path) from None
            except BaseException as error:
                self._is_closed = True
                raise translated(error, self._path) from None
            finally:
                # It is also closed if another thread has called close() meanwhile.
                if self._is_closed:
                    self._socket.close()

    def stream(self, method: str, parameters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Calls a method with `more`. The replies end without an exception when a thread closes the connection."""
        try:
            replies = self._method(method)(_more=True, **parameters)
            while True:
                with self._reading:
                    reply = next(replies, None)
                if reply is None or self._is_closed:
                    return
                yield reply
        except BaseException as error:
            if self._is_closed and not isinstance(error, GeneratorExit):
                return
            raise translated(error, self._path) from None
        finally:
            self.close()

    def close(self) -> None:
        """Ends the call or stream. Another thread may do so, too."""
        self._is_closed = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # photod has closed it, or it was closed before.
        # A thread that reads still uses the number of the descriptor, and closes it when it ends.
        if self._reading.acquire(blocking=False):
            self._socket.close()
            self._reading.release()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def _method(self, method: str) -> Any:
        try:
            return getattr(self._handler, method)
        except AttributeError:
            raise MethodMissing(f"this photod does not have the method {method}") from None


class Connections:
    """Makes connections, and keeps idle ones for later calls. All threads may use it."""

    def __init__(self, socket_path: str):
        self.socket_path = socket_path
        self._client = _Client("unix:" + socket_path)
        self._lock = threading.Lock()
        self._interfaces: set[str] = set()
        self._idle: dict[str, list[Connection]] = {}
        self._streams: weakref.WeakSet[Connection] = weakref.WeakSet()

    def open(self, interface: str) -> Connection:
        """Makes a connection. The first one for an interface reads its definition from photod."""
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.connect(self.socket_path)
            with self._lock:
                is_known = interface in self._interfaces
            if not is_known:
                service = self._client.open("org.varlink.service", connection=connected)
                text = service.GetInterfaceDescription(interface)["description"]
                with self._lock:
                    self._client.add_interface(_Interface(text))
                    self._interfaces.add(interface)
            return Connection(self._client.open(interface, connection=connected), connected, self.socket_path)
        except BaseException as error:
            connected.close()
            raise translated(error, self.socket_path) from None

    def call(self, interface: str, method: str, parameters: Mapping[str, Any], once: bool = False) -> dict[str, Any]:
        """Calls a method.

        once: the call is not repeated if an idle connection proves to be closed, because it may have been done.
        """
        connection = None if once else self._take_idle(interface)
        if connection:
            try:
                return self._call(interface, connection, method, parameters)
            except ConnectionClosed:
                # It was idle for too long, or belonged to an earlier photod.
                self.close_idle()
        return self._call(interface, self.open(interface), method, parameters)

    def stream(self, interface: str, method: str, parameters: Mapping[str, Any]) -> tuple[Connection, Iterator[Any]]:
        """Begins a stream on a connection of its own, which ends the stream when it is closed."""
        connection = self.open(interface)
        with self._lock:
            self._streams.add(connection)
        return connection, connection.stream(method, parameters)

    def close(self) -> None:
        """Closes all connections, and ends the streams."""
        self.close_idle()
        with self._lock:
            streams = list(self._streams)
        for connection in streams:
            connection.close()

    def close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                connection.close()

    def _take_idle(self, interface: str) -> Connection | None:
        with self._lock:
            idle = self._idle.get(interface)
            return idle.pop() if idle else None

    def _call(
        self, interface: str, connection: Connection, method: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        try:
            return connection.call(method, parameters)
        finally:
            if not connection.is_closed:
                with self._lock:
                    self._idle.setdefault(interface, []).append(connection)


def _unreachable(socket_path: str, reason: str) -> Unreachable:
    """No photod listens at the socket. systemd serves the standard socket only."""
    remedy = None
    if socket_path != standard_socket_path():
        remedy = "Start the photod that serves this socket, or choose another socket. PHOTOD_SOCKET may name it."
    return Unreachable(f"photod is not reachable at {socket_path}: {reason}", remedy)


def translated(error: BaseException, socket_path: str) -> BaseException:
    """Returns the exception of this package for one of `varlink` or the socket; others as they are."""
    match error:
        case PhotodError():
            return error
        case varlink.InvalidParameter():
            return InvalidParameter(f"photod does not take the value given for '{error.parameters()['parameter']}'")
        case varlink.VarlinkError():
            return error_from_reply(error.error(), error.parameters() or {})
        case FileNotFoundError():
            return _unreachable(socket_path, "there is no socket")
        case ConnectionRefusedError():
            return _unreachable(socket_path, "no process listens")
        case PermissionError():
            return PermissionDenied(f"{socket_path} belongs to another user")
        case BrokenPipeError() | ConnectionResetError():
            # photod closes the connections of all other users. Only root gets that far.
            if _is_of_another_user(socket_path):
                return PermissionDenied(f"{socket_path} belongs to another user")
            return ConnectionClosed("photod closed the connection before it replied")
        case OSError():
            return Unreachable(f"photod is not reachable at {socket_path}: {error.strerror or error}")
        case ValueError():
            return MalformedReply(f"the reply does not fit this call: {error}")
    return error


def _is_of_another_user(path: str) -> bool:
    try:
        return os.lstat(path).st_uid != os.geteuid()
    except OSError:
        return False
