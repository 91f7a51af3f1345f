import ArborModel
import ArborStore
import TestSupport
import Testing

@Suite struct CatalogCodecTests {
  private func decode(_ bytes: [UInt8]) -> SchemaCatalog? {
    bytes.withUnsafeBytes { CatalogCodec.decode($0) }
  }

  @Test("A catalog survives a round trip through its encoding")
  func comesBackAsItWas() throws {
    var catalog = SchemaCatalog(numbering: try OfficeModel.make())
    catalog.entries["Ärger 😀"] = .init(
      number: .max, layoutNumber: 12, properties: ["": 1, "größe": .max])
    catalog.entries["Ärger 😀"]?.storedName = "Wut#7"
    catalog.entries["Ärger 😀"]?.relationships = [
      "a": .init(number: 2, storedName: "Wut/~b.c"), "\u{1}7 b": .init(number: 7, storedName: ""),
      "\u{1}9 b": .init(number: 9, storedName: ""),
    ]
    catalog.entries["Ärger 😀"]?.indexes = ["a": .init(number: .max, storedName: "#65535")]
    #expect(decode(CatalogCodec.encode(catalog)) == catalog)
    #expect(decode(CatalogCodec.encode(SchemaCatalog(entries: [:]))) == SchemaCatalog(entries: [:]))
  }

  @Test("Numbers that are zero or not unique are rejected")
  func numbersThatNobodyGivesAreRefused() throws {
    typealias Entry = SchemaCatalog.Entry
    let refused: [[String: Entry]] = [
      ["A": Entry(number: 0, layoutNumber: 1, properties: [:])],
      ["A": Entry(number: 1, layoutNumber: 0, properties: [:])],
      ["A": Entry(number: 1, layoutNumber: 1, properties: ["a": 0])],
      ["A": Entry(number: 1, layoutNumber: 1, properties: ["a": 2, "b": 2])],
      [
        "A": Entry(number: 3, layoutNumber: 1, properties: [:]),
        "B": Entry(number: 3, layoutNumber: 1, properties: [:]),
      ],
    ]
    for entries in refused {
      #expect(decode(CatalogCodec.encode(SchemaCatalog(entries: entries))) == nil, "\(entries)")
    }
  }

  @Test("Parts that share a number or a stored name are rejected")
  func partsThatAreOneThingAreRefused() throws {
    func refuses(_ change: (inout SchemaCatalog.Entry, inout SchemaCatalog.Entry) -> Void) {
      var (one, other) = (
        SchemaCatalog.Entry(number: 1, layoutNumber: 1, properties: [:]),
        SchemaCatalog.Entry(number: 2, layoutNumber: 1, properties: [:])
      )
      change(&one, &other)
      let catalog = SchemaCatalog(entries: ["A": one, "B": other])
      #expect(decode(CatalogCodec.encode(catalog)) == nil, "\(catalog)")
    }
    refuses { ($0.storedName, $1.storedName) = ("A", "A") }
    refuses { one, _ in one.indexes = ["a": .init(number: 0, storedName: "A/a")] }
    refuses { one, other in
      one.indexes = ["a": .init(number: 1, storedName: "A/a")]
      other.indexes = ["b": .init(number: 1, storedName: "B/b")]
    }
    refuses { one, other in
      one.relationships = ["a": .init(number: 1, storedName: "A/a")]
      other.relationships = ["a": .init(number: 2, storedName: "A/a")]
    }
  }

  @Test("Equal catalogs are encoded to equal bytes")
  func equalCatalogsHaveEqualBytes() throws {
    let catalog = SchemaCatalog(numbering: try OfficeModel.make())
    // The order of a dictionary depends on its capacity.
    var entries: [String: SchemaCatalog.Entry] = [:]
    entries.reserveCapacity(1000)
    entries.merge(catalog.entries) { $1 }
    #expect(CatalogCodec.encode(SchemaCatalog(entries: entries)) == CatalogCodec.encode(catalog))
  }

  @Test("A changed byte or a truncation makes the catalog invalid")
  func everyByteCounts() throws {
    let bytes = CatalogCodec.encode(SchemaCatalog(numbering: try OfficeModel.make()))
    for offset in bytes.indices {
      var changed = bytes
      changed[offset] ^= 2
      #expect(decode(changed) == nil, "byte \(offset)")
    }
    for count in bytes.indices { #expect(decode(Array(bytes[..<count])) == nil) }
  }
}
