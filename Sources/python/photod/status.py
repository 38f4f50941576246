"""The status of the daemon. The contract `org.photod.library` explains each member."""

from __future__ import annotations

from dataclasses import dataclass

from ._records import Record


@dataclass(frozen=True, slots=True)
class Root(Record):
    """A watched folder. state: online, offline, scanning, suspect or missing."""

    path: str
    state: str
    watch: str
    asset_count: int
    directory_count: int
    polled_directory_count: int
    since: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """How far photod is with what it does now."""

    done: int
    phase: str
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Counters(Record):
    """Counts since the start of the daemon."""

    assets_inserted: int
    assets_updated: int
    assets_removed: int
    files_read: int
    scans: int
    overflows: int
    watcher_starts: int


@dataclass(frozen=True, slots=True)
class Hashing(Record):
    """The reading of content, by which photos are recognised when they come back."""

    unsampled_count: int
    unhashed_count: int
    sampled_bytes: int
    hashed_bytes: int
    paused: str | None = None


@dataclass(frozen=True, slots=True)
class Readers(Record):
    """The processes that read the metadata of files."""

    running: int
    restarts: int
    blamed_files: int


@dataclass(frozen=True, slots=True)
class LibraryStatus(Record):
    """The status. state: opening, scanning, live, recovering or degraded. Each warning has a problem and its remedy."""

    state: str
    library: str
    token: str
    version: str
    asset_count: int
    pending_count: int
    failed_count: int
    roots: tuple[Root, ...]
    warnings: tuple[str, ...]
    observer_count: int
    connection_count: int
    progress: Progress | None = None
    counters: Counters | None = None
    hashing: Hashing | None = None
    readers: Readers | None = None
