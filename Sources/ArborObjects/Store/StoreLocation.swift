internal import ArborModel
internal import ArborStore
public import Foundation

/// Where a store lies.
public enum StoreLocation: Sendable, Hashable {
  /// A file, and one beside it for LMDB's locks. The usual extension is `arbor`.
  ///
  /// The URL names the file and nothing else: opening throws `invalidArgument` for one of another
  /// scheme, with a host, a query or a fragment, or whose path is not UTF-8 or has a zero byte.
  case file(URL)
  /// The same by the file's path, absolute or from the working directory: for programs that have
  /// the path of a file and no URL, which takes longer to make than a store to open.
  ///
  /// Opening throws `invalidArgument` for an empty path and one with a zero byte.
  case path(String)
  /// Memory: the store ends with its last use.
  case inMemory
}

extension StoreLocation {
  /// The location in the store's own words.
  var stored: StoreOpening.Location {
    get throws(ArborError) {
      switch self {
      case .file(let url): .file(try Self.path(of: url))
      case .path(let path): .file(path)
      case .inMemory: .inMemory
      }
    }
  }

  /// The path of the file that a URL names, whole: the system would take a part of it for the name
  /// of another file.
  static func path(of url: URL) throws(ArborError) -> String {
    func refusal(_ what: String) -> ArborError {
      ArborError(
        .invalidArgument,
        "\(url.absoluteString) is not the URL of a store file: \(what). Create the URL from a path "
          + "with URL(filePath:).")
    }
    guard url.isFileURL else {
      throw refusal("its scheme is \(url.scheme ?? "missing") instead of file")
    }
    if let host = url.host(percentEncoded: false), !host.isEmpty, host != "localhost" {
      throw refusal("it names the host \(host)")
    }
    if url.query(percentEncoded: true) != nil { throw refusal("it has a query") }
    if url.fragment(percentEncoded: true) != nil { throw refusal("it has a fragment") }
    let encoded = url.absoluteURL.path(percentEncoded: true)
    guard encoded.utf8.contains(UInt8(ascii: "%")) else { return encoded }
    guard let path = decoded(encoded) else { throw refusal("its path is not UTF-8") }
    if path.utf8.contains(0) { throw refusal("its path has a zero byte") }
    return path
  }

  /// The text that a path with percent signs stands for; nil where its bytes are no text.
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
