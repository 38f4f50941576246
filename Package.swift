// swift-tools-version: 6.1
import PackageDescription

// Each target imports only those above it in this list; the order is the house of the architecture, from the ground up.
let package = Package(
  name: "photod",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "PhotoModel", targets: ["PhotoModel"]),
    .library(name: "PhotoClient", targets: ["PhotoClient"]),
    .library(name: "Varlink", targets: ["Varlink"]),
    .executable(name: "photod", targets: ["photod"]),
    .executable(name: "photoctl", targets: ["photoctl"]),
    .executable(name: "photod-watch", targets: ["photod-watch"]),
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
    .target(name: "PhotoModel"),
    .target(name: "WatchRecords"),

    // The schema, and the protocol.
    .target(
      name: "Migrations", path: "Migrations",
      resources: [
        .embedInCode("v001-catalog.sql"), .embedInCode("v002-keywords.sql"), .embedInCode("v003-identity.sql"),
        .embedInCode("v004-user-data.sql"), .embedInCode("v005-volumes.sql"), .embedInCode("v006-seen.sql"),
        .embedInCode("v007-text.sql"),
      ]),
    .target(
      name: "Varlink",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),

    // What the disk says.
    .target(
      name: "PhotoWatch",
      dependencies: ["WatchRecords", .product(name: "Logging", package: "swift-log")]),
    .target(name: "PhotoMetadata", dependencies: ["CExif", "CExifArena", "CExpat", "PhotoModel"]),

    // What the library knows, and how a program asks it.
    .target(
      name: "PhotoCatalog",
      dependencies: [
        "PhotoModel", "Migrations",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(name: "PhotoClient", dependencies: ["PhotoModel", "Varlink"]),

    .target(
      name: "PhotoIndexer",
      dependencies: [
        "PhotoModel", "PhotoCatalog", "PhotoWatch", "PhotoMetadata", "WatchRecords",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "PhotoServer",
      dependencies: [
        "PhotoModel", "PhotoCatalog", "PhotoIndexer", "Varlink",
        .product(name: "Logging", package: "swift-log"),
      ],
      resources: [.embedInCode("org.photod.library.varlink"), .embedInCode("org.photod.manage.varlink")]),
    .target(
      name: "PhotoDaemon",
      dependencies: [
        "PhotoModel", "PhotoCatalog", "PhotoIndexer", "PhotoServer", "PhotoWatch", "Varlink",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "TOMLKit", package: "TOMLKit"),
      ]),

    // Programs.
    .executableTarget(
      name: "photod",
      dependencies: [
        "PhotoDaemon",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "photoctl",
      dependencies: [
        "PhotoClient",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "photod-watch",
      dependencies: ["WatchRecords", "CInotifyTools", "CWatchShim"],
      exclude: ["COPYING"]),

    // C
    .systemLibrary(name: "CExif", pkgConfig: "libexif", providers: [.apt(["libexif-dev"])]),
    .target(name: "CExifArena"),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
    .target(name: "CWatchShim"),

    // Tests
    .target(name: "TestPlaces", path: "Tests/TestPlaces"),
    .target(name: "TestFetches", dependencies: ["PhotoCatalog", "PhotoModel"], path: "Tests/TestFetches"),
    .testTarget(name: "PhotoModelTests", dependencies: ["PhotoModel"], exclude: ["Snapshots"]),
    .testTarget(name: "WatchRecordsTests", dependencies: ["WatchRecords"]),
    .testTarget(
      name: "PhotoWatchTests",
      dependencies: [
        "TestPlaces", "PhotoWatch", "WatchRecords", .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(name: "PhotoMetadataTests", dependencies: ["PhotoMetadata", "PhotoModel"]),
    .testTarget(
      name: "VarlinkTests", dependencies: ["Varlink", .product(name: "NIOCore", package: "swift-nio")]),
    .testTarget(name: "PhotoCatalogTests", dependencies: ["TestFetches", "PhotoCatalog", "PhotoModel"]),
    .testTarget(
      name: "PhotoIndexerTests",
      dependencies: [
        "PhotoIndexer", "PhotoCatalog", "PhotoModel", "PhotoWatch", "WatchRecords",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "PhotoServerTests",
      dependencies: [
        "PhotoServer", "PhotoIndexer", "PhotoCatalog", "PhotoModel", "PhotoWatch", "WatchRecords", "Varlink",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "PhotoDaemonTests",
      dependencies: [
        "PhotoDaemon", "PhotoCatalog", "PhotoIndexer", "PhotoModel", "Varlink",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(name: "PhotoClientTests", dependencies: ["PhotoClient", "PhotoModel", "Varlink"]),
    .testTarget(
      name: "photoctlTests",
      dependencies: [
        "photoctl", "PhotoClient", "PhotoModel", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], exclude: ["Snapshots"]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: ["TestPlaces", "TestFetches", "PhotoModel", "PhotoCatalog", "PhotoClient", "Varlink"]),
    .testTarget(name: "DocumentationTests", dependencies: ["PhotoClient", "PhotoModel"]),
    .testTarget(name: "PackagingTests"),
    .testTarget(name: "ServiceTests"),
  ],
  swiftLanguageModes: [.v6]
)

// What `make bench` measures with beside the programs: built for it alone.
if Context.environment["PHOTOD_BENCHMARKS"] != nil {
  package.targets.append(
    .executableTarget(
      name: "photod-measure",
      dependencies: ["PhotoModel", "PhotoCatalog", "Varlink", .product(name: "GRDB", package: "GRDB.swift")],
      path: "Tests/Benchmarks/Measure"))
}
