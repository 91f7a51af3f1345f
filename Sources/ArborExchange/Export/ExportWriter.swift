package import ArborFoundation
import ArborJSON
package import ArborModel

/// The layout of an export.
public enum JSONExportFormat: String, Sendable, Hashable, CaseIterable {
  /// A single document, `{"seeds": [ … ]}`, with one object per line.
  case json
  /// A document on each line, for streams and line-oriented tools. Use the extension `.ndjson`, by
  /// which a seed recognizes the format.
  case ndjson
}

/// Combines instances into documents.
struct ExportWriter {
  private let format: JSONExportFormat
  private var text: [UInt8] = []
  /// The name of the entity whose list is being written, or `nil` if there is none.
  private var entity: String?
  private var hasBegun = false

  init(_ format: JSONExportFormat) {
    self.format = format
    if format == .json { append("{\"seeds\":[") }
  }

  /// Writes an instance of an entity. In a single document, consecutive instances of one entity
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

  /// Returns the text written since the last call.
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

/// The output file of an export.
package struct ExportFile {
  private let file: OpenFile

  package init(_ file: OpenFile) { self.file = file }

  /// Appends data to the file.
  package func write(_ data: Data) throws(ArborError) {
    do {
      try file.append(data)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Writes a file completely or not at all, by creating a temporary file next to it and renaming
  /// it.
  package static func replacing(
    _ url: URL, _ body: (ExportFile) throws(ArborError) -> Void
  ) throws(ArborError) {
    let draft = url.deletingLastPathComponent()
      .appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
    guard FileManager.default.createFile(atPath: draft.path, contents: nil) else {
      throw ArborError(
        .inputOutput,
        "Cannot create a file in \(url.deletingLastPathComponent().path). Create the folder, or "
          + "check its permissions.")
    }
    do {
      let file = try OpenFile(draft.path, O_WRONLY)
      try body(ExportFile(file))
      try file.synchronize()
      // Both paths are valid for the duration of the call.
      guard unsafe rename(draft.path, url.path) == 0 else {
        let reason = unsafe String(cString: strerror(errno))
        throw ArborError(
          .inputOutput,
          "\(url.path) cannot be replaced: \(reason). Check its permissions, and that it is not a "
            + "folder.")
      }
    } catch {
      try? FileManager.default.removeItem(at: draft)
      throw error as? ArborError ?? failure(error)
    }
  }

  private static func failure(_ error: any Error) -> ArborError {
    let isFull = [.ENOSPC, .EDQUOT].contains((error as? POSIXError)?.code)
    return ArborError(
      isFull ? .diskFull : .inputOutput,
      isFull
        ? "The disk is full. Free space, and export again."
        : "The export cannot be written. See the underlying error."
    ).with(underlying: error)
  }
}
