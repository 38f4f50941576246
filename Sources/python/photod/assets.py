"""Assets and collections. The contract `org.photod.library` explains each member."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._records import Record
from .options import SortDescriptor


@dataclass(frozen=True, slots=True)
class Location(Record):
    """A place on earth, in degrees and meters."""

    latitude: float
    longitude: float
    altitude: float | None = None


@dataclass(frozen=True, slots=True)
class Camera(Record):
    """The camera and its settings."""

    make: str | None = None
    model: str | None = None
    lens: str | None = None
    exposure_seconds: float | None = None
    f_number: float | None = None
    iso: int | None = None
    focal_length_millimeters: float | None = None
    flash_fired: bool | None = None


@dataclass(frozen=True, slots=True)
class Resource(Record):
    """One file of an asset.

    kind: photo, video, audio, alternatePhoto, pairedVideo, adjustedPhoto or sidecar.
    """

    kind: str
    path: str
    filename: str
    byte_count: int
    content_type: str


@dataclass(frozen=True, slots=True)
class Asset(Record):
    """One photo or video.

    media_type: image, video, audio or unknown.
    creation_date, modification_date, added_date: RFC 3339; `parse_date` reads them.
    available: false while its drive is offline.
    revision: the version of its content. Keep pictures by id, revision and size.
    resources: its files. The first is the one to show.
    """

    id: int
    media_type: str
    media_subtypes: tuple[str, ...]
    creation_date: str
    creation_date_source: str
    modification_date: str
    added_date: str
    keywords: tuple[str, ...]
    is_favorite: bool
    is_hidden: bool
    is_trashed: bool
    available: bool
    revision: str
    resources: tuple[Resource, ...]
    pixel_width: int | None = None
    pixel_height: int | None = None
    orientation: int | None = None
    duration_seconds: float | None = None
    location: Location | None = None
    camera: Camera | None = None
    title: str | None = None
    caption: str | None = None
    rating: int | None = None
    burst_identifier: str | None = None

    @property
    def path(self) -> str:
        """The path of the file to show."""
        return self.resources[0].path

    @property
    def filename(self) -> str:
        """The name of the file to show."""
        return self.resources[0].filename


@dataclass(frozen=True, slots=True)
class SmartAlbumQuery(Record):
    """The query of a smart album that a person made."""

    sort_descriptors: tuple[SortDescriptor, ...] = ()
    predicate: str | None = None
    text: str | None = None
    fetch_limit: int | None = None


@dataclass(frozen=True, slots=True)
class AssetCollection(Record):
    """An album, or a folder of albums.

    kind: smartAlbum, album, folderAlbum (of a folder on a disk) or folder (of albums).
    subtype: of a smart album: favorites, recents, videos and so on.
    key_asset_id: the cover.
    problem: why the query finds nothing, or why its assets were not counted, for a person.
    """

    id: int
    kind: str
    title: str
    count: int
    subtype: str | None = None
    parent_id: int | None = None
    path: str | None = None
    key_asset_id: int | None = None
    chosen_key_asset_id: int | None = None
    start_date: str | None = None
    end_date: str | None = None
    query: SmartAlbumQuery | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class UserData(Record):
    """The values that a person gave an asset. They count instead of those of its file; None was not given."""

    asset_id: int
    is_favorite: bool
    is_hidden: bool
    added_keywords: tuple[str, ...]
    removed_keywords: tuple[str, ...]
    has_no_location: bool
    rating: int | None = None
    title: str | None = None
    caption: str | None = None
    creation_date: str | None = None
    location: Location | None = None
    content_hash: str | None = None


def parse_date(text: str) -> datetime:
    """Reads a date of the contract. Without an offset, it is the time that the camera's clock showed, and has no zone.

    Raises ValueError.
    """
    return datetime.fromisoformat(text)
