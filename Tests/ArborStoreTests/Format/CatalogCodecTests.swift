import ArborModel
import ArborStore
import TestSupport
import Testing

@Suite struct CatalogCodecTests {
  private func decode(_ bytes: [UInt8]) -> SchemaCatalog? {
    bytes.withUnsafeBytes { CatalogCodec.decode($0) }
  }

  @Test func comesBackAsItWas() throws {
    var catalog = SchemaCatalog(numbering: try OfficeModel.make())
    catalog.entries["Ärger 😀"] = .init(
      number: .max, layoutNumber: 12, properties: ["": 1, "größe": .max])
    #expect(decode(CatalogCodec.encode(catalog)) == catalog)
    #expect(decode(CatalogCodec.encode(SchemaCatalog(entries: [:]))) == SchemaCatalog(entries: [:]))
  }

  /// Numbers begin with 1, and none is used twice, whatever the checksum says.
  @Test func numbersThatNobodyGivesAreRefused() throws {
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

  @Test func equalCataloguesHaveEqualBytes() throws {
    let model = try OfficeModel.make()
    let first = CatalogCodec.encode(SchemaCatalog(numbering: model))
    #expect(first == CatalogCodec.encode(SchemaCatalog(numbering: model)))
  }

  @Test func everyByteCounts() throws {
    let bytes = CatalogCodec.encode(SchemaCatalog(numbering: try OfficeModel.make()))
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 2
      #expect(decode(changed) == nil, "byte \(place)")
    }
    for count in bytes.indices { #expect(decode(Array(bytes[..<count])) == nil) }
  }
}
