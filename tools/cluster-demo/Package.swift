// swift-tools-version: 6.2
import PackageDescription

// A catalog on several machines. A separate package, so that others don't resolve its
// dependencies.
let package = Package(
  name: "cluster-demo",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "ArborData", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
  ],
  targets: [
    .executableTarget(
      name: "catalogue",
      dependencies: [
        .product(name: "ArborData", package: "ArborData"),
        .product(name: "ArborPostgres", package: "ArborData"),
        .product(name: "ArborService", package: "ArborData"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
