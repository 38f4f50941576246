"""The errors of photod as exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class PhotodError(Exception):
    """An error of photod, or on the way to it. All exceptions of this package are of this class.

    message: the problem and its subject.
    remedy: the next step, for a person.
    name: the name of the error in the contract, such as `org.photod.library.NoSuchAsset`; empty for errors on the way.
    parameters: the parameters of the error, with the names of the contract.
    """

    default_remedy = "This program is older than photod. Install the same version of both."

    def __init__(
        self, message: str, remedy: str | None = None, name: str = "", parameters: Mapping[str, Any] | None = None
    ):
        first, _, rest = message.partition(". ")
        self.message = first.removesuffix(".")
        self.remedy = remedy or rest or self.default_remedy
        self.name = name
        self.parameters = dict(parameters or {})
        super().__init__(f"{self.message}. {self.remedy}")


class InvalidPredicate(PhotodError):
    """`position` is an index of the predicate's characters, from 0."""

    default_remedy = "Correct the predicate at this position."

    @property
    def position(self) -> int:
        return int(self.parameters.get("position", 0))


class InvalidText(PhotodError):
    """`position` is an index of the text's characters, from 0."""

    default_remedy = "A word consists of letters and digits. Words in quotes must stand next to each other."

    @property
    def position(self) -> int:
        return int(self.parameters.get("position", 0))


class UnknownKey(PhotodError):
    """There is no such key for sorting, or for values. `known` lists the keys."""

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(self.parameters.get("known", ()))


class NoSuchAsset(PhotodError):
    """No assets have these ids."""

    default_remedy = "They may have been deleted. Their ids are never given to other assets. `photoctl query` lists the assets with their ids."

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self.parameters.get("ids", ()))


class NoSuchCollection(PhotodError):
    """No collection has this name. `similar` lists those with a similar one."""

    @property
    def similar(self) -> tuple[str, ...]:
        return tuple(self.parameters.get("similar", ()))


class AmbiguousCollection(PhotodError):
    """Several collections have this title. `candidates` lists the first of them."""

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(self.parameters.get("candidates", ()))


class ChangeTokenExpired(PhotodError):
    """The history does not reach back to the token. `current_token` is the present one."""

    default_remedy = "Fetch again, and continue from the current token."

    @property
    def current_token(self) -> str:
        return str(self.parameters.get("currentToken", ""))


class SnapshotExpired(PhotodError):
    """The pages were not read in time, or photod holds too many lists for this process."""

    default_remedy = "Fetch again, and read the pages without a pause."


class ChangeRejected(PhotodError):
    """Nothing was changed. `request_index` is the request that can't be done."""

    default_remedy = "Nothing was changed. Correct the request, and send all of them again."

    @property
    def request_index(self) -> int:
        return int(self.parameters.get("requestIndex", 0))


class NotAuthorized(PhotodError):
    """This program has no access."""

    default_remedy = "Ask the user for access."


class LibraryUnavailable(PhotodError):
    """photod runs but can't do its work, or it is stopping."""

    default_remedy = "The status of photod has the reason."


class StorageFull(PhotodError):
    """The disk of the catalog or of the kept pictures is full."""

    default_remedy = "Make room on the disk that holds the catalog."


class NotInLibrary(PhotodError):
    """The path is outside of all roots."""

    default_remedy = "`photoctl why` has the reason."


class TimedOut(PhotodError):
    """The call took too long."""

    default_remedy = "Try again with more time."


class NoImage(PhotodError):
    """There is no picture.

    `kind` is noSuchAsset, unavailable, unreadable, unsupported, tooLarge or storageFull, or a word of a later version.
    """

    remedies = {
        "noSuchAsset": "It may have been deleted. Its id is never given to another asset. `photoctl query` lists the assets with their ids.",
        "unavailable": "If its drive is not connected, connect it. If the file is gone, `photoctl why` has the reason.",
        "unreadable": "Open the file in another program to see whether it is damaged.",
        "unsupported": "Install the package photod-images, or convert the file to a more common format.",
        "tooLarge": "Request another file of the asset, such as a JPEG beside a RAW.",
        "storageFull": "Make room on the disk that holds the cache.",
    }

    def __init__(self, kind: str, message: str):
        super().__init__(message, None if ". " in message else self.remedies.get(kind))
        self.kind = kind


class Cancelled(PhotodError):
    """The request was cancelled, or its images were closed."""

    default_remedy = "Request it again if it is still wanted."


class TooManyImageRequests(PhotodError):
    """So many sessions or requests for pictures are open that photod refuses more."""

    default_remedy = "Cancel some, or wait for their results."


class NoSuchResource(PhotodError):
    """The asset has no file with this index."""

    default_remedy = "Give the index of one of its resources."


class ResourceUnavailable(PhotodError):
    """The file of an asset can't be opened or read."""

    default_remedy = "Check its drive and its permissions."


class ResourceChanged(PhotodError):
    """The file of an asset has changed."""

    default_remedy = "Discard what was read, and read again."


class InvalidParameter(PhotodError):
    """This photod has no such parameter, or the value is out of bounds."""

    default_remedy = "The contract states the bounds. Or the versions of this program and of photod differ."


class MethodMissing(PhotodError):
    """This photod does not have the method."""

    default_remedy = "Install a photod and a client of the same version."


class InternalError(PhotodError):
    """photod failed."""

    default_remedy = "This is a bug of photod. Its log has more: `journalctl --user -u photod`."


class Unreachable(PhotodError):
    """No photod answers at the socket."""

    default_remedy = (
        "Run `systemctl --user start photod.socket`, or run `photod` in another terminal."
        " For the photod of `make run`, set the PHOTOD_SOCKET that it prints."
    )


class PermissionDenied(PhotodError):
    """The socket belongs to another user."""

    default_remedy = "Each user has a photod. Connect to your own, or run this program as that user."


class ConnectionClosed(PhotodError):
    """photod closed the connection before it replied."""

    default_remedy = (
        "It was stopped, it died, or a limit was reached, such as 1,024 connections of one program. Its log has the reason: "
        "`journalctl --user -u photod`, or the output of photod if systemd did not start it."
    )


class MalformedReply(PhotodError):
    """The reply does not fit the call."""

    default_remedy = "Check that photod listens there. Install a photod and a client of the same version."


class OutOfStep(PhotodError):
    """A list no longer matches the one of photod."""

    default_remedy = "Observe the list again, without a token."


class DetailsMismatch(PhotodError):
    """Change details contradict themselves, or do not fit the list to which they are applied."""

    default_remedy = "Fetch or observe the list again."


_CLASSES: dict[str, type[PhotodError]] = {
    "UnknownSortKey": UnknownKey,
    "UnknownValueKey": UnknownKey,
    "NoSuchImage": SnapshotExpired,
    "NoSuchSession": SnapshotExpired,
    "ReadExpired": SnapshotExpired,
    "DuplicateRequest": InvalidParameter,
    "TooManyRequests": TooManyImageRequests,
    "TooManySessions": TooManyImageRequests,
    "MethodNotFound": MethodMissing,
    "MethodNotImplemented": MethodMissing,
    "InterfaceNotFound": MethodMissing,
    **{
        kind.__name__: kind
        for kind in (
            InvalidPredicate, InvalidText, NoSuchAsset, NoSuchCollection, AmbiguousCollection, ChangeTokenExpired,
            SnapshotExpired, ChangeRejected, NotAuthorized, LibraryUnavailable, StorageFull, NotInLibrary, TimedOut,
            NoSuchResource, ResourceUnavailable, ResourceChanged, InvalidParameter, InternalError,
        )
    },
}  # fmt: skip


def error_from_reply(name: str, parameters: Mapping[str, Any]) -> PhotodError:
    """Returns the exception of an error reply."""
    word = name.rpartition(".")[2]
    kind = _CLASSES.get(word, PhotodError)
    message, remedy = parameters.get("message"), None
    match word:
        case "UnknownSortKey":
            message = f"there is no sort key '{parameters.get('key')}'"
            remedy = f"The keys are {', '.join(parameters.get('known', ()))}."
        case "UnknownValueKey":
            message = f"there are no values of a key '{parameters.get('key')}'"
            remedy = f"The keys are {', '.join(parameters.get('known', ()))}."
        case "NoSuchAsset":
            ids = [str(id) for id in parameters.get("ids", ())]
            message = f"no asset has the id {ids[0]}" if len(ids) == 1 else f"no assets have the ids {', '.join(ids)}"
        case "NoSuchCollection":
            message = f"there is no album '{parameters.get('collection')}'"
            similar = [f"'{title}'" for title in parameters.get("similar", ())]
            remedy = (
                f"Similar albums are {', '.join(similar)}."
                if similar
                else "Name an album as 'smart:favorites', 'album:Title', 'folder:/path' or 'id:42', or by its title."
            )
        case "AmbiguousCollection":
            candidates = [f"'{name}'" for name in parameters.get("candidates", ())]
            count = parameters.get("count") or len(candidates)
            message = f"{count} albums are called '{parameters.get('collection')}'"
            remedy = f"Name one of them, such as {', '.join(candidates)}."
        case "InvalidParameter":
            message = f"photod does not take the value given for '{parameters.get('parameter')}'"
        case "MethodNotFound" | "MethodNotImplemented":
            message = f"this photod does not have the method {parameters.get('method')}"
        case "InterfaceNotFound":
            message = f"this photod does not have the interface {parameters.get('interface')}"
        case "InternalError":
            message = f"photod failed: {message}"
    if not isinstance(message, str):
        message = f"photod replied with {name} {dict(parameters)}"
    return kind(message, remedy, name, parameters)
