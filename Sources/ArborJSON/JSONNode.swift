/// One value of a document, with its place.
@usableFromInline
package struct JSONNode: Sendable {
  package enum Kind: Sendable, Hashable, CustomStringConvertible {
    case null, bool, number, string, array, object

    /// The kind in words, for messages that say what was found.
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
    /// The key itself, for errors that concern it.
    package let keyNode: JSONNode
    package let value: JSONNode
  }

  /// The document, or piece of one, that the value stands in.
  @usableFromInline package let document: JSONDocument
  /// The value's index on the document's tape: for who keeps many nodes of one document as numbers.
  @usableFromInline package var tapeIndex: Int

  /// The value at a tape index that a node of the same document has told.
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

  /// The value with all its parts.
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

  /// The number where it is whole and fits 64 bits with a sign, else nil; as ``JSONNumber/int64``,
  /// but faster.
  package var int64: Int64? {
    guard case .number = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.int64(at: tapeIndex, in: $0) }
  }

  /// The nearest floating-point number, or nil where the value is no number or beyond all of them;
  /// as ``JSONNumber/double``, but faster.
  package var double: Double? {
    guard case .number = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.double(at: tapeIndex, in: $0) }
  }

  package var string: String? {
    guard case .string = entry.kind else { return nil }
    return document.bytes.withBuffer { document.tape.text(of: tapeIndex, in: $0) }
  }

  /// Gives a closure the UTF-8 of a text that is written as it is, without escapes, and whether it
  /// is ASCII for certain; nil for any other value.
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

  /// Whether the value is this text. Makes no string where both are plain ASCII.
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

  /// The number of a list's elements or an object's members, else 0.
  package var count: Int {
    switch entry.kind {
    case .array, .object: Int(entry.extent)
    default: 0
    }
  }

  /// The elements of a list one after the other, without an array of them; none for any other
  /// value.
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

  /// Calls a closure with key and value of each member of an object, in order; of any other value
  /// it has none.
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

  /// The value of an object's member, or nil where there is none. Linear in the number of members;
  /// for many keys or many objects ``JSONMembers`` is faster.
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

  /// The value's place in its document: line, column and path. Linear in what lies before it.
  package var location: ArborError.SourceLocation {
    var location = document.bytes.withBuffer {
      document.origin.location(of: Int(entry.start), in: $0, source: document.source)
    }
    location.path = document.path(of: tapeIndex).description
    return location
  }

  /// The number of the document's bytes in front of the value.
  package var offset: Int { document.origin.offset + Int(entry.start) }

  package func error(_ message: String, code: ArborError.Code = .invalidDocument) -> ArborError {
    ArborError(code, message).with(location: location)
  }
}

extension JSONNode {
  /// How many bytes of a value an excerpt shows.
  private static let excerptSize = 100

  /// The value as it may stand in the description of an error: whole where it is short, else its
  /// beginning. Costs no more than what it shows.
  package var excerpt: String {
    let entry = document.tape.entries[tapeIndex]
    let size: Int
    switch entry.kind {
    case .array, .object:
      // Each part takes two bytes at least, so that many of them are more than is shown.
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

  /// A text of few parts may still have a long one.
  private static func shortened(_ text: String) -> String {
    text.utf8.count <= 10 * excerptSize ? text : text.prefix(excerptSize) + "…"
  }
}
