/// Keys that are looked for in many objects, prepared once.
///
/// Equal keys are those that Swift holds for equal strings, however they are written in a document.
package struct JSONKeyTable: Sendable {
  /// The keys; each is known by its index here.
  package let keys: [String]
  /// The UTF-8 of all keys, one behind the other, and where each begins.
  private let text: [UInt8]
  private let starts: [Int]
  /// For each hash of bytes a index, or -1; where one is taken, the next free one serves.
  private let slots: [Int]
  private let indexes: [String: Int]
  /// Whether a key's bytes say all: beyond ASCII, equal strings may have different ones.
  private let isASCII: Bool

  /// Prepares keys. Of a key that stands there twice the first index counts.
  package init(_ keys: [String]) {
    self.keys = keys
    text = keys.flatMap { Array($0.utf8) }
    isASCII = text.allSatisfy { $0 < 0x80 }
    starts = keys.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.utf8.count) }
    indexes = Dictionary(zip(keys, keys.indices)) { first, _ in first }
    var size = 4
    while size < keys.count * 2 { size *= 2 }
    var slots = Array(repeating: -1, count: size)
    for (keyIndex, key) in keys.enumerated() where indexes[key] == keyIndex {
      var key = key
      let hash = key.withUTF8 { JSONKeyBytes.hash(UnsafeRawBufferPointer($0)) }
      var slot = Int(truncatingIfNeeded: hash) & (size - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = keyIndex
    }
    self.slots = slots
  }

  package func keyIndex(of key: String) -> Int? { indexes[key] }

  /// Finds the keys of an object's members.
  ///
  /// - Parameters:
  ///   - order: For each member the index that its key had in the object before, or -1; becomes the
  ///     same of this object.
  ///   - found: Is given the index in the table, or -1, and that on the tape.
  @inline(__always)
  func find(
    membersOf object: Int, on tape: JSONTape, in bytes: UnsafeRawBufferPointer,
    order: inout [Int], _ found: (_ keyIndex: Int, _ key: Int) -> Void
  ) {
    tape.entries.withUnsafeBufferPointer { entries in
      text.withUnsafeBytes { text in
        starts.withUnsafeBufferPointer { starts in
          let count = Int(entries[object].extent)
          while order.count < count { order.append(-1) }
          var key = object + 1
          for member in 0..<count {
            let entry = entries[key]
            var keyIndex = order[member]
            let isGuessed =
              keyIndex >= 0 && entry.isPlain
              && JSONKeyBytes.areEqual(
                UnsafeRawBufferPointer(rebasing: text[starts[keyIndex]..<starts[keyIndex + 1]]),
                UnsafeRawBufferPointer(rebasing: bytes[entry.textRange]))
            if !isGuessed {
              keyIndex = self.keyIndex(ofKeyAt: key, on: tape, in: bytes)
              order[member] = keyIndex
            }
            found(keyIndex, key)
            key = Int(entries[key + 1].next)
          }
        }
      }
    }
  }

  /// The index of a key on a tape, or -1 where the table does not have it.
  private func keyIndex(
    ofKeyAt key: Int, on tape: JSONTape, in bytes: UnsafeRawBufferPointer
  ) -> Int {
    let entry = tape.entries[key]
    if entry.isPlain {
      let wanted = UnsafeRawBufferPointer(rebasing: bytes[entry.textRange])
      let found = text.withUnsafeBytes { text in
        var slot = Int(truncatingIfNeeded: JSONKeyBytes.hash(wanted)) & (slots.count - 1)
        while slots[slot] >= 0 {
          let range = starts[slots[slot]]..<starts[slots[slot] + 1]
          if JSONKeyBytes.areEqual(UnsafeRawBufferPointer(rebasing: text[range]), wanted) { break }
          slot = (slot + 1) & (slots.count - 1)
        }
        return slots[slot]
      }
      if found >= 0 || isASCII { return found }
    }
    return indexes[tape.text(of: key, in: bytes)] ?? -1
  }
}

/// Finds the members of object after object whose keys a table has, without making a string or an
/// array.
///
/// Objects of one list mostly have their keys in one order, so each key is first looked for where
/// the previous object had it.
///
/// For one thread at a time; a class, so that reading a member copies nothing.
///
/// ```swift
/// let members = JSONMembers(JSONKeyTable(["name", "age"]))
/// for item in batch.items where members.find(in: item) {
///   let age = members[1]?.int64
/// }
/// ```
package final class JSONMembers {
  package let table: JSONKeyTable
  private var document: JSONDocument?
  /// For each key of the table the index of its value on the tape; 0 where there is none.
  private var values: [Int]
  /// The indexes of the keys that the table does not have.
  private var others: [Int] = []
  /// For each member of the last object its key's index in the table, or -1.
  private var order: [Int] = []

  package init(_ table: JSONKeyTable) {
    self.table = table
    values = Array(repeating: 0, count: table.keys.count)
  }

  /// Finds the members of an object, and forgets those of the one before.
  ///
  /// - Returns: Whether the value is an object.
  @discardableResult
  package func find(in object: JSONNode) -> Bool {
    let document = object.document
    let entry = document.tape.entries[object.tapeIndex]
    for keyIndex in values.indices { values[keyIndex] = 0 }
    others.removeAll(keepingCapacity: true)
    self.document = document
    guard case .object = entry.kind else { return false }
    document.bytes.withBuffer { bytes in
      table.find(membersOf: object.tapeIndex, on: document.tape, in: bytes, order: &order) {
        if $0 >= 0 { values[$0] = $1 + 1 } else { others.append($1) }
      }
    }
    return true
  }

  /// The value of the key at an index of the table; nil where the object does not have it.
  package subscript(keyIndex: Int) -> JSONNode? {
    guard let document, values[keyIndex] > 0 else { return nil }
    return JSONNode(document: document, tapeIndex: values[keyIndex])
  }

  /// Lets a value of the same document stand for a key's that the last object does not have.
  ///
  /// - Returns: Whether the object does not have it.
  package func supply(_ node: JSONNode, forKeyAt index: Int) -> Bool {
    guard values[index] == 0 else { return false }
    values[index] = node.tapeIndex
    return true
  }

  /// The tape index of the value of the key at an index of the table; 0 where the object does
  /// not have it.
  package func node(at keyIndex: Int) -> Int { values[keyIndex] }

  /// Adds what ``node(at:)`` says of some indexes to a list, and 0 for those that are negative.
  package func appendNodes(at indexes: [Int32], to list: inout [Int32]) {
    for keyIndex in indexes {
      list.append(keyIndex < 0 ? 0 : Int32(truncatingIfNeeded: values[Int(keyIndex)]))
    }
  }

  package var unknownKeys: [JSONNode] {
    guard let document else { return [] }
    return others.map { JSONNode(document: document, tapeIndex: $0) }
  }
}
