// swift-tools-version: 6.2
import PackageDescription

// The rival of the import. A separate package, so that others don't resolve its dependencies.
let package = Package(
  name: "grdb-import",
  dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
  targets: [
    .executableTarget(
      name: "grdb-import", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ]
)
