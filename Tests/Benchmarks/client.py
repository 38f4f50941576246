"""A minimal Varlink client for org.photod.library. It needs only the standard library."""

import json
import socket
import time

INTERFACE = "org.photod.library."


class CallFailed(RuntimeError):
    """The service answered with an error."""

    def __init__(self, error, parameters):
        super().__init__(f"{error} {parameters}")
        self.error = error


class Connection:
    """One connection with one call at a time. A frame is JSON that ends with NUL (varlink.org, "Service")."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # A reply that does not come in two minutes never comes. Then an error is better than a bench that hangs.
        self.socket.settimeout(120)
        self.socket.connect(str(path))
        self.received = bytearray()

    def send(self, method, more=False, interface=INTERFACE, **parameters):
        call = {"method": interface + method, "parameters": parameters}
        if more:
            call["more"] = True
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def reply_bytes(self):
        """Returns the next reply unparsed. Only this work happens before a latency is stamped."""
        while True:
            end = self.received.find(b"\0")
            if end >= 0:
                frame = bytes(self.received[:end])
                del self.received[: end + 1]
                return frame
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise ConnectionError("photod closed the connection")
            self.received += piece

    @staticmethod
    def parameters(frame):
        reply = json.loads(frame)
        if "error" in reply:
            raise CallFailed(reply["error"], reply.get("parameters"))
        return reply["parameters"]

    def stamped_reply(self):
        """Returns the time in nanoseconds when the next reply was complete, and its parameters."""
        frame = self.reply_bytes()
        stamp = time.monotonic_ns()
        return stamp, self.parameters(frame)

    def call(self, method, **parameters):
        self.send(method, **parameters)
        return self.parameters(self.reply_bytes())

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class History:
    """A client that follows the commits from now on."""

    def __init__(self, connection):
        self.connection = connection
        connection.send("FetchPersistentChanges", more=True, follow=True)
        # The first reply contains the token at which the stream begins.
        self.next()

    def next(self):
        """Returns the stamp of the next reply, and its changes."""
        stamp, reply = self.connection.stamped_reply()
        return stamp, reply["changes"]


class Replica:
    """A client that holds a whole list and updates it from the replies of Observe: every photo, newest first.

    `ids` is the list. `inserted`, `deleted` and `changed` collect the ids of every difference since `forget()`.
    """

    def __init__(self, connection, since=None, ids=None):
        self.connection = connection
        self.ids = ids or []
        self.token = since
        self.last = None
        self.forget()
        if since is None:
            connection.send("Observe", more=True)
            while not self.next()[1].get("complete"):
                pass
            self.forget()
        else:
            connection.send("Observe", more=True, since=since, sinceIDs=self.ids)

    def forget(self):
        self.messages = 0
        self.inserted, self.deleted, self.changed = set(), set(), set()

    def next(self):
        """Returns the stamp of the next reply, and its observation, which is already applied to the list."""
        stamp, reply = self.connection.stamped_reply()
        observation = reply["observation"]
        self.messages += 1
        self.token = observation["token"]
        self.last = observation
        if observation.get("ids") is not None:
            if observation.get("reload"):
                raise RuntimeError(f"the list was sent anew: {observation['reload']}")
            self.ids += observation["ids"]
        elif observation.get("details"):
            self.apply(observation["details"])
        return stamp, observation

    def until(self, is_done):
        """Returns the stamp of the reply after which `is_done`."""
        while True:
            stamp, _ = self.next()
            if is_done():
                return stamp

    def apply(self, details):
        """Removes, then inserts, each id at its index in its own list. Here, no photo is moved by its date."""
        if details["moves"] or details["countBefore"] != len(self.ids):
            raise RuntimeError(f"not a difference from {len(self.ids)} photos: {str(details)[:500]}")
        for values in reversed(details["removedBefore"]):
            start, end = values["start"], values["start"] + values["count"]
            self.deleted.update(self.ids[start:end])
            del self.ids[start:end]
        taken = 0
        for values in details["insertedAfter"]:
            new = details["insertedIDs"][taken : taken + values["count"]]
            self.ids[values["start"] : values["start"]] = new
            self.inserted.update(new)
            taken += values["count"]
        for values in details["changedAfter"]:
            self.changed.update(self.ids[values["start"] : values["start"] + values["count"]])
        if len(self.ids) != details["countAfter"]:
            raise RuntimeError(f"{len(self.ids)} photos after a difference to {details['countAfter']}")

    def verify(self):
        """Checks the list by the contract's digest. It takes some milliseconds, so it must not be measured."""
        value = 0
        for number in self.ids:
            value = (value * 1099511628211 + number) % (2**61 - 1)
        if (len(self.ids), f"{value:016x}") != (self.last["count"], self.last["digest"]):
            raise RuntimeError(f"the list differs from the daemon's at {self.token}")
