import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@Suite struct KeyEncoderTests {
  @Test(
    "Keys of extreme values are in the order of their values", arguments: KeySamples.kinds,
    [true, false])
  func everyPairOfEdgesIsOrderedAsItsValues(kind: FieldKind, isAscending: Bool) throws {
    let values = KeySamples.edges(kind)
    for left in values {
      for right in values {
        try expectOrder([left], [right], columns: [(kind, isAscending)])
      }
    }
  }

  @Test("Keys of random values are in the order of their values", arguments: KeySamples.kinds)
  func randomValuesAreOrderedAsTheirValues(kind: FieldKind) throws {
    var random = SeededRandom()
    for round in 0..<300 {
      let left = KeySamples.random(kind, using: &random)
      let right = KeySamples.random(kind, using: &random)
      try expectOrder(
        [left], [right], columns: [(kind, true)], "seed \(random.seed), round \(round)")
    }
  }

  @Test("Keys of random tuples are in the order of their columns")
  func randomTuplesAreOrderedColumnByColumn() throws {
    var random = SeededRandom()
    for round in 0..<3000 {
      let columns = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (
          kind: KeySamples.kinds.randomElement(using: &random) ?? .int64,
          isAscending: Bool.random(using: &random)
        )
      }
      let left = columns.map { KeySamples.random($0.kind, using: &random) }
      // Later columns matter only if the first ones are equal.
      let common = Int.random(in: 0...columns.count, using: &random)
      let right = columns.indices.map { column in
        column < common ? left[column] : KeySamples.random(columns[column].kind, using: &random)
      }
      try expectOrder(left, right, columns: columns, "seed \(random.seed), round \(round)")
    }
  }

  @Test("Long strings with a common prefix keep their order")
  func longStringsWithCommonBeginningsKeepTheirOrder() throws {
    var random = SeededRandom()
    for round in 0..<400 {
      let common = KeySamples.string(using: &random)
      let left = common + KeySamples.string(using: &random)
      let right = common + KeySamples.string(using: &random)
      for isAscending in [true, false] {
        try expectOrder(
          [.string(left)], [.string(right)], columns: [(.string, isAscending)],
          "seed \(random.seed), round \(round)")
      }
    }
  }

  @Test("A field of a record has the same key as its value")
  func aRecordsFieldHasTheKeyOfItsValue() throws {
    var random = SeededRandom()
    let layout = RecordLayout(
      entity: 1, number: 1,
      fields: KeySamples.kinds.enumerated().map {
        (kind: $1, isTransient: false, catalogNumber: UInt16($0 + 1), defaultValue: .null)
      })
    let allocator = SlabAllocator()
    for round in 0..<500 {
      var record = RecordBuffer(copying: layout.template, into: allocator)
      for field in layout.fields {
        let value = KeySamples.random(field.kind, using: &random)
        let isSet = record.set(field, value, allocator: allocator)
        #expect(isSet)
        for isAscending in [true, false] {
          var key = KeyBuffer()
          KeyEncoder.append(field, of: record.view, isAscending: isAscending, to: &key)
          let (bytes, isCut) = try #require(
            KeySamples.key([value], columns: [(field.kind, isAscending)]))
          #expect(
            Array(key.bytes) == bytes && key.isCut == isCut,
            "\(field.kind) seed \(random.seed), round \(round)")
        }
      }
    }
  }

  @Test("The key of a string begins with the keys of its prefixes")
  func keysOfStringsBeginWithTheKeysOfTheirPrefixes() {
    let text = "a\0b\u{1}ç😀"
    for isAscending in [true, false] {
      var key = KeyBuffer()
      let isText = KeyEncoder.append(
        .string(text), as: .string, isAscending: isAscending, to: &key)
      #expect(isText)
      let bytes = Array(key.bytes)
      for end in text.indices {
        var prefix = KeyBuffer()
        KeyEncoder.appendPrefix(String(text[..<end]), isAscending: isAscending, to: &prefix)
        #expect(bytes.starts(with: Array(prefix.bytes)))
        var any = KeyBuffer()
        KeyEncoder.appendAnyValue(isAscending: isAscending, to: &any)
        #expect(bytes.starts(with: Array(any.bytes)))
      }
      var other = KeyBuffer()
      KeyEncoder.appendPrefix("a\0c", isAscending: isAscending, to: &other)
      #expect(!bytes.starts(with: Array(other.bytes)))
    }
  }

  @Test("Values of the wrong kind and NaN have no key")
  func valuesOfAnotherKindAndNotANumberAreRefused() {
    #expect(KeySamples.key([.string("1")], columns: [(.int64, true)]) == nil)
    #expect(KeySamples.key([.integer(1)], columns: [(.string, true)]) == nil)
    #expect(KeySamples.key([.double(.nan)], columns: [(.double, true)]) == nil)
    #expect(KeySamples.key([.decimal(.nan)], columns: [(.decimal, true)]) == nil)
  }

  private func expectOrder(
    _ left: [PropertyValue], _ right: [PropertyValue], columns: [KeyDecoder.Column],
    _ note: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (leftKey, isLeftCut) = try #require(
      KeySamples.key(left, columns: columns), sourceLocation: sourceLocation)
    let (rightKey, isRightCut) = try #require(
      KeySamples.key(right, columns: columns), sourceLocation: sourceLocation)
    #expect(leftKey.count <= KeyBuffer.indexLimit && rightKey.count <= KeyBuffer.indexLimit)
    var isLess = false
    var isGreater = false
    for (column, (left, right)) in zip(columns, zip(left, right)) {
      isLess = KeySamples.isLess(left, right)
      isGreater = KeySamples.isLess(right, left)
      if !column.isAscending { (isLess, isGreater) = (isGreater, isLess) }
      if isLess || isGreater { break }
    }
    if leftKey == rightKey {
      // Only truncation may make the keys of different values equal.
      #expect(
        !isLess && !isGreater || isLeftCut && isRightCut, "\(left) \(right) \(note)",
        sourceLocation: sourceLocation)
    } else {
      #expect(
        leftKey.lexicographicallyPrecedes(rightKey) == isLess && isLess != isGreater,
        "\(left) \(right) \(note)", sourceLocation: sourceLocation)
    }
  }
}
