// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that use the library neither resolve nor build it.
let package = Package(
  name: "ArborBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "ArborData", path: "../..")],
  targets: [
    // The rival of `arborbench gazetteer`; needs libsqlite3-dev with FTS5.
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    // The rival of `arborbench postgres`.
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .executableTarget(
      name: "arborbench",
      dependencies: [
        "CSQLite", "CLibPQ", .product(name: "ArborData", package: "ArborData"),
        .product(name: "ArborPostgres", package: "ArborData"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
