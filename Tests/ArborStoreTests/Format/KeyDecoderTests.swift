import ArborModel
import ArborStore
import TestSupport
import Testing

@Suite struct KeyDecoderTests {
  @Test(
    "Boundary values survive a round trip through their keys", arguments: KeySamples.kinds,
    [true, false])
  func edgesComeBack(kind: FieldKind, isAscending: Bool) throws {
    for value in KeySamples.edges(kind) {
      try expectRoundTrip([value], columns: [(kind, isAscending)])
    }
  }

  @Test("Random tuples survive a round trip through their keys")
  func randomTuplesComeBack() throws {
    var random = SeededRandom()
    for round in 0..<2000 {
      let columns = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (
          kind: KeySamples.kinds.randomElement(using: &random) ?? .int64,
          isAscending: Bool.random(using: &random)
        )
      }
      try expectRoundTrip(
        columns.map { KeySamples.random($0.kind, using: &random) }, columns: columns,
        "seed \(random.seed), round \(round)")
    }
  }

  @Test("Bytes that aren't a valid key decode to nil")
  func bytesThatAreNoKeyGiveNil() {
    let damaged: [([UInt8], FieldKind)] = [
      ([], .int64), ([0], .int64), ([3], .string), ([1, 1], .int64), ([2, 1, 2], .int64),
      ([2, 2], .boolean), ([2, 65], .string), ([2, 1, 3, 0], .string), ([2, 9], .decimal),
    ]
    for (bytes, kind) in damaged {
      #expect(bytes.withUnsafeBytes { KeyDecoder.decode($0, columns: [(kind, true)]) } == nil)
    }
  }

  @Test("Decoding arbitrary bytes yields nil or a value with the same key")
  func anyBytesAreSurvived() {
    var random = SeededRandom()
    for _ in 0..<5000 {
      var bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random) % 4
      }
      if !bytes.isEmpty { bytes[0] = 2 }
      for kind in KeySamples.kinds {
        // Decoded values encode to the same bytes. Decimals, strings and URIs are exempt.
        let tuple = bytes.withUnsafeBytes { KeyDecoder.decode($0, columns: [(kind, true)]) }
        guard let tuple, kind != .decimal, kind != .string, kind != .uri else { continue }
        #expect(
          KeySamples.key(tuple.values, columns: [(kind, true)])?.bytes == bytes,
          "\(kind) seed \(random.seed)")
      }
    }
  }

  private func expectRoundTrip(
    _ values: [PropertyValue], columns: [KeyDecoder.Column], _ note: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (key, isCut) = try #require(
      KeySamples.key(values, columns: columns), sourceLocation: sourceLocation)
    let tuple = try #require(
      key.withUnsafeBytes { KeyDecoder.decode($0, columns: columns) }, "\(values) \(note)",
      sourceLocation: sourceLocation)
    #expect(tuple.isWhole == !isCut, "\(note)", sourceLocation: sourceLocation)
    #expect(
      tuple.values == Array(values.prefix(tuple.values.count)), "\(note)",
      sourceLocation: sourceLocation)
    #expect(isCut || tuple.values.count == values.count, sourceLocation: sourceLocation)
  }
}
