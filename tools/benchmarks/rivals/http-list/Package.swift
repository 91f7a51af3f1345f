// swift-tools-version: 6.2
import PackageDescription

// A list of objects as JSON over HTTP, by ArborData and by GRDB with the same server. A separate
// package, so that others don't resolve its dependencies.
let package = Package(
  name: "http-list",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "ArborData", path: "../../../.."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
  ],
  targets: [
    .executableTarget(
      name: "http-list",
      dependencies: [
        .product(name: "ArborData", package: "ArborData"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
