// swift-tools-version: 6.2
import PackageDescription

// A separate package, because its programs are linked with a fuzzer; `run` passes the compiler's
// options.
let package = Package(
  name: "ArborFuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "ArborData", path: "../..")],
  targets: ["seed", "mapping"].map { (part: String) in
    .executableTarget(
      name: "fuzz-\(part)", dependencies: [.product(name: "ArborData", package: "ArborData")],
      path: part, exclude: ["seeds.txt", "words.dict"])
  },
  swiftLanguageModes: [.v6]
)
