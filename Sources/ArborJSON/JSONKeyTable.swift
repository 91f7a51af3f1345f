/// A precomputed hash table of keys to find in many objects.
///
/// Keys are equal if they are equal Swift strings, regardless of how they are escaped in a
/// document.
package struct JSONKeyTable: Sendable {
  /// The keys, which are identified by their index.
  package let keys: [String]
  /// The UTF-8 of all keys, concatenated.
  private let text: [UInt8]
  /// The start of each key in ``text``, and the end of the last.
  private let starts: [Int]
  /// An open-addressing hash table with linear probing: each slot contains a key index, or -1.
  private let slots: [Int]
  private let indexes: [String: Int]
  /// Whether all keys are ASCII. Equal strings beyond ASCII can have different bytes.
  private let isASCII: Bool

  /// Creates a table of keys. If a key is repeated, its first index is used.
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
  ///   - order: For each member position, the table index of the key at that position in the
  ///     previous object, or -1. Updated for this object.
  ///   - found: A closure that is called for each member with the table index of its key, or -1,
  ///     and the key's tape index.
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

  /// Returns the index of a key on a tape, or -1 if the table doesn't contain it.
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

/// Finds the members of successive objects by the keys of a table, without allocating strings or
/// arrays.
///
/// The objects of an array usually have their keys in the same order, so each key is first compared
/// with the key at the same position in the previous object.
///
/// Not thread-safe. A class, so that reading a member doesn't copy anything.
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
  /// For each key of the table, the tape index of its value, or 0 if it is missing.
  private var values: [Int]
  /// The tape indexes of the keys that aren't in the table.
  private var others: [Int] = []
  /// For each member of the last object, the index of its key in the table, or -1.
  private var order: [Int] = []

  package init(_ table: JSONKeyTable) {
    self.table = table
    values = Array(repeating: 0, count: table.keys.count)
  }

  /// Finds the members of an object, discarding those of the previous one.
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

  /// The value of the key at an index of the table, or `nil` if the object doesn't have the key.
  package subscript(keyIndex: Int) -> JSONNode? {
    guard let document, values[keyIndex] > 0 else { return nil }
    return JSONNode(document: document, tapeIndex: values[keyIndex])
  }

  /// Substitutes a value of the same document for a key that the last object doesn't have.
  ///
  /// - Returns: Whether the value was substituted, that is, whether the object lacks the key.
  package func supply(_ node: JSONNode, forKeyAt index: Int) -> Bool {
    guard values[index] == 0 else { return false }
    values[index] = node.tapeIndex
    return true
  }

  /// Returns the tape index of the value of the key at an index of the table, or 0 if the object
  /// doesn't have the key.
  package func node(at keyIndex: Int) -> Int { values[keyIndex] }

  /// Appends the result of ``node(at:)`` for each index to a list, and 0 for negative indexes.
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
