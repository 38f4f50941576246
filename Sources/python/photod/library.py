"""One user's photo library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from ._connections import LIBRARY, Connections, default_socket_path
from ._records import Record
from .assets import Asset, AssetCollection, UserData
from .changes import ChangeRequest
from .errors import MalformedReply
from .fetch_result import FetchResult
from .following import CollectionListChanges, FetchResultChanges, PersistentChanges, StatusChanges
from .messages import (
    AssetIDPage,
    AssetPage,
    Assets,
    Authorization,
    ChangeResult,
    CollectionPage,
    FoundAssets,
    HistoryPage,
    Keys,
    PathExplanation,
    PersistentChange,
    RescanResult,
    UndoableChange,
    UserDataPage,
    ValueCounts,
)
from .options import CollectionKind, FetchOptions
from .status import LibraryStatus

R = TypeVar("R", bound=Record)

_MOST_IDS = 1_000


class Library:
    """One user's photo library, as photod serves it.

        with photod.Library() as library:
            for asset in library.fetch("smart:favorites"):
                print(asset.id, asset.path)

    No connection is made before the first call. All threads may use it. Every call blocks, and raises `PhotodError` and
    nothing else. A list that `options` describe may also be named by its collection, such as "smart:favorites".
    """

    def __init__(self, socket_path: str | None = None, client_name: str | None = None):
        """socket_path: by default that of the user's own photod.
        client_name: the name by which observers see who made a change. Its origin is `client:NAME`.
        """
        self._connections = Connections(socket_path or default_socket_path())
        self.client_name = client_name

    @property
    def socket_path(self) -> str:
        return self._connections.socket_path

    def close(self) -> None:
        """Closes the connections, and ends everything that was observed. The next call makes another connection."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Fetching

    def fetch(self, options: FetchOptions | str | None = None) -> Iterator[Asset]:
        """The assets of a list, from one snapshot. They come in pages; read them without pauses of ten seconds."""
        for page in self.fetch_pages(options):
            yield from page.assets

    def fetch_pages(
        self, options: FetchOptions | str | None = None, offset: int = 0, page_size: int | None = None
    ) -> Iterator[AssetPage]:
        """The pages of a list, from one snapshot. An empty list is one page without assets."""
        parameters = _given(options=_options(options), offset=offset or None, count=page_size)
        for reply in self._stream("Fetch", parameters):
            yield AssetPage.from_message(reply)

    def fetch_page(
        self, options: FetchOptions | str | None = None, offset: int = 0, count: int | None = None
    ) -> AssetPage:
        """One page of a list. The next call may see a changed library, so compare the tokens."""
        return self._call("Fetch", AssetPage, options=_options(options), offset=offset or None, count=count)

    def fetch_ids(self, options: FetchOptions | str | None = None) -> FetchResult:
        """The ids of a whole list, for a program that loads assets as it shows them."""
        ids: list[int] = []
        token = ""
        for reply in self._stream("FetchIDs", _given(options=_options(options))):
            page = AssetIDPage.from_message(reply)
            ids += page.ids
            token = page.token
        return FetchResult(ids, token)

    def assets(self, ids: Sequence[int]) -> list[Asset]:
        """The assets with these ids, in their order. Ids without an asset are left out."""
        found: dict[int, Asset] = {}
        rest = list(ids)
        while rest:
            asked = rest[:_MOST_IDS]
            reply = self._call("GetAssets", Assets, ids=asked)
            found |= {asset.id: asset for asset in reply.assets}
            answered = {asset.id for asset in reply.assets} | set(reply.missing)
            # Assets that did not fit in the reply are requested again.
            unanswered = [id for id in asked if id not in answered]
            if len(unanswered) == len(asked):
                raise MalformedReply(f"GetAssets replied with none of {len(asked)} ids")
            rest = unanswered + rest[len(asked) :]
        return [found[id] for id in ids if id in found]

    def find_assets(self, paths: Sequence[str]) -> list[int | None]:
        """The ids of the assets to which these files belong, parallel to the absolute paths; None if there is none."""
        found: list[int | None] = []
        for start in range(0, len(paths), _MOST_IDS):
            ids = self._call("FindAssets", FoundAssets, paths=list(paths[start : start + _MOST_IDS])).ids
            found += (id or None for id in ids)
        return found

    def collections(
        self, kinds: Sequence[CollectionKind] | None = None, containing_asset: int | None = None
    ) -> list[AssetCollection]:
        """The albums: smart albums, the user's own albums and folders of albums, and one for each folder on a disk."""
        collections: list[AssetCollection] = []
        parameters = _given(kinds=None if kinds is None else list(kinds), containingAsset=containing_asset)
        for reply in self._stream("FetchCollections", parameters):
            collections += CollectionPage.from_message(reply).collections
        return collections

    def keys(self) -> Keys:
        """The keys of predicates, sort descriptors and values, for completion and pickers."""
        return self._call("ListKeys", Keys)

    def values(
        self, key: str, prefix: str | None = None, limit: int | None = None,
        options: FetchOptions | str | None = None,
    ) -> ValueCounts:  # fmt: skip
        """The values that the assets of a list have for a key, such as camera, keywords or year, with their counts."""
        return self._call("ListValues", ValueCounts, key=key, prefix=prefix, limit=limit, options=_options(options))

    def user_data(self, ids: Sequence[int] | None = None) -> Iterator[UserData]:
        """The values that a person gave these assets, or all that have some, in ascending order of the ids."""
        starts = range(0, len(ids or ()), _MOST_IDS)
        parts = [None] if ids is None else [list(ids[start : start + _MOST_IDS]) for start in starts]
        for part in parts:
            after: int | None = None
            while True:
                page = self._call("FetchUserData", UserDataPage, ids=part, after=after)
                yield from page.assets
                after = page.next
                if after is None:
                    break

    # Observing

    def observe(
        self, options: FetchOptions | str | None = None, *, result: FetchResult | None = None, objects: bool = False,
        reload_only: bool = False, reconnects: bool = True,
    ) -> FetchResultChanges:  # fmt: skip
        """The changes of a list: first the whole list, and then each difference as soon as it happens.

        The iteration blocks. It ends when it is closed, which any thread may do, or with the library.

        result: a list with its token, to continue from it. The first change is then the difference to it, if any.
        objects: photod sends the inserted and changed assets, too, as long as a message stays below 512 KiB.
        reload_only: only reports that the list changed, not how.
        reconnects: waits while photod is restarted, and continues with one difference. False raises an exception.
        """
        fetch_options = FetchOptions(collection=options) if isinstance(options, str) else options or FetchOptions()
        return FetchResultChanges(
            self._connections, fetch_options, result or FetchResult(), objects, reload_only, reconnects
        )

    def observe_collections(
        self, kinds: Sequence[CollectionKind] | None = None, *, reconnects: bool = True
    ) -> CollectionListChanges:
        """The changes of the list of collections: titles, counts, covers and order. It works as `observe` does."""
        return CollectionListChanges(self._connections, None if kinds is None else list(kinds), reconnects)

    def persistent_changes(self, since: str) -> Iterator[PersistentChange]:
        """The commits after a token, oldest first. Raises ChangeTokenExpired."""
        for reply in self._stream("FetchPersistentChanges", {"since": since}):
            yield from HistoryPage.from_message(reply).changes

    def follow_persistent_changes(self, since: str | None = None, *, reconnects: bool = True) -> PersistentChanges:
        """The commits after a token, or from now on, and then each commit as it happens. Raises ChangeTokenExpired."""
        return PersistentChanges(self._connections, since, reconnects)

    def synchronize(self, timeout_seconds: float | None = None) -> str:
        """Returns once everything that happened in the watched folders before the call is in the library.

        Returns the token at that time. Raises TimedOut; by default after 30 s.
        """
        return self._token("Synchronize", timeoutSeconds=timeout_seconds)

    # Changing

    def perform_changes(
        self, *requests: ChangeRequest, if_unchanged_since: str | None = None, undo_group: str | None = None
    ) -> ChangeResult:
        """Makes all of these changes in one transaction, or none. They are durable when it returns.

            library.perform_changes(photod.EditAssets([42], is_favorite=True))

        if_unchanged_since: a token. If one of the edited assets has changed since, or a collection that is edited or
            deleted, it raises ChangeRejected. A change of an asset is one of each album that has it.
        undo_group: calls with the same group are undone together.
        ConnectionClosed means here that photod died, and may have made the changes.
        """
        parameters = _given(
            requests=[request.to_request() for request in requests], clientName=self.client_name,
            ifUnchangedSince=if_unchanged_since, undoGroup=undo_group,
        )  # fmt: skip
        return ChangeResult.from_message(self._connections.call(LIBRARY, "PerformChanges", parameters, once=True))

    def undoable_changes(self, origin: str | None = None) -> tuple[UndoableChange, ...]:
        """The last changes since photod started, newest first. Those without a problem can be undone."""
        reply = self._connections.call(LIBRARY, "FetchUndoableChanges", _given(origin=origin))
        return tuple(UndoableChange.from_message(change) for change in reply["changes"])

    def undo_change(self, id: int) -> str:
        """Undoes a change as a whole, and returns the token of the library. Raises ChangeRejected."""
        parameters = _given(id=id, clientName=self.client_name)
        return str(self._connections.call(LIBRARY, "UndoChange", parameters, once=True)["token"])

    # Access

    def authorization(self) -> Authorization:
        """The access of this program to the library."""
        return self._call("AuthorizationStatus", Authorization)

    def request_authorization(self, access_level: Literal["addOnly", "readWrite"]) -> Authorization:
        """Requests access. The user may be asked, so it can take any time."""
        return self._call("RequestAuthorization", Authorization, accessLevel=access_level)

    # The daemon itself

    def status(self) -> LibraryStatus:
        """The status of photod."""
        return LibraryStatus.from_message(self._connections.call(LIBRARY, "Status", {})["status"])

    def status_changes(self, *, reconnects: bool = True) -> StatusChanges:
        """The status, and again after each change of it, at most ten times a second."""
        return StatusChanges(self._connections, reconnects)

    def explain(self, path: str) -> PathExplanation:
        """Why a path is, or is not, in the library."""
        return self._call("Explain", PathExplanation, path=path)

    def rescan(self, path: str | None = None, dry_run: bool = False, confirm: bool = False) -> RescanResult:
        """Compares a folder or all roots with the catalog.

        dry_run: only counts the differences. confirm: the missing photos really are gone.
        """
        return self._call("Rescan", RescanResult, path=path, dryRun=dry_run or None, confirm=confirm or None)

    # Calls

    def _call(self, method: str, kind: type[R], **parameters: Any) -> R:
        return kind.from_message(self._connections.call(LIBRARY, method, _given(**parameters)))

    def _token(self, method: str, **parameters: Any) -> str:
        return str(self._connections.call(LIBRARY, method, _given(**parameters))["token"])

    def _stream(self, method: str, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
        _, replies = self._connections.stream(LIBRARY, method, parameters)
        return replies


def _options(options: FetchOptions | str | None) -> dict[str, Any] | None:
    if options is None:
        return None
    return {"collection": options} if isinstance(options, str) else options.to_message()


def _given(**parameters: Any) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}
