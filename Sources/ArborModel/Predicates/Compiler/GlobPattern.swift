internal import CArborBits

/// A `LIKE` pattern: `*` matches any sequence of characters, `?` exactly one, and a backslash makes
/// the next character literal. The pattern must match the entire text. A character is a code point.
///
/// The pattern is split into segments at its stars. The first segment must match at the start of
/// the text and the last at its end. Those in between are matched greedily at the earliest
/// position, which is always optimal. Segments are compared as bytes, which is correct for ASCII
/// text and, if the pattern has no `?`, for any text. Other text is matched by code points.
struct GlobPattern: ByteMatcher {
  // A single reference, so that a closure that captures the pattern retains only one object.
  private let segments: GlobBytes

  init(_ pattern: String) { segments = GlobBytes(CodePointGlob(pattern)) }

  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool { segments.matches(bytes) }
}

/// The segments of a pattern as byte sequences, laid out so that matching needs no reference
/// counting.
///
/// The memory is written once, at creation, and freed with the object. Code that matches must hold
/// a reference to the object.
private final class GlobBytes {
  /// A byte sequence. If it contains `?`, a mask selects the significant bits of each byte, and the
  /// shift-and algorithm uses a bit set of positions for each ASCII character.
  private struct Segment {
    let bytes: UnsafeRawBufferPointer
    let masks: UnsafeRawPointer?
    let positions: UnsafePointer<UInt64>?
  }

  /// The texts for which a comparison as bytes is correct.
  private enum Reach {
    /// None: a segment contains `?`, and is longer than 64 characters or not ASCII.
    case nothing
    case ascii
    case everything
  }

  private let general: CodePointGlob
  private let reach: Reach
  private let hasStars: Bool
  private let first: Segment
  private let last: Segment
  private let middle: UnsafeMutableBufferPointer<Segment>
  private let memory: [ConstantBytes]

  init(_ pattern: CodePointGlob) {
    general = pattern
    let all = [pattern.first] + pattern.middle + (pattern.last.map { [$0] } ?? [])
    let isReached = all.allSatisfy { $0.isLiteral || ($0.units.count <= 64 && $0.isASCII) }
    let isLiteral = all.allSatisfy(\.isLiteral)
    reach = isLiteral ? .everything : (isReached ? .ascii : .nothing)
    hasStars = pattern.last != nil
    var memory: [ConstantBytes] = []
    let made = (isReached ? all : all.map { _ in GlobSegment([]) })
      .map { Self.segment($0, &memory) }
    first = made[0]
    last = made[made.count - 1]
    middle = .allocate(capacity: pattern.middle.count)
    _ = middle.initialize(from: made[1..<(1 + pattern.middle.count)])
    self.memory = memory
  }

  deinit { middle.deallocate() }

  private static func segment(_ segment: GlobSegment, _ memory: inout [ConstantBytes]) -> Segment {
    func bytes(_ source: some Collection<UInt8>) -> UnsafeRawBufferPointer {
      memory.append(ConstantBytes(source))
      return memory[memory.count - 1].bytes
    }
    let text = bytes(segment.isLiteral ? segment.utf8 : segment.asciiBytes)
    if segment.isLiteral { return Segment(bytes: text, masks: nil, positions: nil) }
    let masks = bytes(segment.units.map { $0 == .any ? 0 : 0xFF })
    let positions = segment.asciiPositions.withUnsafeBytes { bytes($0) }
    return Segment(
      bytes: text, masks: masks.baseAddress,
      positions: positions.bindMemory(to: UInt64.self).baseAddress)
  }

  @inline(__always)
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    switch reach {
    case .everything: return areFound(in: text)
    case .ascii where text.isASCII: return areFound(in: text)
    case .ascii, .nothing: return general.matches(text)
    }
  }

  @inline(__always)
  private func areFound(in text: UnsafeRawBufferPointer) -> Bool {
    guard text.count >= first.bytes.count, let base = text.baseAddress ?? first.bytes.baseAddress,
      Self.stands(first, base)
    else { return false }
    guard hasStars else { return text.count == first.bytes.count }
    let end = text.count - last.bytes.count
    guard end >= first.bytes.count, Self.stands(last, base + end) else { return false }
    var position = first.bytes.count
    for index in 0..<middle.count {
      let next = Self.end(of: middle[index], base, position, end)
      if next < 0 { return false }
      position = next
    }
    return true
  }

  /// Returns whether a segment matches at an address. As many bytes as the segment has must be
  /// readable.
  @inline(__always)
  private static func stands(_ segment: Segment, _ address: UnsafeRawPointer) -> Bool {
    guard let wanted = segment.bytes.baseAddress, segment.bytes.count > 0 else { return true }
    guard let masks = segment.masks else { return equalBytes(address, wanted, segment.bytes.count) }
    for offset in 0..<segment.bytes.count {
      let byte = address.load(fromByteOffset: offset, as: UInt8.self)
      let mask = masks.load(fromByteOffset: offset, as: UInt8.self)
      if byte & mask != wanted.load(fromByteOffset: offset, as: UInt8.self) { return false }
    }
    return true
  }

  /// Returns the end of the first occurrence of a segment in a range of a text, or -1.
  @inline(__always)
  private static func end(
    of segment: Segment, _ base: UnsafeRawPointer, _ start: Int, _ end: Int
  ) -> Int {
    let count = segment.bytes.count
    guard end - start >= count else { return -1 }
    guard let positions = segment.positions else {
      guard let found = arbor_find(base + start, end - start, segment.bytes.baseAddress, count)
      else { return -1 }
      return found - base + count
    }
    let final = UInt64(1) << UInt64(count - 1)
    var state: UInt64 = 0
    for position in start..<end {
      let byte = base.load(fromByteOffset: position, as: UInt8.self)
      state = (state << 1 | 1) & positions[Int(byte & 0x7F)]
      if state & final != 0 { return position + 1 }
    }
    return -1
  }
}
