extension JSONTape {
  func text(of tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> String {
    let entry = entries[tapeIndex]
    let inner = UnsafeRawBufferPointer(rebasing: bytes[entry.textRange])
    if case .full = entry.form { return JSONEscapes.decode(inner) }
    return String(decoding: inner, as: UTF8.self)
  }

  func number(at tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> JSONNumber {
    let entry = entries[tapeIndex]
    if let number = plainInteger(entry, in: bytes) { return JSONNumber(number) }
    return JSONNumber(checked: String(decoding: bytes[entry.range], as: UTF8.self))
  }

  /// Returns a number as a signed 64-bit integer, or `nil` if it isn't one.
  @inline(__always)
  func int64(at tapeIndex: Int, in bytes: UnsafeRawBufferPointer) -> Int64? {
    plainInteger(entries[tapeIndex], in: bytes) ?? number(at: tapeIndex, in: bytes).int64
  }

  /// Returns the nearest floating-point number, or `nil` if the number exceeds the range of
  /// `Double`.
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

  /// Returns the integer of a plain number, or `nil` for any other number and for `-0`, which is
  /// not the integer 0.
  @inline(__always)
  private func plainInteger(_ entry: Entry, in bytes: UnsafeRawBufferPointer) -> Int64? {
    guard entry.isPlain else { return nil }
    return JSONNumberGrammar.plainInteger(UnsafeRawBufferPointer(rebasing: bytes[entry.range]))
  }

  /// Returns a fully decoded value. The scanner's depth limit bounds the recursion.
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
