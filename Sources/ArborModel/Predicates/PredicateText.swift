/// The source text of a predicate, kept for error messages.
///
/// Interpolated values are between segments. In the bytes, each is represented by an
/// ``argumentMark``, which is not valid in UTF-8.
package final class PredicateText: Sendable {
  package static let argumentMark: UInt8 = 0xFF

  package let segments: [String]
  /// The properties that the text may use, or `nil` for all.
  let allowed: PredicateAllowList?

  package init(segments: [String], allowed: PredicateAllowList? = nil) {
    self.segments = segments
    self.allowed = allowed
  }

  package var bytes: [UInt8] {
    if segments.count == 1 { return Array(segments[0].utf8) }
    var bytes: [UInt8] = []
    for (index, segment) in segments.enumerated() {
      if index > 0 { bytes.append(Self.argumentMark) }
      bytes.append(contentsOf: segment.utf8)
    }
    return bytes
  }

  /// Returns the line and the column, in characters, of an offset. An interpolated value counts as
  /// one character.
  package func location(ofByte offset: Int) -> ArborError.SourceLocation {
    let before = bytes.prefix(offset)
    let newline = UInt8(ascii: "\n")
    let lineStart = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
    return ArborError.SourceLocation(
      line: before.reduce(1) { $0 + ($1 == newline ? 1 : 0) },
      column: String(decoding: before[lineStart...], as: UTF8.self).count + 1)
  }
}

/// A location in the source of a predicate. All locations are equal, so that comparing and hashing
/// trees ignores where they were written.
package struct PredicateSite: Sendable, Hashable {
  package let text: PredicateText?
  package let offset: Int32

  package init(_ text: PredicateText?, _ offset: Int) {
    self.text = text
    self.offset = Int32(truncatingIfNeeded: offset)
  }

  /// The location of nodes without source text.
  package static let none = PredicateSite(nil, 0)

  package static func == (left: Self, right: Self) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}

  package func error(_ message: String) -> ArborError {
    ArborError(.invalidPredicate, message).with(location: location)
  }

  private var location: ArborError.SourceLocation? { text?.location(ofByte: Int(offset)) }

  /// Returns the services that a feature needs.
  ///
  /// - Throws: ``ArborError`` `unsupported` if the program doesn't include them.
  func services(for feature: String) throws(ArborError) -> any LocaleServices {
    do throws(ArborError) {
      return try LocaleSupport.services(for: feature)
    } catch {
      throw error.with(location: location)
    }
  }
}
