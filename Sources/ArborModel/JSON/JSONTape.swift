/// A scanned document as one flat list: each value in front of its parts, each member's key in
/// front of its value.
///
/// ```
/// {"a": [1, 2], "b": null}      object 2 · "a" · array 2 · 1 · 2 · "b" · null
/// ```
///
/// Scanning makes no object and no string; what a caller never asks for is never made.
struct JSONTape: Sendable {
  /// One value or key, of 16 bytes.
  struct Entry: Sendable {
    /// The place of the value's first byte.
    var start: UInt32
    /// Of scalars: one behind the last byte. Of lists and objects: the number of elements or
    /// members.
    var extent: UInt32
    /// The place on the tape behind this value and all its parts.
    var next: UInt32
    var kind: Kind
    var form = Form.plain

    /// The bytes of a scalar.
    @inline(__always)
    var range: Range<Int> { Int(start)..<Int(extent) }
    /// The bytes between the quotation marks of a string.
    @inline(__always)
    var textRange: Range<Int> { (Int(start) + 1)..<(Int(extent) - 1) }
    @inline(__always)
    var isPlain: Bool { if case .plain = form { true } else { false } }
  }

  enum Kind: UInt8, Sendable {
    case null, no, yes, number, string, array, object
  }

  /// How much work it is to read a scalar.
  enum Form: UInt8, Sendable {
    /// A string of ASCII without an escape; a whole number of at most 18 digits, without exponent.
    case plain
    /// A string without an escape; a number with digits behind a point.
    case simple
    /// Anything else.
    case full
  }

  var entries: [Entry] = []

  /// The text of a string.
  func text(of place: Int, in bytes: UnsafeRawBufferPointer) -> String {
    let entry = entries[place]
    let inner = UnsafeRawBufferPointer(rebasing: bytes[entry.textRange])
    if case .full = entry.form { return JSONEscapes.decode(inner) }
    return String(decoding: inner, as: UTF8.self)
  }

  /// A number.
  func number(at place: Int, in bytes: UnsafeRawBufferPointer) -> JSONNumber {
    let entry = entries[place]
    if let number = plainInteger(entry, in: bytes) { return JSONNumber(number) }
    return JSONNumber(checked: String(decoding: bytes[entry.range], as: UTF8.self))
  }

  /// A number as a whole one of 64 bits, or nil where it is none.
  @inline(__always)
  func int64(at place: Int, in bytes: UnsafeRawBufferPointer) -> Int64? {
    plainInteger(entries[place], in: bytes) ?? number(at: place, in: bytes).int64
  }

  /// A number as the nearest floating-point one, or nil where it is beyond all of them.
  @inline(__always)
  func double(at place: Int, in bytes: UnsafeRawBufferPointer) -> Double? {
    let entry = entries[place]
    if let number = plainInteger(entry, in: bytes) { return Double(number) }
    if case .simple = entry.form,
      let number = JSONNumberGrammar.exactDouble(
        UnsafeRawBufferPointer(rebasing: bytes[entry.range]))
    {
      return number
    }
    return number(at: place, in: bytes).double
  }

  /// The integer of a plain number; nil of any other and of `-0`, which is not the integer 0.
  @inline(__always)
  private func plainInteger(_ entry: Entry, in bytes: UnsafeRawBufferPointer) -> Int64? {
    guard entry.isPlain else { return nil }
    var position = Int(entry.start)
    let isNegative = bytes[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var number: Int64 = 0
    while position < Int(entry.extent) {
      number = number &* 10 &+ Int64(bytes[position] &- UInt8(ascii: "0"))
      position += 1
    }
    if isNegative { return number == 0 ? nil : -number }
    return number
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
      elements.reserveCapacity(Int(entry.extent))
      var element = place + 1
      for _ in 0..<entry.extent {
        elements.append(value(at: element, in: bytes))
        element = Int(entries[element].next)
      }
      return .array(elements)
    case .object:
      var members: [JSONObject.Element] = []
      members.reserveCapacity(Int(entry.extent))
      var key = place + 1
      for _ in 0..<entry.extent {
        members.append((text(of: key, in: bytes), value(at: key + 1, in: bytes)))
        key = Int(entries[key + 1].next)
      }
      return .object(JSONObject(distinct: members))
    }
  }
}
