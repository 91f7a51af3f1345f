/// Detects repeated keys in an object.
enum JSONKeys {
  /// The maximum number of keys that are compared pairwise. More keys use a hash table, which stays
  /// fast for adversarial input.
  private static let pairwiseCount = 16

  /// Returns the tape index of the first key that equals an earlier one, or `nil`.
  static func firstRepeated(
    of object: Int, on tape: JSONTape, _ bytes: UnsafeRawBufferPointer
  ) -> Int? {
    let count = Int(tape.entries[object].extent)
    guard count <= pairwiseCount else { return firstRepeatedOfMany(object, tape, bytes) }
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: pairwiseCount) { keys in
      var key = object + 1
      for index in 0..<count {
        for earlier in keys[..<index] where areEqual(earlier, key, tape, bytes) { return key }
        // Sound: `index` is less than `count`, which is at most the capacity. `Int` is trivial.
        keys.initializeElement(at: index, to: key)
        key = Int(tape.entries[key + 1].next)
      }
      return nil
    }
  }

  /// Does the same for many keys, with a hash table of tape indexes, four bytes per slot. The
  /// strings, of which there may be millions, exist only while they are hashed. Swift's per-process
  /// hash seeding prevents collision attacks.
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

  /// Returns whether two keys are equal strings. Compares plain ASCII bytewise.
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
