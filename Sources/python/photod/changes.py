"""The requests of `Library.perform_changes`. The contract `org.photod.library` explains each member.

A collection that an earlier request of the same call creates is named by a negative id: -1 is the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._records import Record
from .assets import Location
from .options import SortDescriptor


class ChangeRequest(Record):
    """The base class of all requests."""

    __slots__ = ()
    member = ""

    def to_request(self) -> dict[str, Any]:
        """Returns the ChangeRequest of the contract."""
        return {self.member: self.to_message()}


@dataclass(frozen=True, slots=True)
class EditAssets(ChangeRequest):
    """Edits assets. None leaves a value as it is. `clear` names fields that get the values of the file again."""

    member = "editAsset"
    ids: Sequence[int]
    is_favorite: bool | None = None
    is_hidden: bool | None = None
    rating: int | None = None
    title: str | None = None
    caption: str | None = None
    add_keywords: Sequence[str] | None = None
    remove_keywords: Sequence[str] | None = None
    creation_date: str | None = None
    shift_creation_date: float | None = None
    location: Location | None = None
    remove_location: bool | None = None
    clear: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class CreateAlbum(ChangeRequest):
    """Creates an album, in a folder of albums or at the top level."""

    member = "createAlbum"
    title: str
    asset_ids: Sequence[int] | None = None
    parent_id: int | None = None


@dataclass(frozen=True, slots=True)
class CreateFolder(ChangeRequest):
    """Creates a folder of albums."""

    member = "createFolder"
    title: str
    parent_id: int | None = None


@dataclass(frozen=True, slots=True)
class CreateSmartAlbum(ChangeRequest):
    """Creates a list that follows a query, which has at least a predicate or a text."""

    member = "createSmartAlbum"
    title: str
    predicate: str | None = None
    text: str | None = None
    sort_descriptors: Sequence[SortDescriptor] | None = None
    fetch_limit: int | None = None
    parent_id: int | None = None


@dataclass(frozen=True, slots=True)
class EditAlbum(ChangeRequest):
    """Edits an album. `place_asset_ids` adds and moves assets, before `before_asset_id` or to the end."""

    member = "editAlbum"
    id: int
    title: str | None = None
    place_asset_ids: Sequence[int] | None = None
    before_asset_id: int | None = None
    remove_asset_ids: Sequence[int] | None = None
    key_asset_id: int | None = None


@dataclass(frozen=True, slots=True)
class EditSmartAlbum(ChangeRequest):
    """Replaces the query of a smart album that a person made."""

    member = "editSmartAlbum"
    id: int
    predicate: str | None = None
    text: str | None = None
    sort_descriptors: Sequence[SortDescriptor] | None = None
    fetch_limit: int | None = None


@dataclass(frozen=True, slots=True)
class EditCollection(ChangeRequest):
    """Gives a collection another title, or moves it to another folder or place."""

    member = "editCollection"
    id: int
    title: str | None = None
    parent_id: int | None = None
    before_id: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteAlbum(ChangeRequest):
    """Deletes an album, a smart album that a person made, or a folder of albums with all that is in it. Photos stay."""

    member = "deleteAlbum"
    id: int

    def to_request(self) -> dict[str, Any]:
        return {self.member: self.id}


@dataclass(frozen=True, slots=True)
class TrashAssets(ChangeRequest):
    """Moves assets to the trash. Not every photod can do this."""

    member = "trashAssets"
    ids: Sequence[int]

    def to_request(self) -> dict[str, Any]:
        return {self.member: list(self.ids)}


@dataclass(frozen=True, slots=True)
class RestoreAssets(ChangeRequest):
    """Brings assets back from the trash. Not every photod can do this."""

    member = "restoreAssets"
    ids: Sequence[int]

    def to_request(self) -> dict[str, Any]:
        return {self.member: list(self.ids)}
