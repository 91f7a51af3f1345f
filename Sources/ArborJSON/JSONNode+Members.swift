extension JSONNode {
  /// The value of an object's member, or nil where there is none or this is no object.
  ///
  /// Code that asks for the members in the order of the document, one at a time, finds each in
  /// constant time, whatever their number; ``JSONMembers`` finds all of a known set of keys.
  ///
  /// - Parameters:
  ///   - wanted: The member's key.
  ///   - cursor: Where the last member of this object was found, for the next to be looked for
  ///     behind it; 0 at first.
  package func member(_ wanted: String, cursor: inout Int) -> JSONNode? {
    let tape = document.tape
    let object = tape.entries[tapeIndex]
    guard case .object = object.kind, object.extent > 0 else { return nil }
    let first = tapeIndex + 1
    let end = Int(object.next)
    let start = cursor > first && cursor < end ? cursor : first
    let found = document.bytes.withBuffer { bytes -> Int? in
      var wanted = wanted
      return wanted.withUTF8 { wanted -> Int? in
        var key = start
        repeat {
          if tape.isKey(key, UnsafeRawBufferPointer(wanted), in: bytes) { return key }
          key = Int(tape.entries[key + 1].next)
          if key >= end { key = first }
        } while key != start
        return nil
      }
    }
    guard let found else { return nil }
    cursor = Int(tape.entries[found + 1].next)
    return JSONNode(document: document, tapeIndex: found + 1)
  }
}

extension JSONTape {
  /// Whether the key at a tape index is a text.
  @inline(__always)
  fileprivate func isKey(
    _ tapeIndex: Int, _ wanted: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Bool {
    let entry = entries[tapeIndex]
    if JSONKeyBytes.areEqual(UnsafeRawBufferPointer(rebasing: bytes[entry.textRange]), wanted) {
      return true
    }
    // Equal strings may be written in different bytes.
    return !entry.isPlain
      && text(of: tapeIndex, in: bytes) == String(decoding: wanted, as: UTF8.self)
  }
}
