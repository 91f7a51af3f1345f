package import ArborFoundation

/// The end of a page of a sorted fetch, as an opaque string that is valid across processes.
///
/// The next page continues after the values of the last row (keyset pagination).
///
/// ```
///  0        1                9               17                      end-4     end
/// ┌────────┬────────────────┬───────────────┬───────────────────────┬─────────┐
/// │ form u8│ fingerprint u64│ object number │ values of the sort    │ check   │
/// │ = 1    │ of the request │ u64           │ keys, as tagged list  │ sum u32 │
/// └────────┴────────────────┴───────────────┴───────────────────────┴─────────┘
/// ```
///
/// Numbers are little-endian. The text is base64url without padding. The checksum detects truncated
/// tokens. It is no protection against forgery, and none is needed: a token identifies a position
/// in an order and grants no access.
package struct PageToken: Sendable, Hashable {
  private static let form: UInt8 = 1
  private static let headerSize = 17

  /// The values of the sort keys for the page's last row, with objects as numbers.
  package let values: [PropertyValue]
  /// The object of the last row.
  package let number: ObjectNumber
  package let fingerprint: UInt64

  package init(values: [PropertyValue], number: ObjectNumber, fingerprint: UInt64) {
    self.values = values
    self.number = number
    self.fingerprint = fingerprint
  }

  /// Parses a token.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` if the text is not a valid token.
  package init(_ text: String) throws(ArborError) {
    // Every position has exactly one text, so the unused bits of the last character must be zero.
    guard let bytes = Self.bytes(of: text), bytes.count >= Self.headerSize + 4,
      bytes[0] == Self.form, Self.text(of: bytes) == text
    else { throw Self.invalid }
    let end = bytes.count - 4
    let (fingerprint, number, sum) = bytes.withUnsafeBytes { bytes in
      (
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)),
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self)),
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
      )
    }
    let payload = bytes[Self.headerSize..<end]
    guard UInt32(truncatingIfNeeded: StableHash.of(bytes[..<end])) == sum,
      case .list(let values) = payload.withUnsafeBytes({ ValueCodec.decode($0) })
    else { throw Self.invalid }
    self.init(values: values, number: ObjectNumber(rawValue: number), fingerprint: fingerprint)
  }

  package var text: String {
    var bytes = [Self.form]
    withUnsafeBytes(of: fingerprint.littleEndian) { bytes += $0 }
    withUnsafeBytes(of: number.rawValue.littleEndian) { bytes += $0 }
    bytes += ValueCodec.encode(.list(values))
    let sum = UInt32(truncatingIfNeeded: StableHash.of(bytes[...]))
    withUnsafeBytes(of: sum.littleEndian) { bytes += $0 }
    return Self.text(of: bytes)
  }

  private static func text(of bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private static func bytes(of text: String) -> [UInt8]? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    return Data(base64Encoded: standard).map { Array($0) }
  }

  private static var invalid: ArborError {
    ArborError(
      .invalidArgument,
      "The string is not a page token. Pass a page's next token unchanged, or pass nil for the "
        + "first page.")
  }
}

extension FetchDescription {
  /// Returns a hash that is equal in every process for requests with the same rows in the same
  /// order: those with the same store, entity, predicate, constants and sort keys.
  package func fingerprint(storeID: UUID) -> UInt64 {
    var parts = [storeID.uuidString, entityName, includesSubentities ? "family" : "alone"]
    parts.append(predicate.map { "where \($0)" } ?? "all")
    parts += sortKeys.map(Self.part(of:))
    if let group = limitPerGroup {
      parts.append("\(group.count) per \(group.keyPath)")
      parts += group.sortKeys.map(Self.part(of:))
    }
    return StableHash.of(Array(parts.joined(separator: "\u{1F}").utf8)[...])
  }
}

extension FetchDescription {
  fileprivate static func part(of key: SortKey) -> String {
    let locale = key.locale.map { " \($0.identifier)" } ?? ""
    return "\(key.isAscending ? "+" : "-")\(key.options.rawValue)\(locale) \(key.keyPath)"
  }
}

/// A hash that is identical in all processes: 64-bit FNV-1a
/// (http://www.isthe.com/chongo/tech/comp/fnv).
private enum StableHash {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }
}
