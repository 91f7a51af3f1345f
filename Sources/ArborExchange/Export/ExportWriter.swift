import ArborJSON
import ArborModel
import Foundation

/// How an export is laid out.
public enum ExportFormat: String, Sendable, Hashable, CaseIterable {
  /// One document, `{"seeds": [ … ]}`, with an object on each line.
  case json
  /// A document on each line, for streams and for tools that read line by line. A file of it is
  /// named `.ndjson`, by which a seed knows it.
  case ndjson
}

/// Puts instances together to documents.
struct ExportWriter {
  private let format: ExportFormat
  private var text: [UInt8] = []
  /// The entity of the document that is being written.
  private var entity: String?
  private var hasBegun = false

  init(_ format: ExportFormat) {
    self.format = format
    if format == .json { append("{\"seeds\":[") }
  }

  /// Writes an instance of an entity. In one document, those of one entity that follow each other
  /// share a list.
  mutating func write(_ instance: JSONValue, of entity: String) {
    if format == .ndjson {
      append(.object(JSONObject(distinct: [(entity, instance)])))
      return append("\n")
    }
    if entity == self.entity {
      append(",\n")
    } else {
      endList()
      append(hasBegun ? ",\n{" : "\n{")
      append(.string(entity))
      append(":[\n")
      self.entity = entity
      hasBegun = true
    }
    append(instance)
  }

  mutating func end() {
    guard format == .json else { return }
    endList()
    append(hasBegun ? "\n]}\n" : "]}\n")
  }

  /// What was written since the last call.
  mutating func takeText() -> Data {
    defer { text.removeAll(keepingCapacity: true) }
    return Data(text)
  }

  private mutating func endList() {
    if entity != nil { append("]}") }
    entity = nil
  }

  private mutating func append(_ value: JSONValue) {
    var writer = JSONWriter(.compact)
    writer.write(value)
    text += writer.bytes
  }

  private mutating func append(_ string: String) { text += string.utf8 }
}
