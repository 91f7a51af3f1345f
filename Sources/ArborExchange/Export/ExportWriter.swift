import ArborJSON
package import ArborModel
package import Foundation

/// How an export is laid out.
public enum JSONExportFormat: String, Sendable, Hashable, CaseIterable {
  /// One document, `{"seeds": [ … ]}`, with an object on each line.
  case json
  /// A document on each line, for streams and for tools that read line by line. A file of it is
  /// named `.ndjson`, by which a seed knows it.
  case ndjson
}

/// Puts instances together to documents.
struct ExportWriter {
  private let format: JSONExportFormat
  private var text: [UInt8] = []
  /// The entity of the document that is being written.
  private var entity: String?
  private var hasBegun = false

  init(_ format: JSONExportFormat) {
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

/// A file that an export is written into.
package struct ExportFile {
  private let handle: FileHandle

  package init(_ handle: FileHandle) { self.handle = handle }

  /// Writes at the end of what was written.
  package func write(_ data: Data) throws(ArborError) {
    do {
      try handle.write(contentsOf: data)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Writes a file as a whole or not at all: under another name beside it, which then becomes its
  /// own.
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
      let handle = try FileHandle(forWritingTo: draft)
      try body(ExportFile(handle))
      try handle.synchronize()
      try handle.close()
      // Both paths live for the length of the call.
      guard unsafe rename(draft.path, url.path) == 0 else {
        throw ArborError(
          .inputOutput,
          "\(url.path) cannot be replaced (error \(errno)). Check its permissions, and that it is "
            + "not a folder.")
      }
    } catch {
      try? FileManager.default.removeItem(at: draft)
      throw error as? ArborError ?? failure(error)
    }
  }

  private static func failure(_ error: any Error) -> ArborError {
    let cocoa = error as NSError
    let beneath = cocoa.userInfo[NSUnderlyingErrorKey] as? NSError ?? cocoa
    let isFull =
      cocoa.code == CocoaError.Code.fileWriteOutOfSpace.rawValue
      || (beneath.domain == NSPOSIXErrorDomain && [ENOSPC, EDQUOT].contains(Int32(beneath.code)))
    return ArborError(
      isFull ? .diskFull : .inputOutput,
      isFull
        ? "The disk is full. Free space, and export again."
        : "The export cannot be written. See the underlying error."
    ).with(underlying: error)
  }
}
