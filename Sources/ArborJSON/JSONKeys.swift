/// Finds keys that an object has twice.
enum JSONKeys {
  /// How many keys are compared each with each; more go through a table, which stays fast for
  /// input that was made to be slow.
  private static let pairwiseCount = 16

  /// The index on the tape of the first key that equals an earlier one, or nil.
  static func firstRepeated(
    of object: Int, on tape: JSONTape, _ bytes: UnsafeRawBufferPointer
  ) -> Int? {
    let count = Int(tape.entries[object].extent)
    guard count <= pairwiseCount else { return firstRepeatedOfMany(object, tape, bytes) }
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: pairwiseCount) { keys in
      var key = object + 1
      for index in 0..<count {
        for earlier in keys[..<index] where areEqual(earlier, key, tape, bytes) { return key }
        // Sound: `index` is below `count`, which is at most the capacity; an Int needs no deinit.
        keys.initializeElement(at: index, to: key)
        key = Int(tape.entries[key + 1].next)
      }
      return nil
    }
  }

  /// Puts tape indexes of keys into a table of four bytes a slot; the strings themselves, of which
  /// there may be millions, are made for their hashes only. Those are seeded anew in each process,
  /// so nobody can write keys whose hashes are equal.
  private static func firstRepeatedOfMany(
    _ object: Int, _ tape: JSONTape, _ bytes: UnsafeRawBufferPointer
  ) -> Int? {
    var size = 64
    while size < 2 * Int(tape.entries[object].extent) { size *= 2 }
    var slots = Array(repeating: UInt32(0), count: size)
    var key = object + 1
    for _ in 0..<tape.entries[object].extent {
      var slot = tape.text(of: key, in: bytes).hashValue & (size - 1)
      while slots[slot] > 0 {
        if areEqual(Int(slots[slot]), key, tape, bytes) { return key }
        slot = (slot + 1) & (size - 1)
      }
      slots[slot] = UInt32(key)
      key = Int(tape.entries[key + 1].next)
    }
    return nil
  }

  /// Whether two keys are equal strings. Plain ASCII is compared by its bytes.
  private static func areEqual(
    _ left: Int, _ right: Int, _ tape: JSONTape, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    let leftEntry = tape.entries[left]
    let rightEntry = tape.entries[right]
    if leftEntry.isPlain, rightEntry.isPlain {
      return JSONKeyBytes.areEqual(
        UnsafeRawBufferPointer(rebasing: bytes[leftEntry.range]),
        UnsafeRawBufferPointer(rebasing: bytes[rightEntry.range]))
    }
    return tape.text(of: left, in: bytes) == tape.text(of: right, in: bytes)
  }
}
