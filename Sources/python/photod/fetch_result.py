"""Copies of photod's lists, which observations keep equal to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .assets import Asset, AssetCollection
from .change_details import FetchResultChangeDetails, ListModelEdit, list_digest
from .errors import DetailsMismatch, OutOfStep
from .messages import CollectionObservation, Observation


@dataclass(frozen=True, slots=True)
class FetchResultChange:
    """One change of a list.

    before, after: the ids of the list before and after it. Do not change them.
    details: the difference between both; None if the list was read as a whole, at the start or because of `reload`.
    reload: the reason for reading the whole list; None at the start.
    origin: such as watcher, rescan or client:NAME; None if the difference has several.
    inserted_assets, changed_assets: whole assets, if they were asked for, and photod sent them.
    collection_deleted: whether the collection of the list no longer exists. The list is empty, and may have been empty
        before.
    """

    token: str
    before: Sequence[int]
    after: Sequence[int]
    details: FetchResultChangeDetails | None = None
    reload: str | None = None
    origin: str | None = None
    inserted_assets: tuple[Asset, ...] | None = None
    changed_assets: tuple[Asset, ...] | None = None
    collection_deleted: bool = False

    def list_model_edits(self) -> list[ListModelEdit]:
        """The `items-changed` signals of a GListModel: those of the details, or one that replaces the whole list."""
        if self.details is not None:
            return self.details.list_model_edits(self.before)
        if not self.before and not self.after:
            return []
        return [ListModelEdit(0, len(self.before), self.after)]


class FetchResult:
    """A copy of a list of assets, to which observations are applied. `Library.observe` has one.

    Every observation is verified: the chain of tokens, the count and the digest.
    """

    def __init__(self, ids: Sequence[int] = (), token: str | None = None):
        """ids, token: a list that was stored with its token, to continue with `Library.observe`."""
        self._ids = list(ids)
        self._token = token
        self._digest = list_digest(self._ids)
        self._collection_deleted = False
        self._pages: list[int] | None = None
        self._reload: str | None = None

    @property
    def ids(self) -> Sequence[int]:
        """The list. Each change makes another one. Do not change it."""
        return self._ids

    @property
    def token(self) -> str | None:
        """The token of the list; None before there is a list."""
        return self._token

    @property
    def digest(self) -> str:
        return self._digest

    @property
    def collection_deleted(self) -> bool:
        """Whether the collection of the list no longer exists."""
        return self._collection_deleted

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> int:
        return self._ids[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)

    def apply(self, observation: Observation) -> FetchResultChange | None:
        """Applies an observation. Returns None for a part of a list, and if the list did not change.

        Raises OutOfStep, and then the list is as it was. O(n): about 0.1 s for a million ids.
        """
        if observation.reload == "notWanted":
            self._token, self._pages = observation.token, None
            self._collection_deleted = observation.collection_deleted is True
            return FetchResultChange(
                observation.token, self._ids, self._ids, reload=observation.reload,
                collection_deleted=self._collection_deleted,
            )  # fmt: skip
        if observation.ids is not None:
            return self._take_page(observation.ids, observation)
        if self._pages is not None:
            raise OutOfStep(f"a list ended early, after {len(self._pages)} ids")
        if self._token is None or observation.previous_token != self._token:
            raise OutOfStep(f"a difference from {observation.previous_token} came to the list at {self._token}")
        if observation.details is None:
            _check(len(self._ids), self._digest, observation)
            self._token = observation.token
            if self._collection_deleted == (observation.collection_deleted is True):
                return None
            # An empty collection was deleted, or is back.
            self._collection_deleted = observation.collection_deleted is True
            return FetchResultChange(
                observation.token, self._ids, self._ids, FetchResultChangeDetails(len(self._ids), len(self._ids)),
                collection_deleted=self._collection_deleted,
            )  # fmt: skip
        try:
            after = observation.details.applied(self._ids)
        except DetailsMismatch as error:
            raise OutOfStep(error.message) from error
        return self._set(after, observation, None)

    def drop_unfinished_list(self) -> None:
        """Forgets the pages of a list that has not ended, after its connection was lost."""
        self._pages = None

    def _take_page(self, page: Sequence[int], observation: Observation) -> FetchResultChange | None:
        if self._pages is None or observation.offset == 0:
            self._pages, self._reload = [], observation.reload
        if observation.offset != len(self._pages):
            raise OutOfStep(f"a page at {observation.offset} came after {len(self._pages)} ids")
        self._pages += page
        if not observation.complete:
            return None
        ids, self._pages = self._pages, None
        return self._set(ids, observation, self._reload)

    def _set(self, ids: list[int], observation: Observation, reload: str | None) -> FetchResultChange:
        digest = list_digest(ids)
        _check(len(ids), digest, observation)
        before, self._ids, self._digest, self._token = self._ids, ids, digest, observation.token
        self._collection_deleted = observation.collection_deleted is True
        return FetchResultChange(
            observation.token, before, ids, observation.details, reload, observation.origin,
            observation.inserted_assets, observation.changed_assets, self._collection_deleted,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CollectionListChange:
    """One change of the list of collections.

    before, after: the collections before and after it. Do not change them.
    details: the difference between both; None if the list was read as a whole.
    """

    token: str
    before: Sequence[AssetCollection]
    after: Sequence[AssetCollection]
    details: FetchResultChangeDetails | None = None
    reload: str | None = None


class CollectionList:
    """A copy of the list of collections. `Library.observe_collections` has one."""

    def __init__(self) -> None:
        self._collections: list[AssetCollection] = []
        self._token: str | None = None
        self._pages: list[AssetCollection] | None = None
        self._reload: str | None = None

    @property
    def collections(self) -> Sequence[AssetCollection]:
        """The collections. Each change makes another list. Do not change it."""
        return self._collections

    @property
    def token(self) -> str | None:
        return self._token

    def apply(self, observation: CollectionObservation) -> CollectionListChange | None:
        """Applies an observation. Returns None for a part of a list, and if the list did not change.

        Raises OutOfStep, and then the list is as it was.
        """
        if observation.collections is not None:
            if self._pages is None or observation.offset == 0:
                self._pages, self._reload = [], observation.reload
            if observation.offset != len(self._pages):
                raise OutOfStep(f"a page at {observation.offset} came after {len(self._pages)} collections")
            self._pages += observation.collections
            if not observation.complete:
                return None
            collections, self._pages = self._pages, None
            return self._set(collections, observation, self._reload)
        if observation.details is None or self._token is None or observation.previous_token != self._token:
            raise OutOfStep(f"a difference from {observation.previous_token} came to the list at {self._token}")
        known = {collection.id: collection for collection in self._collections}
        known |= {collection.id: collection for collection in observation.inserted or ()}
        known |= {collection.id: collection for collection in observation.updated or ()}
        try:
            ids = observation.details.applied([collection.id for collection in self._collections])
            return self._set([known[id] for id in ids], observation, None)
        except DetailsMismatch as error:
            raise OutOfStep(error.message) from error
        except KeyError as error:
            raise OutOfStep(f"the collection {error} is missing in the difference") from error

    def _set(
        self, collections: list[AssetCollection], observation: CollectionObservation, reload: str | None
    ) -> CollectionListChange | None:
        _check(len(collections), list_digest(collection.id for collection in collections), observation)
        is_first = self._token is None
        before, self._collections, self._token = self._collections, collections, observation.token
        if observation.details is None and not is_first and before == collections:
            return None
        return CollectionListChange(observation.token, before, collections, observation.details, reload)


def _check(count: int, digest: str, observation: Observation | CollectionObservation) -> None:
    if count != observation.count:
        raise OutOfStep(f"the list has {count} ids, and that of the library has {observation.count}")
    if digest != observation.digest:
        raise OutOfStep(f"the list's digest is {digest}, and that of the library's list is {observation.digest}")
