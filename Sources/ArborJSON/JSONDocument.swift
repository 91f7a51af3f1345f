package import ArborFoundation

/// A scanned document that can report the location of each of its values.
///
/// Scanning validates the whole document without creating strings. Values are created on demand,
/// and lines and columns are computed only for errors. Immutable; can be used from any thread.
@usableFromInline
package final class JSONDocument: Sendable {
  /// The file or URL of the document, for errors.
  package let source: String?
  let bytes: JSONBytes
  let tape: JSONTape
  let origin: JSONOrigin

  /// Scans a document.
  ///
  /// - Parameters:
  ///   - data: The document in UTF-8.
  ///   - source: The file or URL of the document, for errors.
  ///   - limits: The maximum size and depth.
  ///   - work: The limit that can interrupt the scan, or `nil` for none.
  /// - Throws: ``ArborError`` `malformedDocument` with location and path, `limitExceeded`, or the
  ///   reason for the interruption.
  package init(
    _ data: Data, source: String? = nil, limits: JSONLimits = JSONLimits(), work: WorkLimit? = nil
  ) throws(ArborError) {
    bytes = JSONBytes(data)
    self.source = source
    var origin = JSONOrigin()
    if bytes.withBuffer(JSONScanner.hasByteOrderMark) { origin.skipByteOrderMark() }
    self.origin = origin
    let scanned = bytes.withBuffer { [origin] bytes -> Result<JSONTape, ArborError> in
      var scanner = JSONScanner(bytes, limits: limits, work: work)
      do throws(JSONFault) {
        try scanner.scan()
        return .success(scanner.tape)
      } catch {
        let location = origin.location(of: error.offset, in: bytes, source: source)
        return .failure(error.error(at: location, path: scanner.pathOfFault()))
      }
    }
    tape = try scanned.get()
  }

  /// Creates a document from a scanned piece of a larger document.
  init(_ bytes: JSONBytes, source: String?, tape: JSONTape, origin: JSONOrigin) {
    self.bytes = bytes
    self.source = source
    self.tape = tape
    self.origin = origin
  }

  package var root: JSONNode { JSONNode(document: self, tapeIndex: 0) }

  func path(of tapeIndex: Int) -> JSONPath {
    bytes.withBuffer { bytes in
      var path = origin.path
      var container = 0
      while container < tapeIndex {
        let isObject = tape.entries[container].kind == .object
        var part = container + 1
        var index = 0
        var hasIndex = true
        if container == 0 {
          switch origin.root {
          case .value: break
          case .elements(let first): index = first
          case .lines: hasIndex = false
          }
        }
        while true {
          let value = isObject ? part + 1 : part
          let next = Int(tape.entries[value].next)
          if tapeIndex < next {
            if isObject {
              path.append(key: tape.text(of: part, in: bytes))
            } else if hasIndex {
              path.append(index: index)
            }
            if tapeIndex == part { return path }
            container = value
            break
          }
          part = next
          index += 1
        }
      }
      return path
    }
  }
}

/// The limits that a JSON document must not exceed.
public struct JSONLimits: Sendable, Hashable {
  /// The maximum size of a document in bytes, 256 MiB by default.
  ///
  /// For documents that are read item by item, which can have any size, this is the maximum size of
  /// one item: an element of an array, or a line.
  public var maximumSize = 256 << 20
  /// The maximum number of values and keys that are scanned at once: 134 million, which take 1.6
  /// GB. It cannot be raised, because tape indexes have 27 bits.
  package var maximumCount = JSONTape.maximumCount
  /// The maximum nesting depth of arrays and objects, 128 by default.
  public var maximumDepth = 128

  /// Creates the default limits.
  public init() {}

  /// The maximum size, capped at what 32-bit offsets can address.
  var size: Int { min(maximumSize, Int(UInt32.max) - 1) }
}
