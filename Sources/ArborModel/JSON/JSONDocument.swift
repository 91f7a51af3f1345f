package import Foundation

/// A scanned document that knows where each of its values stands.
///
/// Scanning checks everything and makes no strings; values are made when asked for, and lines and
/// columns are counted when an error needs them. Immutable, for any thread.
package final class JSONDocument: Sendable {
  /// The file or URL the document comes from, for errors.
  package let source: String?
  let data: Data
  let tape: JSONTape

  /// Scans a document.
  ///
  /// - Parameters:
  ///   - data: The document in UTF-8.
  ///   - source: The file or URL it comes from, for errors.
  ///   - limits: What is refused for its size or depth.
  /// - Throws: ``ArborError`` `invalidDocument` with place and path, or `limitExceeded`.
  package init(
    _ data: Data, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) {
    self.data = data
    self.source = source
    let scanned = data.withUnsafeBytes { bytes -> Result<JSONTape, ArborError> in
      var scanner = JSONScanner(bytes, limits: limits)
      do throws(JSONFault) {
        try scanner.scan()
        return .success(scanner.tape)
      } catch {
        let code: ArborError.Code =
          switch error.reason {
          case .tooLarge, .tooDeep: .limitExceeded
          default: .invalidDocument
          }
        var location = Self.location(of: error.offset, in: bytes, source: source)
        location.path = scanner.pathOfFault()
        return .failure(ArborError(code, error.message).with(location: location))
      }
    }
    tape = try scanned.get()
  }

  /// The document's value.
  package var root: JSONNode { JSONNode(document: self, place: 0) }

  /// Line and column of a byte, both from 1; the column counts characters.
  static func location(
    of offset: Int, in bytes: UnsafeRawBufferPointer, source: String?
  ) -> ArborError.SourceLocation {
    let before = bytes[..<min(offset, bytes.count)]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before[..<lineStart].count { $0 == UInt8(ascii: "\n") } + 1
    let column = String(decoding: before[lineStart...], as: UTF8.self).count + 1
    return ArborError.SourceLocation(source: source, line: line, column: column)
  }

  /// The path of the value or key at a place of the tape.
  func path(of place: Int) -> JSONPath {
    data.withUnsafeBytes { bytes in
      var path = JSONPath()
      var container = 0
      while container < place {
        let isObject = tape.entries[container].kind == .object
        var part = container + 1
        var index = 0
        while true {
          let value = isObject ? part + 1 : part
          let next = Int(tape.entries[value].next)
          if place < next {
            if isObject {
              path.append(key: tape.text(of: part, in: bytes))
            } else {
              path.append(index: index)
            }
            if place == part { return path }
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
