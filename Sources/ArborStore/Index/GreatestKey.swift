/// A key that none of a database is above, as far as one is known without looking.
///
/// Entries above all others fill pages completely, and need no comparison with what is there. To
/// look where a database ends costs a way through its tree, time and again the same for commits
/// that follow one another.
///
/// What is known is an upper bound: the greatest key may have been deleted since. What is above the
/// bound is above all others in any case.
struct GreatestKey {
  private enum Knowledge {
    case unknown
    case noKeys
    case key
  }

  private var knowledge = Knowledge.unknown
  private var bytes: [UInt8] = []

  var isKnown: Bool { knowledge != .unknown }

  mutating func forget() { knowledge = .unknown }

  /// Records what the database ends with; nil where it is empty.
  mutating func note(_ key: UnsafeRawBufferPointer?) {
    knowledge = key == nil ? .noKeys : .key
    bytes.removeAll(keepingCapacity: true)
    if let key { bytes.append(contentsOf: key) }
  }

  /// Whether a key is above all others.
  ///
  /// - Precondition: It is known what the database ends with.
  @inline(__always)
  func isBefore(_ key: UnsafeRawBufferPointer) -> Bool {
    knowledge == .noKeys || bytes.withUnsafeBytes { $0.isBefore(key) }
  }
}
