package import Foundation

/// A scanned document that knows where each of its values stands.
///
/// Scanning checks everything and makes no strings; values are made when asked for, and lines and
/// columns are counted when an error needs them. Immutable, for any thread.
@usableFromInline
package final class JSONDocument: Sendable {
  /// The file or URL the document comes from, for errors.
  package let source: String?
  let bytes: JSONBytes
  let tape: JSONTape
  let origin: JSONOrigin

  /// Scans a document.
  ///
  /// - Parameters:
  ///   - data: The document in UTF-8.
  ///   - source: The file or URL it comes from, for errors.
  ///   - limits: What is refused for its size or depth.
  ///   - work: What ends the scanning before it is done; nil for nothing.
  /// - Throws: ``ArborError`` `malformedDocument` with place and path, `limitExceeded`, or why the
  ///   work has to stop.
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

  /// A piece of a document, which has been scanned.
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

/// How much a JSON document may ask of the reader before it is refused.
public struct JSONLimits: Sendable, Hashable {
  /// The greatest size of a document in bytes: 256 MiB. Of documents that are read item by item,
  /// which may have any size, that of one item: an element of a list, or a line.
  public var maximumSize = 256 << 20
  /// The maximum number of values and keys that are read at once: 134 million, which take 1.6 GB.
  /// It cannot be raised, since indexes have 27 bits.
  package var maximumCount = JSONTape.maximumCount
  /// How deep lists and objects may nest: 128 levels.
  public var maximumDepth = 128

  /// The default limits.
  public init() {}

  /// The maximum size, at most what offsets of 32 bits can address.
  var size: Int { min(maximumSize, Int(UInt32.max) - 1) }
}
