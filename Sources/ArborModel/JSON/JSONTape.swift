/// A scanned document as one flat list: each value in front of its parts, each member's key in
/// front of its value.
///
/// ```
/// {"a": [1, 2], "b": null}      object 2 · "a" · array 2 · 1 · 2 · "b" · null
/// ```
///
/// Scanning makes no object and no string; what a caller never asks for is never made.
struct JSONTape: Sendable {
  /// One value or key.
  struct Entry: Sendable {
    /// The place of the value's first byte.
    var start: UInt32
    /// One behind the value's last byte.
    var end: UInt32 = 0
    /// The place on the tape behind this value and all its parts.
    var next: UInt32 = 0
    var kind: Kind
    /// Of strings: whether all is ASCII without an escape.
    var isPlain = true
    /// Of lists and objects: the number of elements or members.
    var count: UInt32 = 0
  }

  enum Kind: UInt8, Sendable {
    case null, no, yes, number, string, array, object
  }

  var entries: [Entry] = []

  /// The text of a string.
  func text(of place: Int, in bytes: UnsafeRawBufferPointer) -> String {
    let entry = entries[place]
    let inner = UnsafeRawBufferPointer(
      rebasing: bytes[(Int(entry.start) + 1)..<(Int(entry.end) - 1)])
    if entry.isPlain || !inner.contains(UInt8(ascii: "\\")) {
      return String(decoding: inner, as: UTF8.self)
    }
    return JSONEscapes.decode(inner)
  }

  /// A number.
  func number(at place: Int, in bytes: UnsafeRawBufferPointer) -> JSONNumber {
    let range = Int(entries[place].start)..<Int(entries[place].end)
    return JSONNumber(checked: String(decoding: bytes[range], as: UTF8.self))
  }

  /// A value with all its parts. The scanner's limit bounds the recursion.
  func value(at place: Int, in bytes: UnsafeRawBufferPointer) -> JSONValue {
    let entry = entries[place]
    switch entry.kind {
    case .null: return .null
    case .no: return .bool(false)
    case .yes: return .bool(true)
    case .number: return .number(number(at: place, in: bytes))
    case .string: return .string(text(of: place, in: bytes))
    case .array:
      var elements: [JSONValue] = []
      elements.reserveCapacity(Int(entry.count))
      var element = place + 1
      for _ in 0..<entry.count {
        elements.append(value(at: element, in: bytes))
        element = Int(entries[element].next)
      }
      return .array(elements)
    case .object:
      var members: [JSONObject.Element] = []
      members.reserveCapacity(Int(entry.count))
      var key = place + 1
      for _ in 0..<entry.count {
        members.append((text(of: key, in: bytes), value(at: key + 1, in: bytes)))
        key = Int(entries[key + 1].next)
      }
      return .object(JSONObject(distinct: members))
    }
  }
}
