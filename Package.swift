// swift-tools-version: 6.1
import PackageDescription

// Each target imports only targets above it in this list, and targets in C, which are at its end.
let package = Package(
  name: "photod",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "PhotoClient", targets: ["PhotoClient"]),
    .library(name: "PhotoPredicates", targets: ["PhotoPredicates"]),
    .library(name: "Varlink", targets: ["Varlink"]),
    .executable(name: "photod", targets: ["photod"]),
    .executable(name: "photoctl", targets: ["photoctl"]),
    .executable(name: "photod-watch", targets: ["photod-watch"]),
    .executable(name: "photod-extract", targets: ["photod-extract"]),
    .executable(name: "photod-image", targets: ["photod-image"]),
    .executable(name: "photod-preview", targets: ["photod-preview"]),
    .executable(name: "photod-video", targets: ["photod-video"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
  ],
  targets: [
    // Values and pure functions.
    .target(name: "SystemErrors"),
    .target(name: "PhotoModel"),
    .target(name: "PredicateLanguage", dependencies: ["PhotoModel"]),
    .target(name: "ChangeDetails", dependencies: ["PhotoModel"]),
    .target(
      name: "PhotoContract", dependencies: ["ChangeDetails", "PhotoModel"],
      resources: [
        .embedInCode("org.photod.library.varlink"), .embedInCode("org.photod.manage.varlink"),
        .embedInCode("org.photod.images.varlink"),
      ]),
    .target(name: "WatchRecords"),
    .target(name: "ExtractRecords", dependencies: ["PhotoModel", "WatchRecords"]),
    .target(name: "ImageRecords", dependencies: ["WatchRecords"]),

    // The schema, and the protocol.
    .target(
      name: "Migrations", path: "Migrations",
      resources: [
        .embedInCode("schema.sql"),
        .embedInCode("v001-catalog.sql"), .embedInCode("v002-keywords.sql"), .embedInCode("v003-identity.sql"),
        .embedInCode("v004-user-data.sql"), .embedInCode("v005-volumes.sql"), .embedInCode("v006-seen.sql"),
        .embedInCode("v007-text.sql"), .embedInCode("v008-identity.sql"),
        .embedInCode("v009-dates.sql"), .embedInCode("v010-parked.sql"),
        .embedInCode("v011-user-data.sql"), .embedInCode("v012-smart-albums.sql"),
        .embedInCode("v013-duplicates.sql"),
        .embedInCode("v014-user-smart-albums.sql"),
        .embedInCode("v015-placements.sql"), .embedInCode("v016-readers.sql"),
        .embedInCode("v017-reader-version.sql"), .embedInCode("v018-content-versions.sql"),
        .embedInCode("v019-invisible.sql"),
      ]),
    .target(
      name: "SystemThreads", dependencies: ["CThread", .product(name: "NIOCore", package: "swift-nio")]),
    .target(
      name: "Varlink",
      dependencies: [
        "CThread", "SystemErrors", "SystemThreads",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),

    // Child processes.
    .target(
      name: "WorkerProcess", dependencies: ["CThread", "SystemErrors", .product(name: "Logging", package: "swift-log")]),

    // Files: watching folders and reading metadata.
    .target(
      name: "PhotoWatch",
      dependencies: ["WatchRecords", "WorkerProcess", .product(name: "Logging", package: "swift-log")]),
    .target(name: "FileContent", dependencies: ["PhotoModel"]),
    .target(
      name: "PhotoMetadata",
      dependencies: [
        "CExif", "CExifArena", "CExpat", "CZlib", "ExtractRecords", "FileContent", "PhotoModel", "SystemErrors",
      ]),

    .target(
      name: "PhotoExtract",
      dependencies: [
        "CDescriptorPassing", "ExtractRecords", "SystemErrors", "WatchRecords", "WorkerProcess",
        .product(name: "Logging", package: "swift-log"),
      ]),

    .target(
      name: "PhotoImages",
      dependencies: [
        "CDescriptorPassing", "CFileAttribute", "CThread", "FileContent", "ImageRecords", "PhotoContract",
        "PhotoModel", "SystemErrors",
        "WatchRecords", "WorkerProcess",
        .product(name: "Logging", package: "swift-log"),
      ]),

    // The catalog, and the calls of programs.
    .target(
      name: "PhotoCatalog",
      dependencies: [
        "CFileBirth", "CSQLiteSettings", "ChangeDetails", "Migrations", "PhotoContract", "PhotoModel",
        "PredicateLanguage", "SystemErrors",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(
      name: "PhotoClient", dependencies: ["ChangeDetails", "PhotoContract", "PhotoModel", "SystemErrors", "Varlink"]),
    // Apart from PhotoClient, because a program that links Foundation's predicates starts later.
    .target(name: "PhotoPredicates", dependencies: ["PhotoClient", "PhotoModel", "PredicateLanguage"]),

    .target(
      name: "PhotoIndexer",
      dependencies: [
        "ExtractRecords", "FileContent", "PhotoContract", "PhotoExtract", "PhotoModel", "PhotoCatalog", "PhotoWatch",
        "SystemErrors", "SystemThreads", "WatchRecords",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "PhotoLive", dependencies: ["ChangeDetails", "PhotoCatalog", "PhotoContract", "PhotoModel", "Varlink"]),
    .target(
      name: "PhotoServer",
      dependencies: [
        "ChangeDetails", "PhotoContract", "PhotoModel", "PhotoCatalog", "PhotoImages", "PhotoIndexer", "PhotoLive",
        "PhotoWatch", "PredicateLanguage", "SystemErrors", "SystemThreads", "Varlink", "WatchRecords",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "PhotoDaemon",
      dependencies: [
        "PhotoModel", "PhotoCatalog", "PhotoExtract", "PhotoImages", "PhotoIndexer", "PhotoLive", "PhotoServer",
        "PhotoWatch",
        "SystemErrors", "Varlink",
        "WatchRecords", "WorkerProcess",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "TOMLKit", package: "TOMLKit"),
      ]),

    // Programs.
    .executableTarget(
      name: "photod",
      dependencies: [
        "PhotoDaemon", "PredicateLanguage",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "photoctl",
      dependencies: [
        "ChangeDetails", "PhotoClient", "PhotoContract", "PhotoModel", "PredicateLanguage", "SystemErrors",
        "WorkerProcess",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "photod-watch",
      dependencies: ["SystemErrors", "WatchRecords", "CInotifyTools", "CThread", "CWatchShim"],
      exclude: ["COPYING"]),
    .executableTarget(
      name: "photod-extract",
      dependencies: [
        "CDescriptorPassing", "CReplyBuffer", "CSandbox", "ExtractRecords", "FileContent", "PhotoMetadata",
        "PhotoModel", "SystemErrors", "WatchRecords",
      ]),
    .target(
      name: "PictureDecoding",
      dependencies: ["CDescriptorPassing", "CSandbox", "ImageRecords", "SystemErrors", "WatchRecords"]),
    .target(
      name: "EmbeddedPictures", dependencies: ["CJPEG", "CSandbox", "ImageRecords", "PictureDecoding", "SystemErrors"]),
    .executableTarget(
      name: "photod-image",
      dependencies: ["CImageDecoders", "CSandbox", "EmbeddedPictures", "ImageRecords", "PictureDecoding"],
      exclude: ["COPYING"]),
    .executableTarget(
      name: "photod-preview", dependencies: ["EmbeddedPictures", "ImageRecords", "PictureDecoding"]),
    .executableTarget(
      name: "photod-video",
      dependencies: ["CSandbox", "CVideoDecoder", "ImageRecords", "PictureDecoding", "SystemErrors"],
      exclude: ["COPYING"]),

    // C
    .systemLibrary(name: "CExif", pkgConfig: "libexif", providers: [.apt(["libexif-dev"])]),
    .target(name: "CExifArena"),
    .target(name: "CReplyBuffer"),
    .target(name: "CSQLiteSettings"),
    .target(name: "CDescriptorPassing"),
    .target(name: "CSandbox"),
    .target(name: "CFileAttribute"),
    .target(name: "CFileBirth"),
    .target(name: "CThread"),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
    .target(name: "CWatchShim"),
    // The .pc files of libvips and LibRaw have options of the compiler that SwiftPM refuses. Their headers need the paths of
    // GLib only.
    .systemLibrary(name: "CVips", pkgConfig: "gobject-2.0", providers: [.apt(["libvips-dev"])]),
    .systemLibrary(name: "CHeif", pkgConfig: "libheif", providers: [.apt(["libheif-dev"])]),
    .target(
      name: "CImageDecoders", dependencies: ["CHeif", "CJPEG", "CVips"],
      linkerSettings: [
        .linkedLibrary("jxl"), .linkedLibrary("lcms2"), .linkedLibrary("raw"), .linkedLibrary("vips"),
      ]),
    // The package of libavformat depends on those of libavcodec and libavutil.
    .systemLibrary(
      name: "CFFmpeg", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev", "libswscale-dev"])]),
    .target(
      name: "CVideoDecoder", dependencies: ["CFFmpeg", "CJPEG"],
      linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil"), .linkedLibrary("swscale")]),
    .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("m")]),

    // Tests
    .target(name: "CTestProcess", path: "Tests/CTestProcess"),
    .target(name: "TestTools", dependencies: ["CTestProcess", "PhotoModel"], path: "Tests/TestTools"),
    .target(
      name: "PhotoTestSupport",
      dependencies: [
        "PhotoCatalog", "PhotoExtract", "PhotoModel", "PhotoWatch", "TestTools", "Varlink", "WatchRecords",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/PhotoTestSupport"),
    .target(
      name: "TestFetches", dependencies: ["PhotoCatalog", "PhotoModel", "PredicateLanguage"],
      path: "Tests/TestFetches"),
    .testTarget(name: "PhotoModelTests", dependencies: ["TestTools", "PhotoModel"]),
    .testTarget(
      name: "PredicateLanguageTests", dependencies: ["TestTools", "PredicateLanguage", "PhotoModel"],
      exclude: ["Snapshots"]),
    .testTarget(name: "ChangeDetailsTests", dependencies: ["TestTools", "ChangeDetails", "PhotoModel"]),
    .testTarget(
      name: "PhotoContractTests",
      dependencies: ["TestTools", "PhotoContract", "ChangeDetails", "PhotoModel", "PredicateLanguage", "Varlink"]),
    .testTarget(name: "WatchRecordsTests", dependencies: ["TestTools", "WatchRecords"]),
    .testTarget(
      name: "PhotoWatchTests",
      dependencies: [
        "PhotoTestSupport", "PhotoWatch", "WatchRecords", "WorkerProcess",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(name: "MetadataSamples", path: "Tests/MetadataSamples"),
    .testTarget(
      name: "PhotoMetadataTests",
      dependencies: [
        "CZlib", "ExtractRecords", "FileContent", "MetadataSamples", "TestTools", "PhotoMetadata", "PhotoModel",
      ]),
    .testTarget(name: "FileContentTests", dependencies: ["FileContent", "PhotoModel", "TestTools"]),
    .testTarget(
      name: "ExtractRecordsTests", dependencies: ["ExtractRecords", "PhotoModel", "TestTools", "WatchRecords"]),
    .testTarget(name: "ImageRecordsTests", dependencies: ["ImageRecords", "TestTools", "WatchRecords"]),
    .testTarget(
      name: "PhotoImageTests",
      dependencies: ["CDescriptorPassing", "CZlib", "ImageRecords", "TestTools", "WatchRecords", "WorkerProcess"]),
    .testTarget(
      name: "PhotoExtractTests",
      dependencies: [
        "CExpat", "CReplyBuffer", "ExtractRecords", "PhotoExtract", "PhotoModel", "PhotoTestSupport", "TestTools",
        "WorkerProcess", .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "PhotoImagesTests",
      dependencies: [
        "CThread", "CZlib", "ImageRecords", "PhotoImages", "PhotoModel", "TestTools", "WatchRecords", "WorkerProcess",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(name: "SystemThreadsTests", dependencies: ["CThread", "SystemThreads"]),
    .testTarget(
      name: "VarlinkTests",
      dependencies: [
        "CThread", "SystemThreads", "TestTools", "Varlink", .product(name: "NIOCore", package: "swift-nio"),
      ]),
    .testTarget(
      name: "PhotoCatalogTests",
      dependencies: [
        "ChangeDetails", "PhotoTestSupport", "PredicateLanguage", "TestFetches", "PhotoCatalog", "PhotoModel",
        "Migrations",
      ]),
    .testTarget(
      name: "PhotoLiveTests",
      dependencies: ["PhotoCatalog", "PhotoLive", "PhotoModel", "PhotoTestSupport", "TestTools"]),
    .testTarget(
      name: "PhotoIndexerTests",
      dependencies: [
        "ChangeDetails", "PhotoTestSupport",
        "ExtractRecords", "FileContent", "PhotoExtract", "PhotoLive", "PhotoIndexer", "PhotoCatalog", "PhotoModel",
        "PhotoWatch", "WatchRecords", "WorkerProcess",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "PhotoServerTests",
      dependencies: [
        "CThread", "ChangeDetails", "ImageRecords", "PhotoContract", "PhotoImages", "PhotoLive", "PhotoTestSupport",
        "PhotoExtract", "PhotoServer", "PhotoIndexer", "PhotoCatalog", "PhotoModel", "PhotoWatch", "WatchRecords",
        "SystemThreads", "Varlink",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "PhotoDaemonTests",
      dependencies: [
        "PhotoTestSupport", "PhotoDaemon", "PhotoCatalog", "PhotoIndexer", "PhotoModel", "PhotoServer", "Varlink",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "PhotoClientTests",
      dependencies: ["ChangeDetails", "PhotoContract", "TestTools", "PhotoClient", "PhotoModel", "Varlink"]),
    .testTarget(
      name: "PhotoPredicatesTests",
      dependencies: [
        "PhotoClient", "PhotoModel", "PhotoPredicates", "PhotoTestSupport", "PredicateLanguage", "TestTools",
      ]),
    .testTarget(
      name: "photoctlTests",
      dependencies: [
        "ChangeDetails", "PhotoContract", "PredicateLanguage", "TestTools",
        "photoctl", "PhotoClient", "PhotoModel", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], exclude: ["Snapshots"]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "ChangeDetails", "CThread", "PhotoContract", "PhotoTestSupport", "PredicateLanguage", "TestFetches",
        "PhotoModel", "PhotoCatalog", "PhotoClient", "Varlink", .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "ExampleTests", dependencies: ["PhotoClient", "PhotoModel", "PhotoTestSupport"]),
    .testTarget(name: "DocumentationTests", dependencies: ["TestTools", "PhotoClient"]),
    .testTarget(name: "PackagingTests", dependencies: ["TestTools"]),
    .testTarget(name: "ServiceTests", dependencies: ["PhotoTestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)

// The examples: `PHOTOD_EXAMPLES=1 swift run NAME`. Tests run them, and the build of all tests has PHOTOD_BENCHMARKS.
if Context.environment["PHOTOD_EXAMPLES"] != nil || Context.environment["PHOTOD_BENCHMARKS"] != nil {
  package.targets.first { $0.name == "TestTools" }?.swiftSettings = [.define("PHOTOD_EXAMPLES")]
  package.targets += [
    .executableTarget(name: "AlbumListExample", dependencies: ["PhotoClient"], path: "Examples/AlbumList"),
    .executableTarget(name: "GalleryExample", dependencies: ["PhotoClient"], path: "Examples/Gallery"),
    .executableTarget(name: "ImagePickerExample", dependencies: ["PhotoClient"], path: "Examples/ImagePicker"),
    .executableTarget(name: "ObservedGridExample", dependencies: ["PhotoClient"], path: "Examples/ObservedGrid"),
    .executableTarget(name: "PrefetcherExample", dependencies: ["PhotoClient"], path: "Examples/Prefetcher"),
    .executableTarget(name: "ThumbnailListExample", dependencies: ["PhotoClient"], path: "Examples/ThumbnailList"),
  ]
}

// The program that makes catalogs and measures reads for `make bench`. Only `make bench` builds it.
if Context.environment["PHOTOD_BENCHMARKS"] != nil {
  package.targets.append(
    .executableTarget(
      name: "photod-measure",
      dependencies: [
        "ChangeDetails", "FileContent", "PhotoClient", "PhotoContract", "PhotoMetadata", "TestTools",
        "PhotoModel", "PhotoCatalog", "Varlink", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Benchmarks/Measure"))
}

// The targets of `make fuzz`, which need the options of libFuzzer: built for it alone.
if Context.environment["PHOTOD_FUZZ"] != nil {
  package.targets += [
    .executableTarget(
      name: "photod-fuzz",
      dependencies: [
        "ExtractRecords", "FileContent", "ImageRecords", "MetadataSamples", "PhotoImages", "PhotoMetadata",
        "PhotoModel", "PredicateLanguage", "Varlink", "WatchRecords", .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Tests/Fuzz/Targets")
  ]
}
