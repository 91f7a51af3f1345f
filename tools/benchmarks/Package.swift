// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that whoever uses the library neither resolves nor builds it.
let package = Package(
  name: "ArborBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "ArborData", path: "../..")],
  targets: [
    // The rival of `arborbench gazetteer`; needs libsqlite3-dev with FTS5.
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "arborbench",
      dependencies: ["CSQLite", .product(name: "ArborData", package: "ArborData")]),
  ],
  swiftLanguageModes: [.v6]
)
