import LMDB
import TestLength
import Testing

/// Sets of numbers in both forms, compared with sorted arrays.
@Suite struct NumberFormTests {
  private let folder: TemporaryFolder
  private let environment: Environment

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
  }

  /// Numbers near the bounds of their parts, and others.
  private static func number(_ form: NumberForm, _ random: inout SeededGenerator) -> UInt64 {
    let prefixes: [UInt64] = form == .wide ? [0, 1, 9, 0x7FFF, 0x8000, 0xFFFF] : [9]
    let rests = [0, 1, 255, 256, 1 << 32, NumberForm.maximumRest - 1, NumberForm.maximumRest]
    let rest = random.below(2) == 0 ? rests[random.below(rests.count)] : random.next() >> 24
    return prefixes[random.below(prefixes.count)] << 48 | rest
  }

  @Test(
    "Numbers are found, counted and removed as in a sorted array",
    arguments: [NumberForm.wide, .narrow(prefix: 9)])
  func setsAgreeWithArrays(form: NumberForm) throws {
    let seed = RandomTests.seed("setsAgreeWithArrays(\(form.size))")
    var random = SeededGenerator(seed: seed)
    let database = try #require(
      try environment.openDatabase("sets", .numberSets, create: true)
    ).storing(form)
    for _ in 0..<TestLength.of(20, long: 1_000) {
      let most = [1, 2, 5, 400, 900][random.below(5)]
      var model: [UInt8: Set<UInt64>] = [:]
      try environment.write { transaction in
        try transaction.clear(database)
        for _ in 0..<3 * most {
          let key = UInt8(random.below(3))
          let number = Self.number(form, &random)
          let isNew = model[key, default: []].insert(number).inserted
          #expect(
            try transaction.put(database, key: [key], number: number, .noDuplicate) == isNew,
            "ARBOR_SEED=\(seed)")
          guard random.below(4) == 0, let gone = model[key]?.min() else { continue }
          model[key]?.remove(gone)
          #expect(try transaction.delete(database, key: [key], number: gone))
        }
      }
      try compare(model, database, form, seed, &random)
    }
    try environment.close()
    try PageVerifierTests.verify(folder.file("store.arbor"))
  }

  private func compare(
    _ model: [UInt8: Set<UInt64>], _ database: Database, _ form: NumberForm, _ seed: UInt64,
    _ random: inout SeededGenerator
  ) throws {
    try environment.read { transaction in
      let cursor = try transaction.cursor(database)
      for key in 0..<3 as Range<UInt8> {
        let expected = (model[key] ?? []).sorted()
        var numbers: [UInt64] = []
        var batch = try cursor.firstNumbers([key])
        while let found = batch {
          #expect(Array(found).count == found.count)
          numbers.append(found)
          batch = try cursor.nextNumbers()
        }
        #expect(numbers == expected, "ARBOR_SEED=\(seed)")
        for _ in 0..<20 {
          // Also numbers that cannot be stored.
          let sought =
            random.below(3) == 0
            ? random.next() >> UInt64(random.below(64)) : Self.number(form, &random)
          let found = try [key].withUnsafeBytes { try cursor.seek($0, number: sought) }
          #expect(
            found.map { cursor.number(of: $0) } == expected.first { $0 >= sought },
            "\(sought), ARBOR_SEED=\(seed)")
        }
      }
    }
  }

  @Test("A value of another size is no number")
  func otherSizesAreZero() {
    for count in 0..<20 {
      let bytes = [UInt8](repeating: 1, count: 20 + count)
      bytes.withUnsafeBytes { bytes in
        let value = UnsafeRawBufferPointer(rebasing: bytes[20...])
        #expect((NumberForm.wide.number(value) == 0) == (count != 7))
        #expect((NumberForm.narrow(prefix: 1).number(value) == 0) == (count != 5))
      }
    }
  }
}
