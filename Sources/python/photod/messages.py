"""The replies of photod, other than assets and details. The contract `org.photod.library` explains each member."""

from __future__ import annotations

from dataclasses import dataclass

from ._records import Record
from .assets import Asset, AssetCollection, UserData
from .change_details import FetchResultChangeDetails


@dataclass(frozen=True, slots=True)
class AssetPage(Record):
    """A part of a list that begins at `offset`. `total` is the length of the list at `token`."""

    token: str
    total: int
    offset: int
    assets: tuple[Asset, ...]


@dataclass(frozen=True, slots=True)
class AssetIDPage(Record):
    """The ids of a part of a list."""

    token: str
    total: int
    offset: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Assets(Record):
    """A reply of GetAssets."""

    token: str
    assets: tuple[Asset, ...]
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FoundAssets(Record):
    """A reply of FindAssets. The ids are parallel to the paths; 0 if no asset has the path."""

    token: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CollectionPage(Record):
    """A part of the list of collections."""

    token: str
    collections: tuple[AssetCollection, ...]


@dataclass(frozen=True, slots=True)
class Keys(Record):
    """The keys of predicates, sort descriptors and values."""

    predicate_keys: tuple[str, ...]
    sort_keys: tuple[str, ...]
    value_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueCounts(Record):
    """The values of a key, and the number of assets that have each; the most frequent first."""

    token: str
    values: tuple[str, ...]
    counts: tuple[int, ...]
    total: int
    asset_count: int
    absent_count: int


@dataclass(frozen=True, slots=True)
class UserDataPage(Record):
    """A page of FetchUserData."""

    token: str
    assets: tuple[UserData, ...]
    next: int | None = None


@dataclass(frozen=True, slots=True)
class Observation(Record):
    """One reply of Observe: a page of ids, a difference, or neither. `FetchResult` applies it."""

    token: str
    count: int
    digest: str
    previous_token: str | None = None
    origin: str | None = None
    offset: int | None = None
    ids: tuple[int, ...] | None = None
    complete: bool | None = None
    reload: str | None = None
    details: FetchResultChangeDetails | None = None
    inserted_assets: tuple[Asset, ...] | None = None
    changed_assets: tuple[Asset, ...] | None = None
    collection_deleted: bool | None = None


@dataclass(frozen=True, slots=True)
class CollectionObservation(Record):
    """One reply of ObserveCollections. `CollectionList` applies it."""

    token: str
    count: int
    digest: str
    previous_token: str | None = None
    offset: int | None = None
    complete: bool | None = None
    collections: tuple[AssetCollection, ...] | None = None
    reload: str | None = None
    details: FetchResultChangeDetails | None = None
    inserted: tuple[AssetCollection, ...] | None = None
    updated: tuple[AssetCollection, ...] | None = None
    deleted: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class RenamedDirectory(Record):
    """A folder that was renamed, with all that is in it."""

    from_path: str
    to_path: str


@dataclass(frozen=True, slots=True)
class RootAvailability(Record):
    """A drive or folder that came or went, with all that is in it."""

    path: str
    available: bool


@dataclass(frozen=True, slots=True)
class PersistentChange(Record):
    """One commit of the library's history."""

    token: str
    date: str
    origin: str
    inserted_assets: tuple[int, ...]
    updated_assets: tuple[int, ...]
    deleted_assets: tuple[int, ...]
    inserted_collections: tuple[int, ...]
    updated_collections: tuple[int, ...]
    deleted_collections: tuple[int, ...]
    renamed_directories: tuple[RenamedDirectory, ...]
    root_availability: tuple[RootAvailability, ...]
    changed_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryPage(Record):
    """Commits, and the token after them."""

    changes: tuple[PersistentChange, ...]
    token: str


@dataclass(frozen=True, slots=True)
class ChangeResult(Record):
    """The result of changes. `created_collection_ids` is in the order of the requests. `changed_asset_count` is the number
    of assets that were edited, placed in albums or removed from albums. `changed` is False if all was as requested
    already."""

    token: str
    created_collection_ids: tuple[int, ...]
    changed_asset_count: int | None = None
    changed: bool | None = None


@dataclass(frozen=True, slots=True)
class UndoableChange(Record):
    """A change that can be undone. `problem` says why it can't be, for a person. `actions` are what it did, such as
    hide or createAlbum. `filename` is that of its only asset."""

    id: int
    date: str
    origin: str
    asset_count: int
    collections: tuple[str, ...]
    problem: str | None = None
    actions: tuple[str, ...] = ()
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class Authorization(Record):
    """The access of this program: notDetermined, restricted, denied, authorized or limited."""

    status: str
    client: str = ""


@dataclass(frozen=True, slots=True)
class PathExplanation(Record):
    """Why a path is, or is not, in the library."""

    state: str
    reason: str
    asset_id: int | None = None


@dataclass(frozen=True, slots=True)
class RescanResult(Record):
    """The differences that a scan found."""

    inserted: int
    updated: int
    removed: int
    held_back: int | None = None
    removed_examples: tuple[str, ...] = ()
