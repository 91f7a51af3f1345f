/// A value of a scanned document.
@usableFromInline
package struct JSONNode: Sendable {
  package enum Kind: Sendable, Hashable, CustomStringConvertible {
    case null, bool, number, string, array, object

    /// The kind in words, for error messages.
    package var description: String {
      switch self {
      case .null: "null"
      case .bool: "a Boolean"
      case .number: "a number"
      case .string: "a string"
      case .array: "a list"
      case .object: "an object"
      }
    }
  }

  package struct Member: Sendable {
    package let key: String
    /// The node of the key, for errors that concern it.
    package let keyNode: JSONNode
    package let value: JSONNode
  }

  /// The document, or piece of one, that contains the value.
  @usableFromInline package let document: JSONDocument
  /// The value's index on the document's tape. Indexes are a compact way to store many nodes of one
  /// document.
  @usableFromInline package var tapeIndex: Int

  /// Creates a node from the tape index of another node of the same document.
  @inlinable @inline(__always)
  package init(document: JSONDocument, tapeIndex: Int) {
    self.document = document
    self.tapeIndex = tapeIndex
  }

  private var entry: JSONTape.Entry { document.tape.entries[tapeIndex] }

  package var kind: Kind {
    switch entry.kind {
    case .null: .null
    case .no, .yes: .bool
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }

  package var isNull: Bool { if case .null = entry.kind { true } else { false } }

  /// The value, fully decoded.
  package var value: JSONValue {
    document.bytes.withBuffer { document.tape.value(at: tapeIndex, in: $0) }
  }

  package var bool: Bool? {
    switch entry.kind {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  package var number: JSONNumber? {
    guard case .number = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.number(at: tapeIndex, in: $0) }
  }

  /// The number as a signed 64-bit integer, or `nil` if the value is not a number that fits. Like
  /// ``JSONNumber/int64``, but faster.
  package var int64: Int64? {
    guard case .number = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.int64(at: tapeIndex, in: $0) }
  }

  /// The nearest floating-point number, or `nil` if the value is not a number or exceeds the range
  /// of `Double`. Like ``JSONNumber/double``, but faster.
  package var double: Double? {
    guard case .number = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.double(at: tapeIndex, in: $0) }
  }

  package var string: String? {
    guard case .string = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.text(of: tapeIndex, in: $0) }
  }

  /// Calls a closure with the UTF-8 of a string without escapes, and whether it is known to be
  /// ASCII. Returns `nil` for any other value.
  package func withPlainText<Result>(
    _ body: (_ text: UnsafeRawBufferPointer, _ isASCII: Bool) -> Result
  ) -> Result? {
    let entry = entry
    guard case .string = entry.kind else { return nil }
    if case .full = entry.form { return nil }
    return document.bytes.withBuffer {
      body(UnsafeRawBufferPointer(rebasing: $0[entry.textRange]), entry.isPlain)
    }
  }

  /// Returns whether the value is this string. Doesn't create a string if both are plain ASCII.
  package func isText(_ text: String) -> Bool {
    guard case .string = entry.kind else { return false }
    var text = text
    if entry.isPlain {
      let isSame = document.bytes.withBuffer { bytes in
        text.withUTF8 {
          JSONKeyBytes.areEqual(
            UnsafeRawBufferPointer($0), UnsafeRawBufferPointer(rebasing: bytes[entry.textRange]))
        }
      }
      if isSame || text.utf8.allSatisfy({ $0 < 0x80 }) { return isSame }
    }
    return string == text
  }

  /// The number of elements or members, or 0 for a scalar.
  package var count: Int {
    switch entry.kind {
    case .array, .object: Int(entry.extent)
    default: 0
    }
  }

  /// The elements of an array as a lazy collection, empty for any other value.
  package var items: JSONElements {
    entry.kind == .array
      ? JSONElements(of: tapeIndex, in: document) : JSONElements(noneIn: document)
  }

  package var elements: [JSONNode]? {
    guard case .array = entry.kind else { return nil }
    return Array(items)
  }

  package var members: [Member]? {
    guard case .object = entry.kind else { return nil }
    var members: [Member] = []
    members.reserveCapacity(Int(entry.extent))
    forEachMember { key, value in
      members.append(Member(key: key.string ?? "", keyNode: key, value: value))
    }
    return members
  }

  /// Calls a closure with the key and value of each member of an object, in order. Does nothing for
  /// any other value.
  package func forEachMember<Failure: Error>(
    _ body: (_ key: JSONNode, _ value: JSONNode) throws(Failure) -> Void
  ) throws(Failure) {
    guard case .object = entry.kind else { return }
    var key = tapeIndex + 1
    for _ in 0..<entry.extent {
      try body(
        JSONNode(document: document, tapeIndex: key),
        JSONNode(document: document, tapeIndex: key + 1))
      key = Int(document.tape.entries[key + 1].next)
    }
  }

  /// Returns the value of an object's member, or `nil` if the object doesn't have the key.
  ///
  /// Use ``JSONMembers`` to look up many keys, or keys of many objects.
  ///
  /// - Complexity: Linear in the number of members.
  package func member(_ wanted: String) -> JSONNode? {
    guard case .object = entry.kind else { return nil }
    var key = tapeIndex + 1
    for _ in 0..<entry.extent {
      if JSONNode(document: document, tapeIndex: key).isText(wanted) {
        return JSONNode(document: document, tapeIndex: key + 1)
      }
      key = Int(document.tape.entries[key + 1].next)
    }
    return nil
  }

  /// The location of the value in its document: line, column and path.
  ///
  /// - Complexity: Linear in the size of the preceding text.
  package var location: ArborError.SourceLocation {
    var location = document.bytes.withBuffer {
      document.origin.location(of: Int(entry.start), in: $0, source: document.source)
    }
    location.path = document.path(of: tapeIndex).description
    return location
  }

  /// The byte offset of the value in its document.
  package var offset: Int { document.origin.offset + Int(entry.start) }

  package func error(_ message: String, code: ArborError.Code = .invalidDocument) -> ArborError {
    ArborError(code, message).with(location: location)
  }
}

extension JSONNode {
  /// The maximum length of an excerpt in bytes.
  private static let excerptSize = 100

  /// The value as text for an error description, abbreviated if it is long. The cost is
  /// proportional to the length of the excerpt.
  package var excerpt: String {
    let entry = document.tape.entries[tapeIndex]
    let size: Int
    switch entry.kind {
    case .array, .object:
      // Each entry takes at least two bytes, so many entries exceed the excerpt's length.
      size = 2 * (Int(entry.next) - tapeIndex)
    default: size = entry.range.count
    }
    guard size > Self.excerptSize else { return Self.shortened(value.text()) }
    return document.bytes.withBuffer { bytes in
      let start = Int(entry.start)
      let end = min(start + Self.excerptSize, bytes.count)
      return String(decoding: bytes[start..<end], as: UTF8.self) + "…"
    }
  }

  /// Shortens text with few parts, which can still be long.
  private static func shortened(_ text: String) -> String {
    text.utf8.count <= 10 * excerptSize ? text : text.prefix(excerptSize) + "…"
  }
}
