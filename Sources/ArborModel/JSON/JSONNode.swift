import Foundation

/// One value of a document, with its place.
package struct JSONNode: Sendable {
  /// What a value is.
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

  /// One member of an object.
  package struct Member: Sendable {
    package let key: String
    /// The key itself, for errors that concern it.
    package let keyNode: JSONNode
    package let value: JSONNode
  }

  let document: JSONDocument
  let place: Int

  private var entry: JSONTape.Entry { document.tape.entries[place] }

  /// What the value is.
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

  /// The value with all its parts.
  package var value: JSONValue {
    document.data.withUnsafeBytes { document.tape.value(at: place, in: $0) }
  }

  /// The Boolean, or nil for any other value.
  package var bool: Bool? {
    switch entry.kind {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  /// The number, or nil for any other value.
  package var number: JSONNumber? {
    guard entry.kind == .number else { return nil }
    return document.data.withUnsafeBytes { document.tape.number(at: place, in: $0) }
  }

  /// The text, or nil for any other value.
  package var string: String? {
    guard entry.kind == .string else { return nil }
    return document.data.withUnsafeBytes { document.tape.text(of: place, in: $0) }
  }

  /// The number of a list's elements or an object's members, else 0.
  package var count: Int { Int(entry.count) }

  /// The elements of a list one after the other, without an array of them; none for any other
  /// value.
  package var items: JSONElements {
    entry.kind == .array
      ? JSONElements(of: place, in: document) : JSONElements(noneIn: document)
  }

  /// The elements of a list, or nil for any other value.
  package var elements: [JSONNode]? {
    guard entry.kind == .array else { return nil }
    var part = place + 1
    return (0..<entry.count).map { _ in
      defer { part = Int(document.tape.entries[part].next) }
      return JSONNode(document: document, place: part)
    }
  }

  /// The members of an object, or nil for any other value.
  package var members: [Member]? {
    guard entry.kind == .object else { return nil }
    return document.data.withUnsafeBytes { bytes in
      var part = place + 1
      return (0..<entry.count).map { _ in
        defer { part = Int(document.tape.entries[part + 1].next) }
        return Member(
          key: document.tape.text(of: part, in: bytes),
          keyNode: JSONNode(document: document, place: part),
          value: JSONNode(document: document, place: part + 1))
      }
    }
  }

  /// The value's place in its document: line, column and path. Linear in what lies before it.
  package var location: ArborError.SourceLocation {
    var location = document.data.withUnsafeBytes {
      document.origin.location(of: Int(entry.start), in: $0, source: document.source)
    }
    location.path = document.path(of: place).description
    return location
  }

  /// The number of the document's bytes in front of the value.
  package var offset: Int { document.origin.offset + Int(entry.start) }

  /// An error at this value's place.
  package func error(
    _ message: String, code: ArborError.Code = .invalidDocument
  ) -> ArborError {
    ArborError(code, message).with(location: location)
  }
}
