// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that whoever uses the library neither resolves nor builds it.
let package = Package(
  name: "ArborBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "ArborData", path: "../..")],
  targets: [
    .executableTarget(
      name: "arborbench", dependencies: [.product(name: "ArborData", package: "ArborData")])
  ],
  swiftLanguageModes: [.v6]
)
