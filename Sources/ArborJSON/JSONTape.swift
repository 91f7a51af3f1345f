/// A scanned document as one flat list: each value in front of its parts, each member's key in
/// front of its value.
///
/// ```
/// {"a": [1, 2], "b": null}      object 2 · "a" · array 2 · 1 · 2 · "b" · null
/// ```
///
/// Scanning makes no object and no string; what a caller never asks for is never made.
struct JSONTape: Sendable {
  /// One value or key, of 12 bytes: a document that is little more than commas has half as many of
  /// them as bytes.
  ///
  /// ```
  /// start u32 · extent u32 · next 27 bits, form 2, kind 3
  /// ```
  struct Entry: Sendable {
    /// The place of the value's first byte.
    var start: UInt32
    /// Of scalars: one behind the last byte. Of lists and objects: the number of elements or
    /// members.
    var extent: UInt32
    private var packed: UInt32

    /// - Precondition: `next` is below ``JSONTape/maximumCount``.
    @inline(__always)
    init(start: UInt32, extent: UInt32, next: UInt32, kind: Kind, form: Form) {
      self.start = start
      self.extent = extent
      packed = next << 5 | UInt32(form.rawValue) << 3 | UInt32(kind.rawValue)
    }

    /// The tape index behind this value and all its parts.
    @inline(__always)
    var next: UInt32 {
      get { packed >> 5 }
      set { packed = newValue << 5 | packed & 0x1F }
    }
    @inline(__always)
    var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: packed & 0x7)) ?? .object }
    @inline(__always)
    var form: Form { Form(rawValue: UInt8(truncatingIfNeeded: packed >> 3 & 0x3)) ?? .full }

    /// The bytes of a scalar.
    @inline(__always)
    var range: Range<Int> { Int(start)..<Int(extent) }
    /// The bytes between the quotation marks of a string.
    @inline(__always)
    var textRange: Range<Int> { (Int(start) + 1)..<(Int(extent) - 1) }
    @inline(__always)
    var isPlain: Bool { packed & 0x18 == 0 }
  }

  enum Kind: UInt8, Sendable {
    case null, no, yes, number, string, array, object
  }

  /// How many entries a tape can have, so that an index fits 27 bits.
  static let maximumCount = 1 << 27

  /// How much work it is to read a scalar.
  enum Form: UInt8, Sendable {
    /// A string of ASCII without an escape; a whole number of at most 18 digits, without exponent.
    case plain = 0
    /// A string without an escape; a number with digits behind a point.
    case simple
    /// Anything else.
    case full
  }

  var entries: [Entry] = []

  /// The text of a string.
  func text(of tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> String {
    let entry = entries[tapeIndex]
    let inner = UnsafeRawBufferPointer(rebasing: bytes[entry.textRange])
    if case .full = entry.form { return JSONEscapes.decode(inner) }
    return String(decoding: inner, as: UTF8.self)
  }

  /// A number.
  func number(at tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> JSONNumber {
    let entry = entries[tapeIndex]
    if let number = plainInteger(entry, in: bytes) { return JSONNumber(number) }
    return JSONNumber(checked: String(decoding: bytes[entry.range], as: UTF8.self))
  }

  /// A number as a whole one of 64 bits, or nil where it is none.
  @inline(__always)
  func int64(at tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> Int64? {
    plainInteger(entries[tapeIndex], in: bytes) ?? number(at: tapeIndex, in: bytes).int64
  }

  /// A number as the nearest floating-point one, or nil where it is beyond all of them.
  @inline(__always)
  func double(at tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> Double? {
    let entry = entries[tapeIndex]
    if let number = plainInteger(entry, in: bytes) { return Double(number) }
    if case .simple = entry.form,
      let number = JSONNumberGrammar.exactDouble(
        UnsafeRawBufferPointer(rebasing: bytes[entry.range]))
    {
      return number
    }
    return number(at: tapeIndex, in: bytes).double
  }

  /// The integer of a plain number; nil of any other and of `-0`, which is not the integer 0.
  @inline(__always)
  private func plainInteger(_ entry: Entry, in bytes: UnsafeRawBufferPointer) -> Int64? {
    guard entry.isPlain else { return nil }
    return JSONNumberGrammar.plainInteger(UnsafeRawBufferPointer(rebasing: bytes[entry.range]))
  }

  /// A value with all its parts. The scanner's limit bounds the recursion.
  func value(at tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> JSONValue {
    let entry = entries[tapeIndex]
    switch entry.kind {
    case .null: return .null
    case .no: return .bool(false)
    case .yes: return .bool(true)
    case .number: return .number(number(at: tapeIndex, in: bytes))
    case .string: return .string(text(of: tapeIndex, in: bytes))
    case .array:
      var elements: [JSONValue] = []
      elements.reserveCapacity(Int(entry.extent))
      var element = tapeIndex + 1
      for _ in 0..<entry.extent {
        elements.append(value(at: element, in: bytes))
        element = Int(entries[element].next)
      }
      return .array(elements)
    case .object:
      var members: [JSONObject.Element] = []
      members.reserveCapacity(Int(entry.extent))
      var key = tapeIndex + 1
      for _ in 0..<entry.extent {
        members.append((text(of: key, in: bytes), value(at: key + 1, in: bytes)))
        key = Int(entries[key + 1].next)
      }
      return .object(JSONObject(distinct: members))
    }
  }
}
