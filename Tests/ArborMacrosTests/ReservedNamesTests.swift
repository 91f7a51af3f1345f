import ArborSource
import Foundation
import Testing

@Suite struct ReservedNamesTests {
  /// Members that are always called with a label, so a property of the same name doesn't hide them.
  static let called: Set<String> = [
    "didImport", "importValue", "object", "objects", "setObject", "setTransformedValue", "setValue",
    "transformedValue", "validate", "value",
  ]

  @Test("Every member of a managed object has a reserved name")
  func everyMemberIsReserved() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/ArborObjects")
    let files = try #require(FileManager.default.enumerator(atPath: sources.path))
      .compactMap { $0 as? String }
      .filter { $0.contains("/ManagedObject.swift") || $0.contains("/ManagedObject+") }
    var members: Set<String> = []
    for file in files {
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      for match in text.matches(of: /\n  (?:public|open) (?:final )?(?:var|func) (\w+)/) {
        let name = String(match.output.1)
        // Names that begin with an underscore are reserved for accessors.
        if !name.hasPrefix("_") { members.insert(name) }
      }
    }
    #expect(members.count > 25)
    #expect(members.subtracting(Self.called).subtracting(reservedPropertyNames) == [])
  }
}
