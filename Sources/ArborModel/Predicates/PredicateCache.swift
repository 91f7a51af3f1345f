internal import ArborLocks

/// A cache of shapes, keyed by text or by composition.
///
/// The cache is process-wide and bounded: 512 sets of two entries, in which a new shape evicts the
/// older one. Predicates keep their evicted shapes alive; the next lookup parses the text again.
enum PredicateCache {
  private static let setCount = 512
  /// The maximum length of cached texts. Longer texts are unlikely to recur in a hot loop.
  private static let maximumTextLength = 4096
  /// The maximum number of parts of cached compositions, for the same reason.
  private static let maximumParts = 64

  private struct Entry: Sendable {
    var hash: UInt64
    var shape: ParsedPredicate
    /// The parts of a composed shape, or `nil` for a parsed one. Only the cache references the
    /// parts: if shapes did, they would form chains of any length.
    var parts: Parts?
  }

  private struct Parts: Sendable {
    let composition: ParsedPredicate.Composition
    let shapes: [ParsedPredicate]
  }

  private static let sets = Lock([Entry?](repeating: nil, count: setCount * 2))

  static func shape(
    of segments: PredicateSegments, isFormat: Bool, limits: PredicateLimits = .standard
  ) -> ParsedPredicate {
    let hash = segments.hash ^ (isFormat ? 1 : 0)
    let known = find(hash) { $0.shape.isParsed(from: segments, isFormat, limits) }
    if let known { return known }
    let text = PredicateText(segments: segments.all, allowed: limits.allowedProperties)
    let shape = PredicateParser.parse(text, isFormat: isFormat, limits: limits)
    let length = text.segments.reduce(0) { $0 + $1.utf8.count }
    if length <= maximumTextLength { insert(hash, shape) }
    return shape
  }

  /// Returns the shape of a composition, from left to right. `.not` has a single part.
  static func shape(
    of composition: ParsedPredicate.Composition, _ shapes: [ParsedPredicate]
  ) -> ParsedPredicate {
    if shapes.count > maximumParts { return ParsedPredicate.compose(composition, shapes) }
    var hasher = Hasher()
    hasher.combine(composition)
    for shape in shapes { hasher.combine(ObjectIdentifier(shape)) }
    let hash = UInt64(truncatingIfNeeded: hasher.finalize())
    let known = find(hash) { entry in
      guard let parts = entry.parts, parts.composition == composition else { return false }
      return parts.shapes.elementsEqual(shapes, by: ===)
    }
    if let known { return known }
    let shape = ParsedPredicate.compose(composition, shapes)
    insert(hash, shape, Parts(composition: composition, shapes: shapes))
    return shape
  }

  private static func find(_ hash: UInt64, where matches: (Entry) -> Bool) -> ParsedPredicate? {
    let setIndex = Int(truncatingIfNeeded: hash) & (setCount - 1)
    return sets.withLock { sets in
      for index in [setIndex * 2, setIndex * 2 + 1] {
        if let entry = sets[index], entry.hash == hash, matches(entry) { return entry.shape }
      }
      return nil
    }
  }

  private static func insert(_ hash: UInt64, _ shape: ParsedPredicate, _ parts: Parts? = nil) {
    let setIndex = Int(truncatingIfNeeded: hash) & (setCount - 1)
    // The evicted entry is released outside the lock, because it may be the last reference to a
    // large tree.
    let displaced = sets.withLock { sets in
      let older = sets[setIndex * 2 + 1]
      sets[setIndex * 2 + 1] = sets[setIndex * 2]
      sets[setIndex * 2] = Entry(hash: hash, shape: shape, parts: parts)
      return older
    }
    _ = displaced
  }
}
