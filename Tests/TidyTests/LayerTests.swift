import Testing

/// Layers are targets with one-way imports. The compiler allows imports of transitive dependencies;
/// this table does not.
@Suite("Imports between layers") struct LayerTests {
  /// The modules of the package that each target may import.
  static let layers: [String: Set<String>] = [
    "ArborLocks": [],
    "ArborFoundation": [],
    "LMDB": ["CLMDB", "CArborBits", "ArborLocks"],
    "ArborErrors": ["ArborFoundation", "ArborLocks"],
    "ArborJSON": ["ArborFoundation", "ArborErrors", "ArborLocks"],
    "ArborModel": ["ArborFoundation", "ArborErrors", "ArborJSON", "CArborBits", "ArborLocks"],
    "ArborModelFiles": ["ArborModel", "ArborJSON"],
    "ArborStore": ["ArborFoundation", "LMDB", "ArborModel", "CArborBits", "ArborLocks"],
    "ArborLog": ["ArborFoundation", "ArborStore", "ArborModel", "ArborLocks", "LMDB"],
    "ArborObjects": [
      "ArborFoundation", "ArborLog", "ArborStore", "ArborModel", "ArborJSON", "ArborLocks",
      "ArborSource",
    ],
    "ArborExchange": ["ArborFoundation", "ArborObjects", "ArborModel", "ArborJSON", "ArborLocks"],
    "ArborCore": [
      "ArborExchange", "ArborObjects", "ArborLog", "ArborModel", "ArborJSON", "ArborErrors",
    ],
    "ArborLocale": [
      "ArborExchange", "ArborObjects", "ArborModel", "ArborErrors",
      "ArborFoundation", "ArborLocks",
    ],
    "ArborData": [
      "ArborLocale",
      "ArborExchange", "ArborObjects", "ArborLog", "ArborModelFiles", "ArborModel", "ArborJSON",
      "ArborErrors", "ArborLocks",
    ],
    "ArborPostgres": ["CPostgres", "ArborLog", "ArborModel", "ArborLocks"],
    "ArborSource": [],
    "ArborMacroPlugin": ["ArborSource"],
    "ArborMacros": ["ArborModel"],
    "ArborService": ["ArborData", "ArborObjects", "ArborLocks"],
    "ArborBrowser": [
      "ArborObjects", "ArborStore", "ArborModel", "ArborJSON", "ArborLocks", "ArborSource", "LMDB",
    ],
    "lmdb-inspect": [
      "ArborBrowser", "ArborExchange", "ArborObjects", "ArborLog", "ArborStore", "ArborModel",
      "ArborModelFiles", "ArborJSON", "ArborSource", "LMDB",
    ],
    "world": ["ArborData"],
    "core-hello": ["ArborCore"],
    "crash-writer": ["ArborData", "ArborStore", "ArborLocks", "CFaults", "LMDB"],
    "log-writer": ["ArborData", "ArborPostgres", "CFaults"],
    "damage-reader": ["ArborObjects", "ArborStore", "ArborModel", "LMDB", "CArborBits"],
    "fuzz": ["ArborData"],
    "json-bench": ["ArborExchange", "ArborModel", "ArborJSON"],
    "arborbench": ["ArborData", "ArborPostgres"],
    "cluster-demo": ["ArborData", "ArborPostgres", "ArborService"],
    "TestLength": [],
    "TestSupport": [
      "ArborLocks", "ArborLog", "ArborStore", "ArborObjects", "ArborModel", "CLMDB", "LMDB",
    ],
    "ArborLocksTests": ["ArborLocks"],
    "LMDBTests": ["TestLength", "LMDB", "CLMDB", "CArborBits", "ArborLocks"],
    "ArborErrorsTests": ["ArborErrors"],
    "ArborJSONTests": ["TestLength", "ArborJSON"],
    "ModelSamples": ["TestLength", "ArborModel"],
    "ArborModelTests": ["TestLength", "ModelSamples", "ArborModel", "ArborJSON", "CArborBits"],
    "ArborModelFilesTests": [
      "TestLength", "ModelSamples", "ArborModelFiles", "ArborModel", "ArborJSON",
    ],
    "ArborStoreTests": [
      "TestLength", "ArborStore", "LMDB", "ArborModel", "ArborLocks", "TestSupport",
    ],
    "ArborLogTests": [
      "TestLength", "ArborLog", "ArborObjects", "ArborStore", "ArborModel", "TestSupport",
    ],
    "ArborPostgresTests": [
      "TestLength", "ArborPostgres", "ArborLog", "ArborModel", "ArborObjects", "ArborLocks",
      "TestSupport",
    ],
    "ArborObjectsTests": [
      "ArborLocale", "TestLength", "ArborObjects", "ArborJSON", "ArborLog", "ArborStore", "LMDB",
      "ArborModel",
      "ArborLocks", "TestSupport",
    ],
    "ArborExchangeTests": [
      "ArborLocale", "ArborExchange", "ArborObjects", "ArborModel", "ArborJSON", "ArborLocks",
      "TestLength", "TestSupport",
    ],
    "ArborDataTests": [
      "TestLength", "ArborData", "ArborModel", "ArborObjects", "ArborStore", "TestSupport",
    ],
    "ArborMacrosTests": ["ArborMacros", "ArborData", "ArborObjects", "ArborSource", "TestSupport"],
    "ArborServiceTests": ["ArborService", "ArborData", "ArborLocks", "ArborLog", "TestSupport"],
    "ArborBrowserTests": [
      "ArborBrowser", "ArborData", "ArborModel", "ArborJSON", "ArborLocks", "TestLength",
      "TestSupport",
    ],
    "InspectTests": ["lmdb_inspect", "ArborData", "CLMDB", "ModelSamples", "TestSupport"],
    "SystemTests": [
      "TestLength", "crash_writer", "ArborData", "ArborExchange", "ArborMacros", "ArborModel",
      "ArborObjects", "ArborLocks", "ArborStore", "TestSupport",
    ],
    "DifferentialTests": [
      "TestLength", "ArborData", "ArborLocks", "ArborModel", "ArborObjects", "TestSupport",
    ],
    "TidyTests": [],
  ]

  /// The external modules that any target may import.
  static let common: Set<String> = [
    "Foundation", "Synchronization", "Dispatch", "Glibc", "Musl", "Darwin", "Testing",
  ]

  /// The additional external modules that individual targets may import.
  static let outside: [String: Set<String>] = [
    "ArborModelFiles": ["FoundationXML"],
    "ArborFoundation": ["FoundationEssentials"],
    "core-hello": ["FoundationEssentials"],
    "ArborExchange": ["Logging"],
    "ArborLocale": ["FoundationNetworking"],
    "ArborObjects": ["Logging", "Observation"],
    "ArborService": ["Logging", "Metrics", "ServiceLifecycle", "Tracing"],
    "ArborServiceTests": [
      "InMemoryTracing", "Logging", "Metrics", "MetricsTestKit", "ServiceLifecycle", "Tracing",
      "UnixSignals",
    ],
    "ArborMacroPlugin": [
      "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
      "SwiftSyntaxMacros",
    ],
    "ArborObjectsTests": ["Logging", "Observation"],
    "SystemTests": ["Observation"],
    "lmdb-inspect": ["ArgumentParser", "Logging"],
    "arborbench": ["CLibPQ", "CSQLite", "GRDB", "Hummingbird"],
    "cluster-demo": ["ArgumentParser", "FoundationNetworking", "Hummingbird", "Logging"],
    "InspectTests": ["ArgumentParser"],
  ]

  /// The layers that don't import all of Foundation: those of ArborCore.
  static let withoutFoundation: Set<String> = [
    "ArborLocks", "LMDB", "ArborErrors", "ArborJSON", "ArborModel", "ArborStore", "ArborLog",
    "ArborObjects", "ArborExchange", "ArborSource", "ArborCore",
  ]

  @Test("Every import is in the table")
  func everyImportIsInTheTable() {
    for file in SourceTree.swiftFiles(in: ["Sources", "Tests", "tools"]) {
      #expect(Self.problems(of: file.code, target: file.target) == [], "\(file.path)")
    }
  }

  @Test("Only the wrappers import LMDB and libpq")
  func onlyTheWrapperImportsTheEngine() {
    let files = SourceTree.swiftFiles(in: ["Sources", "Tests/Programs", "tools"])
    let importers = files.filter { Self.imports(of: $0.code).contains("CLMDB") }
    #expect(Set(importers.map(\.target)) == ["LMDB"])
    let clients = files.filter { Self.imports(of: $0.code).contains("CPostgres") }
    #expect(
      clients.map(\.stem).sorted()
        == ["ConnectionParameters", "PostgresConnection", "PostgresResult"])
  }

  /// The folders of `ArborStore` that read and write the file, the file of `ArborLog` that
  /// synchronizes a folder, and the folder of `ArborBrowser` that shows files of other programs. The
  /// planner uses only counts, and the sorter only rows.
  static let storage =
    [
      "Commit", "Engine", "Format", "Health", "History", "Indexes", "Journal", "Log", "Migration",
      "Opening", "Query/Executing", "Salvage", "Snapshot",
    ].map { "Sources/ArborStore/\($0)/" }
    + ["Sources/ArborLog/LogFiles.swift", "Sources/ArborBrowser/Files/"]

  @Test("Only storage code imports the LMDB wrapper")
  func onlyStorageImportsTheBinding() {
    let files = SourceTree.swiftFiles(in: ["Sources"]).filter { $0.target != "LMDB" }
    let importers = files.filter { Self.imports(of: $0.code).contains("LMDB") }.map(\.path)
    let strays = importers.filter { path in !Self.storage.contains { path.hasPrefix($0) } }
    #expect(strays == [])
    #expect(!importers.isEmpty)
  }

  @Test("The rule finds imports that are not in the table")
  func findsWhatItForbids() {
    let skipping = CodeMask.blank(
      "public import Foundation\n@testable import LMDB\n// import Nothing")
    #expect(Self.imports(of: skipping) == ["Foundation", "LMDB"])
    #expect(Self.problems(of: "import LMDB", target: "ArborData") == ["ArborData imports LMDB"])
    #expect(
      Self.problems(of: skipping, target: "ArborStore") == ["ArborStore imports Foundation"])
    #expect(Self.problems(of: "import Foundation", target: "LMDB") == ["LMDB imports Foundation"])
    #expect(Self.problems(of: "", target: "Elsewhere") == ["Elsewhere is not in the layer table"])
  }

  static func problems(of code: String, target: String) -> [String] {
    if target.isEmpty { return [] }
    guard let own = layers[target] else { return ["\(target) is not in the layer table"] }
    var allowed = own.union(common).union(outside[target] ?? [])
    if withoutFoundation.contains(target) { allowed.remove("Foundation") }
    return imports(of: code).filter { !allowed.contains($0) }.map { "\(target) imports \($0)" }
  }

  /// Returns the modules that a source imports.
  static func imports(of code: String) -> [String] {
    let modifiers: Set<Substring> = [
      "public", "package", "internal", "fileprivate", "private", "@testable", "@_exported",
      "@preconcurrency",
    ]
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let"]
    return code.split(separator: "\n").compactMap { line in
      guard line.contains("import") else { return nil }
      var words = line.split(separator: " ")[...]
      while let word = words.first, modifiers.contains(word) { words.removeFirst() }
      guard words.first == "import" else { return nil }
      words.removeFirst()
      if let word = words.first, kinds.contains(word) { words.removeFirst() }
      return words.first.map { String($0.prefix { $0 != "." }) }
    }
  }
}
