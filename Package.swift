// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// What every Swift target is built with: the checks that Swift 6 leaves to the package.
let common: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // Backtraces keep their lines; the rest of the debugging information costs a release build 5 % of
  // its time and a third of its objects.
  .unsafeFlags(["-Xfrontend", "-gline-tables-only"], .when(configuration: .release)),
  // Types of the standard library over ours are asked for by a call, not by a name that the runtime
  // parses and whose requirements it looks up among all conformances: half of what opening costs.
  .unsafeFlags(
    ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"],
    .when(configuration: .release)),
]

/// Hot layers read class properties millions of times a second. A dynamic exclusivity check costs
/// about 5 ns each; debug builds, and with them every test, keep the checks.
let unchecked: [SwiftSetting] = [
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
]
let hot: [SwiftSetting] = common + unchecked

/// Layers above the store touch no memory by hand, and the compiler holds them to it.
let safe: [SwiftSetting] = common + [.strictMemorySafety()]

/// A naive evaluator costs more than what it checks, so it is optimised in debug builds too.
let tireless = common + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
  name: "ArborData",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "ArborData", targets: ["ArborData"]),
    .library(name: "ArborCore", targets: ["ArborCore"]),
    .library(name: "ArborMacros", targets: ["ArborMacros"]),
    .library(name: "ArborService", targets: ["ArborService"]),
    .library(name: "ArborBrowser", targets: ["ArborBrowser"]),
    .library(name: "ArborPostgres", targets: ["ArborPostgres"]),
    .executable(name: "lmdb-inspect", targets: ["lmdb-inspect"]),
  ],
  traits: [
    .trait(
      name: "Macros",
      description: "The macros of ArborMacros, such as @Entity, which are built with swift-syntax."),
    .trait(
      name: "Service",
      description: "ArborService, which depends on swift-service-lifecycle, metrics and tracing."),
    .default(enabledTraits: ["Macros", "Service"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
    // Of ArborService and its tests only: packages that do not use that product do not build them.
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "CArborBits"),
    .target(name: "ArborLocks", swiftSettings: common),
    .target(name: "LMDB", dependencies: ["CLMDB", "CArborBits", "ArborLocks"], swiftSettings: hot),
    .target(name: "ArborFoundation", swiftSettings: common),
    .target(
      name: "ArborErrors", dependencies: ["ArborFoundation", "ArborLocks"], swiftSettings: hot),
    .target(
      name: "ArborJSON", dependencies: ["ArborErrors", "ArborFoundation", "ArborLocks"],
      swiftSettings: hot),
    .target(
      name: "ArborModel",
      dependencies: ["ArborErrors", "ArborJSON", "ArborFoundation", "CArborBits", "ArborLocks"],
      swiftSettings: hot),
    .target(
      name: "ArborModelFiles", dependencies: ["ArborModel", "ArborJSON"], swiftSettings: common),
    .target(
      name: "ArborStore",
      dependencies: ["LMDB", "ArborModel", "ArborFoundation", "CArborBits", "ArborLocks"],
      swiftSettings: hot),
    .target(
      name: "ArborLog",
      dependencies: ["ArborStore", "ArborModel", "ArborFoundation", "ArborLocks", "LMDB"],
      swiftSettings: common),
    .target(
      name: "ArborObjects",
      dependencies: [
        "ArborLog", "ArborStore", "ArborModel", "ArborJSON", "ArborFoundation", "ArborLocks",
        "ArborSource", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: hot),
    .target(
      name: "ArborExchange",
      dependencies: [
        "ArborObjects", "ArborModel", "ArborJSON", "ArborFoundation", "ArborLocks",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: safe + unchecked),
    .target(
      name: "ArborCore",
      dependencies: [
        "ArborExchange", "ArborObjects", "ArborLog", "ArborModel", "ArborJSON", "ArborErrors",
      ],
      swiftSettings: safe),
    .target(name: "CArborLocale"),
    .target(
      name: "ArborLocale",
      dependencies: [
        "ArborExchange", "ArborObjects", "ArborModel", "ArborErrors", "ArborFoundation",
        "ArborLocks", "CArborLocale",
      ],
      swiftSettings: common),
    .target(
      name: "ArborData",
      dependencies: [
        "ArborLocale", "ArborExchange", "ArborObjects", "ArborLog", "ArborModelFiles",
        "ArborModel", "ArborJSON", "ArborErrors", "ArborLocks",
      ],
      swiftSettings: safe),
    // Nothing else depends on it: a package that does not ask for its product needs no libpq.
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
      name: "ArborPostgres", dependencies: ["CPostgres", "ArborLog", "ArborModel", "ArborLocks"],
      swiftSettings: safe),
    .target(name: "ArborSource", swiftSettings: safe),
    // No test target depends on it directly: SwiftPM would build every module a second time, for
    // the host. Tests ask the compiler instead (RefusedByCompiler).
    .macro(
      name: "ArborMacroPlugin",
      dependencies: [
        "ArborSource",
        .product(
          name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])
        ),
        .product(
          name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: safe),
    .target(
      name: "ArborMacros", dependencies: ["ArborMacroPlugin", "ArborObjects", "ArborModel"],
      swiftSettings: safe),
    .target(
      name: "ArborService",
      dependencies: [
        "ArborData", "ArborObjects", "ArborLocks",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Service"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Service"])),
        .product(
          name: "Tracing", package: "swift-distributed-tracing",
          condition: .when(traits: ["Service"])),
      ],
      swiftSettings: safe),
    // The page's files are compiled in, so that the tool is one file and needs no bundle.
    .target(
      name: "ArborBrowser",
      dependencies: [
        "ArborLocale", "ArborObjects", "ArborStore", "ArborModel", "ArborJSON", "ArborLocks",
        "ArborSource", "LMDB",
      ],
      resources: [.embedInCode("Page")], swiftSettings: common),
    .executableTarget(
      name: "lmdb-inspect",
      dependencies: [
        "ArborBrowser", "ArborLocale", "ArborExchange", "ArborObjects", "ArborLog", "ArborStore",
        "ArborModel", "ArborModelFiles", "ArborJSON", "LMDB",
        "ArborSource", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "tools/lmdb-inspect", exclude: ["lmdb-inspect.1"], swiftSettings: common),
    .executableTarget(
      name: "world", dependencies: ["ArborData"], path: "tools/world",
      exclude: ["World.xcdatamodeld", "Seeds"], swiftSettings: common),

    // Programs that only tests start, and calls of the system that fail on request in them alone.
    .executableTarget(
      name: "core-hello", dependencies: ["ArborCore"], path: "Tests/Programs/core-hello",
      swiftSettings: common),
    .target(name: "CFaults", path: "Tests/Programs/faults"),
    .executableTarget(
      name: "crash-writer",
      dependencies: ["ArborData", "ArborStore", "ArborLocks", "CFaults", "LMDB"],
      path: "Tests/Programs/crash-writer", swiftSettings: common),
    .executableTarget(
      name: "log-writer", dependencies: ["ArborData", "ArborPostgres", "CFaults"],
      path: "Tests/Programs/log-writer", swiftSettings: common),
    .executableTarget(
      name: "damage-reader",
      dependencies: ["ArborObjects", "ArborStore", "ArborModel", "LMDB", "CArborBits"],
      path: "Tests/Programs/damage-reader", swiftSettings: common),
    .executableTarget(
      name: "json-bench",
      dependencies: ["ArborLocale", "ArborExchange", "ArborModel", "ArborJSON"],
      path: "Tests/Programs/json-bench", swiftSettings: common),

    .target(name: "TestLength", path: "Tests/TestLength", swiftSettings: common),
    .target(
      name: "TestSupport",
      dependencies: [
        "ArborLocale", "ArborLocks", "ArborLog", "ArborStore", "ArborObjects", "ArborModel",
        "CLMDB", "LMDB",
      ],
      path: "Tests/TestSupport", swiftSettings: common),
    .target(
      name: "ModelSamples", dependencies: ["ArborModel", "TestLength"], path: "Tests/ModelSamples",
      swiftSettings: common),
    .testTarget(name: "ArborLocksTests", dependencies: ["ArborLocks"], swiftSettings: common),
    .testTarget(
      name: "LMDBTests", dependencies: ["LMDB", "ArborLocks", "TestLength"], swiftSettings: common),
    .testTarget(name: "ArborErrorsTests", dependencies: ["ArborErrors"], swiftSettings: common),
    .testTarget(
      name: "ArborJSONTests", dependencies: ["ArborJSON", "TestLength"], exclude: ["Fixtures"],
      swiftSettings: common),
    .testTarget(
      name: "ArborModelTests",
      dependencies: ["ArborLocale", "ArborModel", "ArborJSON", "ModelSamples", "TestLength"],
      swiftSettings: common),
    .testTarget(
      name: "ArborModelFilesTests",
      dependencies: [
        "ArborLocale", "ArborModelFiles", "ArborModel", "ArborJSON", "ModelSamples", "TestLength",
      ],
      exclude: ["Fixtures"], swiftSettings: common),
    .testTarget(
      name: "ArborStoreTests",
      dependencies: ["ArborStore", "ArborLocks", "TestLength", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "ArborLogTests",
      dependencies: ["ArborLog", "ArborObjects", "TestLength", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "ArborPostgresTests",
      dependencies: [
        "ArborPostgres", "ArborLog", "ArborLocks", "ArborModel", "ArborObjects", "TestLength",
        "TestSupport", "log-writer",
      ],
      swiftSettings: common),
    .testTarget(
      name: "ArborObjectsTests",
      dependencies: [
        "ArborLocale", "ArborObjects", "ArborJSON", "ArborLog", "ArborLocks", "LMDB", "TestLength",
        "TestSupport", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: common),
    .testTarget(
      name: "ArborExchangeTests",
      dependencies: [
        "ArborLocale", "ArborExchange", "ArborJSON", "ArborLocks", "TestLength", "TestSupport",
      ], swiftSettings: common),
    .testTarget(
      name: "ArborDataTests", dependencies: ["ArborData", "TestLength", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "ArborMacrosTests",
      dependencies: ["ArborMacros", "ArborData", "ArborObjects", "ArborSource", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "ArborServiceTests",
      dependencies: [
        "ArborService", "ArborData", "ArborLocks", "ArborLog", "TestSupport",
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: common),
    .testTarget(
      name: "ArborBrowserTests",
      dependencies: [
        "ArborBrowser", "ArborData", "ArborJSON", "ArborLocks", "TestLength", "TestSupport",
        "lmdb-inspect",
      ],
      swiftSettings: common),
    .testTarget(
      name: "InspectTests",
      dependencies: ["ArborData", "CLMDB", "ModelSamples", "TestSupport", "lmdb-inspect"],
      exclude: ["Generated/Fleet.model.json"], swiftSettings: common),
    .testTarget(
      name: "SystemTests",
      dependencies: [
        "ArborData", "ArborExchange", "ArborMacros", "ArborObjects", "ArborModel", "ArborStore",
        "ArborBrowser", "ArborService", "ArborLocks", "TestLength", "TestSupport", "core-hello",
        "crash-writer", "damage-reader", "lmdb-inspect", "world",
      ],
      swiftSettings: common),
    .testTarget(
      name: "DifferentialTests",
      dependencies: [
        "ArborData", "ArborObjects", "ArborModel", "ArborLocks", "TestLength", "TestSupport",
      ],
      swiftSettings: tireless),
    .testTarget(name: "TidyTests", swiftSettings: common),
  ],
  swiftLanguageModes: [.v6]
)
