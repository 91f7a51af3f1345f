/// The segments of a predicate's text between its interpolated values.
///
/// Most predicates have at most one value. Their segments are stored without an allocation.
struct PredicateSegments {
  /// The number of segments, one more than the number of values. Empty trailing segments may be
  /// missing from ``more``.
  var count = 1
  private(set) var first: String
  private(set) var second = ""
  private(set) var more: [String] = []

  /// Appends text after the given number of values.
  mutating func append(_ text: String, behind values: Int) {
    switch values {
    case 0: first = first.isEmpty ? text : first + text
    case 1: second = second.isEmpty ? text : second + text
    default:
      while more.count < values - 1 { more.append("") }
      more[values - 2] += text
    }
  }

  var all: [String] {
    var all = [first]
    if count > 1 { all.append(second) }
    all += more
    while all.count < count { all.append("") }
    return all
  }

  func matches(_ text: PredicateText) -> Bool {
    guard text.segments.count == count, text.segments[0] == first else { return false }
    if count > 1 {
      guard text.segments[1] == second else { return false }
      for index in 2..<max(count, 2) {
        let piece = index - 2 < more.count ? more[index - 2] : ""
        guard text.segments[index] == piece else { return false }
      }
    }
    return true
  }

  /// A fast hash. Segments with equal hashes are compared in full.
  var hash: UInt64 {
    var hash = Self.mix(UInt64(truncatingIfNeeded: count), first)
    if count > 1 { hash = Self.mix(hash, second) }
    for piece in more { hash = Self.mix(hash, piece) }
    return hash
  }

  private static func mix(_ seed: UInt64, _ piece: String) -> UInt64 {
    var piece = piece
    return piece.withUTF8 { bytes in
      var hash = (seed ^ UInt64(truncatingIfNeeded: bytes.count)) &* 0x9E37_79B9_7F4A_7C15
      let raw = UnsafeRawBufferPointer(bytes)
      var offset = 0
      while offset + 8 <= raw.count {
        hash ^= raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        hash = (hash ^ hash >> 29) &* 0xBF58_476D_1CE4_E5B9
        offset += 8
      }
      while offset < raw.count {
        hash = (hash ^ UInt64(raw[offset])) &* 0x9E37_79B9_7F4A_7C15
        offset += 1
      }
      return hash ^ hash >> 32
    }
  }
}
