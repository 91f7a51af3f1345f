extension JSONNode {
  /// Returns the value of an object's member, or `nil` if the key is missing or this is not an
  /// object.
  ///
  /// Looking up the members one at a time in document order takes constant time for each,
  /// regardless of their number. ``JSONMembers`` finds a known set of keys at once.
  ///
  /// - Parameters:
  ///   - wanted: The member's key.
  ///   - cursor: The position of the last member found, after which the search starts. Pass 0 for
  ///     the first lookup in an object.
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
  /// Returns whether the key at a tape index equals a text.
  @inline(__always)
  fileprivate func isKey(
    _ tapeIndex: Int, _ wanted: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Bool {
    let entry = entries[tapeIndex]
    if JSONKeyBytes.areEqual(UnsafeRawBufferPointer(rebasing: bytes[entry.textRange]), wanted) {
      return true
    }
    // Equal strings can have different bytes.
    return !entry.isPlain
      && text(of: tapeIndex, in: bytes) == String(decoding: wanted, as: UTF8.self)
  }
}
