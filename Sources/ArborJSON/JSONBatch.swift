/// Items that were read together: elements of a list, values of an object, or values of lines.
///
/// Its nodes keep the bytes they stand in, and nothing else, in memory.
package struct JSONBatch: Sendable {
  package let items: JSONElements
  /// The number of items before these.
  package let firstIndex: Int
}

/// The elements of a list, or the values of an object, one after the other. Nothing is made of
/// those that nobody looks at.
package struct JSONElements: Sendable, Collection {
  /// The tape index of an element.
  package struct Index: Comparable, Sendable {
    let tapeIndex: Int

    package static func < (left: Self, right: Self) -> Bool { left.tapeIndex < right.tapeIndex }
  }

  let document: JSONDocument
  let first: Int
  let end: Int
  /// The number of entries between two elements: the key of an object's member stands there.
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
  /// The elements of a list, or the values of an object, on a document's tape.
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

  /// One value, seen as a list of one.
  package init(only value: Int, in document: JSONDocument) {
    let end = Int(document.tape.entries[value].next)
    self.init(document: document, first: value, end: end, gap: 0, count: 1)
  }
}
