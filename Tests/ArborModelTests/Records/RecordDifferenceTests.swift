import ArborModel
import TestLength
import Testing

/// Records as differences from others, compared with the records.
@Suite struct RecordDifferenceTests {
  private let layout = RecordLayout(
    entity: 1, number: 1,
    fields: [
      (kind: .int64, isTransient: false, catalogNumber: 1, defaultValue: 7),
      (kind: .string, isTransient: false, catalogNumber: 2, defaultValue: "t"),
      (kind: .string, isTransient: true, catalogNumber: 3, defaultValue: .null),
      (kind: .binary, isTransient: false, catalogNumber: 4, defaultValue: .null),
    ])
  private let allocator = SlabAllocator(keepsSlabs: true)

  private func compact(_ record: RecordBuffer, _ allocator: SlabAllocator) -> RecordView {
    record.view.copied(layout, into: allocator)
  }

  /// Returns a random text, or a variation of the present one.
  private func vary(_ text: [UInt8], _ random: inout SplitMix) -> [UInt8] {
    var text = text
    let place = Int.random(in: 0...text.count, using: &random)
    let end = Int.random(in: place...text.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: text = Array(repeating: .random(in: 97...99, using: &random), count: place)
    case 1: text.removeSubrange(place..<end)
    case 2: text.insert(.random(in: 97...99, using: &random), at: place)
    case 3: text += text[place..<end]
    case 4: text.replaceSubrange(place..<min(text.count, place + 3), with: [97, 98])
    default: break
    }
    return text.count > 4000 ? Array(text.prefix(100)) : text
  }

  @Test("A record is restored from its difference from another one")
  func recordsComeBack() {
    for seed in 0..<UInt64(TestLength.of(200, long: 10_000)) {
      var random = SplitMix(seed: seed)
      let allocator = SlabAllocator(keepsSlabs: true)
      var (left, right) = (
        RecordBuffer(copying: layout.template, into: allocator),
        RecordBuffer(copying: layout.template, into: allocator)
      )
      var texts = [[UInt8]](
        repeating: Array(repeating: 97, count: 1500), count: layout.fields.count)
      for _ in 0..<4 {
        for (index, field) in layout.fields.enumerated().dropFirst() {
          texts[index].withUnsafeBytes { left.store(field, bytes: $0, allocator: allocator) }
          if Int.random(in: 0..<3, using: &random) > 0 {
            texts[index] = vary(texts[index], &random)
          }
          texts[index].withUnsafeBytes { right.store(field, bytes: $0, allocator: allocator) }
          if Int.random(in: 0..<9, using: &random) == 0 { right.setNull(field) }
        }
        right.store(layout.fields[0], Int64.random(in: 0..<3, using: &random))
        let (base, record) = (compact(left, allocator), compact(right, allocator))
        #expect(record.changedFields(since: right.view, in: layout) == 0, "seed \(seed)")
        guard let difference = RecordDifference(of: record, from: base, layout) else { continue }
        #expect(difference.count <= record.count / 4 * 3, "seed \(seed)")
        let restored = difference.record(from: base, layout, into: allocator)
        #expect(Array(restored.bytes) == Array(record.bytes), "seed \(seed)")
      }
    }
  }

  @Test(
    "Differences of a long text cost the characters that were typed", arguments: [0, 5000, 10_000])
  func typingIsCheap(place: Int) throws {
    var record = RecordBuffer(copying: layout.template, into: allocator)
    var text = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
    text.withUnsafeBytes { record.store(layout.fields[1], bytes: $0, allocator: allocator) }
    let before = compact(record, allocator)
    text.insert(contentsOf: [1, 2, 3], at: place)
    text.withUnsafeBytes { record.store(layout.fields[1], bytes: $0, allocator: allocator) }
    record.setVersion(7)
    let after = compact(record, allocator)
    for (old, new) in [(before, after), (after, before)] {
      let difference = try #require(RecordDifference(of: old, from: new, layout))
      #expect(difference.count < 60)
      let restored = difference.record(from: new, layout, into: allocator)
      #expect(Array(restored.bytes) == Array(old.bytes))
      // From a record with another text of the same length, something else is restored.
      var foreign = RecordBuffer(copying: new.bytes, into: allocator)
      let reversed = Array(new.bytes(layout.fields[1]).reversed())
      reversed.withUnsafeBytes { foreign.store(layout.fields[1], bytes: $0, allocator: allocator) }
      let wrong = difference.record(from: compact(foreign, allocator), layout, into: allocator)
      #expect(Array(wrong.bytes) != Array(old.bytes))
    }
    #expect(RecordDifference(of: after, from: after, layout)?.count == 1)
  }
}
