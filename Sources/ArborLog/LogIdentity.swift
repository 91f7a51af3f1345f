internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The contents of the file `log` in a log's folder: the identities of the log and its store.
///
/// `magic 8 bytes · version u16 · zero u16 · log UUID · store UUID · crc32c u32`
struct LogIdentity: Sendable, Hashable {
  static let fileName = "log"
  private static let magic = Array("ArborLog".utf8)
  static let version: UInt16 = 1

  let log: UUID
  let store: UUID

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Self.version)
    writer.append(UInt16(0))
    writer.append(log)
    writer.append(store)
    writer.appendChecksum()
    return writer.bytes
  }
}

extension LogIdentity {
  /// - Throws: ``ArborError`` `formatTooNew`, `corrupted`.
  init(_ bytes: [UInt8], path: String) throws(ArborError) {
    let found = bytes.withUnsafeBytes { bytes -> LogIdentity? in
      guard var reader = ByteReader(checked: bytes), reader.skips(Self.magic),
        reader.read() == Self.version, reader.read(UInt16.self) != nil,
        let log = reader.readUUID(), let store = reader.readUUID(), reader.isAtEnd
      else { return nil }
      return LogIdentity(log: log, store: store)
    }
    if let found {
      self = found
      return
    }
    let version = bytes.withUnsafeBytes { bytes -> UInt16? in
      var reader = ByteReader(bytes)
      return reader.skips(Self.magic) ? reader.read() : nil
    }
    if let version, version > Self.version {
      throw ArborError(
        .formatTooNew,
        "\(path) has format \(version), which requires a later version of the library.")
    }
    throw ArborError.damagedLog(path, "it doesn't identify the log's store")
  }
}

extension ArborError {
  /// Creates the error for a damaged file of a log. `what` is a clause.
  static func damagedLog(_ path: String, _ what: String) -> ArborError {
    ArborError(
      .corrupted, "\(path) is damaged: \(what). Restore the file from another copy of the log.")
  }
}

extension ByteReader {
  /// Skips the given bytes if they come next. Returns whether they did.
  mutating func skips(_ bytes: [UInt8]) -> Bool {
    readBytes(bytes.count)?.elementsEqual(bytes) ?? false
  }
}
