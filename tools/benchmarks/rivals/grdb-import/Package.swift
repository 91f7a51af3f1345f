// swift-tools-version: 6.2
import PackageDescription

// What the import is measured against. A package of its own, so that nobody else resolves it.
let package = Package(
  name: "grdb-import",
  dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
  targets: [
    .executableTarget(
      name: "grdb-import", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ]
)
