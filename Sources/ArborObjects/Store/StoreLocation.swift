public import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The location of a store.
public enum StoreLocation: Sendable, Hashable {
  /// A file, with LMDB's lock file next to it. The usual extension is `arbor`.
  ///
  /// The URL must be a plain file URL. Opening throws `invalidArgument` if it has another scheme, a
  /// host, a query or a fragment, or if its path is not UTF-8 or contains a zero byte.
  case file(URL)
  /// The path of a file, absolute or relative to the working directory. For programs that have a
  /// path instead of a URL, because creating a URL takes longer than opening a store.
  ///
  /// Opening throws `invalidArgument` if the path is empty or contains a zero byte.
  case path(String)
  /// Memory. The store ceases to exist after its last use.
  case inMemory
}

extension StoreLocation {
  /// The location, converted to the type of the store layer.
  var stored: StoreOpening.Location {
    get throws(ArborError) {
      switch self {
      case .file(let url): .file(try Self.path(of: url))
      case .path(let path): .file(path)
      case .inMemory: .inMemory
      }
    }
  }

  /// Returns the path of a file URL. Throws if the URL isn't a plain file URL, or if the system
  /// would truncate its path at a zero byte and use another file.
  static func path(of url: URL) throws(ArborError) -> String {
    func refusal(_ what: String) -> ArborError {
      ArborError(
        .invalidArgument,
        "\(url.absoluteString) is not the URL of a store file: \(what). Create the URL from a path "
          + "with URL(filePath:).")
    }
    guard url.isFileURL else {
      throw refusal("its scheme is \(url.scheme ?? "missing") and must be file")
    }
    if let host = url.host(percentEncoded: false), !host.isEmpty, host != "localhost" {
      throw refusal("it contains the host \(host)")
    }
    if url.query(percentEncoded: true) != nil { throw refusal("it has a query") }
    if url.fragment(percentEncoded: true) != nil { throw refusal("it has a fragment") }
    let encoded = url.absoluteURL.path(percentEncoded: true)
    guard encoded.utf8.contains(UInt8(ascii: "%")) else { return encoded }
    guard let path = decoded(encoded) else { throw refusal("its path is not UTF-8") }
    if path.utf8.contains(0) { throw refusal("its path contains a zero byte") }
    return path
  }

  /// Decodes a percent-encoded path. Returns `nil` if the result is not valid UTF-8.
  private static func decoded(_ encoded: String) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.utf8.count)
    var rest = encoded.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(rest.prefix(2)) ?? "", radix: 16), rest.count >= 2 else {
        return nil
      }
      rest.removeFirst(2)
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
