"""The options of a fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._records import Record

MediaType = Literal["image", "video", "audio", "unknown"]
CollectionKind = Literal["smartAlbum", "album", "folderAlbum", "folder"]


@dataclass(frozen=True, slots=True)
class SortDescriptor(Record):
    """A key by which a list is sorted, such as creationDate, filename or rating."""

    key: str
    ascending: bool = True


@dataclass(frozen=True, slots=True)
class FetchOptions(Record):
    """The assets of a list, and their order. Without options, it is every visible asset, newest first.

    collection: "smart:favorites", "album:Title", "folder:/path", "id:42", or a title.
    predicate: such as "isFavorite == true AND camera.model CONTAINS[c] 'x-t'".
    text: the words of a search field.
    """

    collection: str | None = None
    media_types: tuple[MediaType, ...] | None = None
    predicate: str | None = None
    text: str | None = None
    sort_descriptors: tuple[SortDescriptor, ...] | None = None
    fetch_limit: int | None = None
    include_hidden: bool | None = None
    include_trashed: bool | None = None
    exclude_unavailable: bool | None = None
