internal import CArborBits

/// A `LIKE` pattern that matches by code points, for text and patterns of any kind.
///
/// Each byte of the text is examined a bounded number of times for every 64 characters of a
/// segment, so no pattern causes exponential time.
struct CodePointGlob: ByteMatcher {
  let first: GlobSegment
  let middle: [GlobSegment]
  /// The segment after the last star, or `nil` if the pattern has no star.
  let last: GlobSegment?

  init(_ pattern: String) {
    var segments: [[GlobSegment.Unit]] = [[]]
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if isEscaped {
        segments[segments.count - 1].append(.scalar(scalar))
        isEscaped = false
      } else {
        switch scalar {
        case "\\": isEscaped = true
        case "*": segments.append([])
        case "?": segments[segments.count - 1].append(.any)
        default: segments[segments.count - 1].append(.scalar(scalar))
        }
      }
    }
    if isEscaped { segments[segments.count - 1].append(.scalar("\\")) }
    first = GlobSegment(segments[0])
    last = segments.count > 1 ? segments.last.map(GlobSegment.init) : nil
    middle = segments.dropFirst().dropLast().filter { !$0.isEmpty }.map(GlobSegment.init)
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard var position = first.end(in: bytes, from: 0) else { return false }
    guard let last else { return position == bytes.count }
    guard let end = last.start(in: bytes, upTo: bytes.count), end >= position else { return false }
    let inner = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    for segment in middle {
      guard let next = segment.find(in: inner, from: position) else { return false }
      position = next
    }
    return true
  }
}

/// The characters of a pattern before, between or after its stars.
struct GlobSegment {
  enum Unit: Equatable {
    case scalar(Unicode.Scalar)
    case any
  }

  let units: [Unit]
  /// The segment's UTF-8, or `nil` if it contains a `?`.
  private let literal: ConstantBytes?
  /// For each character, a bit set of the segment's positions that match it. The bits of `?` are
  /// always set.
  private let positions: [Unicode.Scalar: [UInt64]]
  private let anyPositions: [UInt64]
  /// The first word of the positions for each ASCII character.
  let asciiPositions: [UInt64]

  init(_ units: [Unit]) {
    self.units = units
    var scalars = String.UnicodeScalarView()
    for case .scalar(let scalar) in units { scalars.append(scalar) }
    if scalars.count == units.count {
      literal = ConstantBytes(Array(String(scalars).utf8))
      positions = [:]
      anyPositions = []
      asciiPositions = []
      return
    }
    literal = nil
    var any = [UInt64](repeating: 0, count: (units.count + 63) / 64)
    for (index, unit) in units.enumerated() where unit == .any {
      any[index / 64] |= 1 << UInt64(index % 64)
    }
    var positions: [Unicode.Scalar: [UInt64]] = [:]
    for (index, unit) in units.enumerated() {
      guard case .scalar(let scalar) = unit else { continue }
      positions[scalar, default: any][index / 64] |= 1 << UInt64(index % 64)
    }
    self.positions = positions
    anyPositions = any
    asciiPositions = (0..<128).map { positions[Unicode.Scalar($0)]?[0] ?? any[0] }
  }

  /// Returns the end of the segment if it occurs at a position, otherwise `nil`.
  func end(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    if let literal {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
      return rest.starts(withBytes: literal.bytes) ? start + literal.bytes.count : nil
    }
    var position = start
    for unit in units {
      guard position < bytes.count else { return nil }
      let (scalar, next) = bytes.scalar(at: position)
      guard unit == .any || unit == .scalar(scalar) else { return nil }
      position = next
    }
    return position
  }

  /// Returns the start of the segment if it ends at a position, otherwise `nil`.
  func start(in bytes: UnsafeRawBufferPointer, upTo end: Int) -> Int? {
    if let literal {
      let start = end - literal.bytes.count
      guard start >= 0 else { return nil }
      let tail = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      return tail.starts(withBytes: literal.bytes) ? start : nil
    }
    var position = end
    for _ in units {
      guard position > 0 else { return nil }
      position -= 1
      while position > 0, bytes[position] & 0xC0 == 0x80 { position -= 1 }
    }
    return self.end(in: bytes, from: position) == end ? position : nil
  }

  /// Returns the end of the first occurrence of the segment at or after a position, or `nil` if
  /// there isn't one.
  func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let literal else { return findUnits(in: bytes, from: start) }
    guard let base = bytes.baseAddress,
      let found = arbor_find(
        base + start, bytes.count - start, literal.bytes.baseAddress, literal.bytes.count)
    else { return nil }
    return found - base + literal.bytes.count
  }

  /// A variant of ``findUnits(in:from:)`` for up to 64 characters, with a single word as its state.
  private func findFewUnits(
    in bytes: UnsafeRawBufferPointer, from start: Int, final: UInt64
  ) -> Int? {
    var state: UInt64 = 0
    var position = start
    while position < bytes.count {
      let (scalar, next) = bytes.scalar(at: position)
      let allowed =
        scalar.isASCII
        ? asciiPositions[Int(scalar.value)] : positions[scalar]?[0] ?? anyPositions[0]
      state = (state << 1 | 1) & allowed
      position = next
      if state & final != 0 { return position }
    }
    return nil
  }

  /// Searches with the shift-and algorithm: bit i of the state is set if the first i + 1 characters
  /// of the segment end here.
  private func findUnits(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let final = UInt64(1) << UInt64((units.count - 1) % 64)
    if anyPositions.count == 1 { return findFewUnits(in: bytes, from: start, final: final) }
    var state = [UInt64](repeating: 0, count: anyPositions.count)
    var position = start
    while position < bytes.count {
      let (scalar, next) = bytes.scalar(at: position)
      let allowed = positions[scalar] ?? anyPositions
      var carry: UInt64 = 1
      for word in 0..<state.count {
        let shifted = state[word] << 1 | carry
        carry = state[word] >> 63
        state[word] = shifted & allowed[word]
      }
      position = next
      if state[state.count - 1] & final != 0 { return position }
    }
    return nil
  }
}

extension GlobSegment {
  /// Whether the segment contains no `?`.
  var isLiteral: Bool { literal != nil }

  /// The UTF-8 of a segment without `?`.
  var utf8: [UInt8] { literal.map { Array($0.bytes) } ?? [] }

  var isASCII: Bool {
    units.allSatisfy { unit in if case .scalar(let scalar) = unit { scalar.isASCII } else { true } }
  }

  /// One byte for each character of an ASCII segment, 0 for `?`.
  var asciiBytes: [UInt8] {
    units.map { unit in
      if case .scalar(let scalar) = unit { UInt8(truncatingIfNeeded: scalar.value) } else { 0 }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the code point at an offset in UTF-8, and the offset of the next one.
  @inline(__always)
  fileprivate func scalar(at position: Int) -> (scalar: Unicode.Scalar, next: Int) {
    let lead = self[position]
    if lead < 0x80 { return (Unicode.Scalar(lead), position + 1) }
    let length = lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4)
    var code = UInt32(lead) & (0x7F >> UInt32(length))
    for offset in 1..<length where position + offset < count {
      code = code << 6 | UInt32(self[position + offset] & 0x3F)
    }
    return (Unicode.Scalar(code) ?? "\u{FFFD}", Swift.min(position + length, count))
  }
}
