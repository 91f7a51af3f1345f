/// A batch of items: elements of an array, values of an object, or values on lines.
///
/// Its nodes don't keep the whole document in memory, only the window that contains them.
package struct JSONBatch: Sendable {
  package let items: JSONElements
  /// The number of items before these.
  package let firstIndex: Int
}

/// The elements of an array, or the values of an object, in order. Elements are decoded only on
/// access.
package struct JSONElements: Sendable, Collection {
  /// The tape index of an element.
  package struct Index: Comparable, Sendable {
    let tapeIndex: Int

    package static func < (left: Self, right: Self) -> Bool { left.tapeIndex < right.tapeIndex }
  }

  let document: JSONDocument
  let first: Int
  let end: Int
  /// The number of tape entries between two elements: 1 for the key of an object's member,
  /// otherwise 0.
  let gap: Int
  package let count: Int

  package var isEmpty: Bool { count == 0 }
  package var startIndex: Index { Index(tapeIndex: first) }
  package var endIndex: Index { Index(tapeIndex: end) }

  package func index(after index: Index) -> Index {
    Index(tapeIndex: Int(document.tape.entries[index.tapeIndex].next) + gap)
  }

  package subscript(index: Index) -> JSONNode {
    JSONNode(document: document, tapeIndex: index.tapeIndex)
  }

  package struct Iterator: IteratorProtocol {
    let document: JSONDocument
    var tapeIndex: Int
    let gap: Int
    var rest: Int

    package mutating func next() -> JSONNode? {
      guard rest > 0 else { return nil }
      rest -= 1
      defer { tapeIndex = Int(document.tape.entries[tapeIndex].next) + gap }
      return JSONNode(document: document, tapeIndex: tapeIndex)
    }
  }

  package func makeIterator() -> Iterator {
    Iterator(document: document, tapeIndex: first, gap: gap, rest: count)
  }
}

extension JSONElements {
  /// Creates the elements of an array, or the values of an object, at a tape index.
  init(of list: Int, in document: JSONDocument) {
    let entry = document.tape.entries[list]
    let gap = entry.kind == .object ? 1 : 0
    self.init(
      document: document, first: list + 1 + gap, end: Int(entry.next) + gap, gap: gap,
      count: Int(entry.extent))
  }

  init(noneIn document: JSONDocument) {
    self.init(document: document, first: 0, end: 0, gap: 0, count: 0)
  }

  /// Creates a collection of a single value.
  package init(only value: Int, in document: JSONDocument) {
    let end = Int(document.tape.entries[value].next)
    self.init(document: document, first: value, end: end, gap: 0, count: 1)
  }
}
