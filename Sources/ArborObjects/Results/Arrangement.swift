internal import ArborModel
internal import ArborStore

/// An ordered collection of objects, stored in chunks, so that inserting, removing and finding an
/// object remain cheap in large collections.
struct Arrangement {
  private static let maximumChunkSize = 512

  /// The chunks, none of which is empty.
  private var chunks: [ContiguousArray<ManagedObject>] = []
  private(set) var count = 0

  init(_ objects: [ManagedObject] = []) {
    count = objects.count
    chunks.reserveCapacity(count / (Self.maximumChunkSize / 2) + 1)
    for start in stride(from: 0, to: objects.count, by: Self.maximumChunkSize / 2) {
      let end = min(start + Self.maximumChunkSize / 2, objects.count)
      chunks.append(ContiguousArray(objects[start..<end]))
    }
  }

  /// All objects as one array. Linear time.
  var objects: [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(count)
    for chunk in chunks { objects += chunk }
    return objects
  }

  subscript(index: Int) -> ManagedObject {
    let position = position(of: index)
    return chunks[position.chunk][position.offset]
  }

  /// Returns the number of leading objects that satisfy a condition. All objects that satisfy it
  /// must precede those that don't.
  func countOfPrefix(where condition: (ManagedObject) -> Bool) -> Int {
    let whole = chunks.partitioningIndex { !condition($0[$0.count - 1]) }
    let start = chunks[..<whole].reduce(0) { $0 + $1.count }
    guard whole < chunks.count else { return start }
    return start + chunks[whole].partitioningIndex { !condition($0) }
  }

  /// Inserts an object before the one at an index.
  mutating func insert(_ object: ManagedObject, at index: Int) {
    count += 1
    guard !chunks.isEmpty else { return chunks.append([object]) }
    var position = index == count - 1 ? lastIndex : position(of: index)
    // At a boundary, the object can be added to either chunk.
    if position.offset == 0, position.chunk > 0,
      chunks[position.chunk].count >= Self.maximumChunkSize
    {
      position = (position.chunk - 1, chunks[position.chunk - 1].count)
    }
    chunks[position.chunk].insert(object, at: position.offset)
    if chunks[position.chunk].count > Self.maximumChunkSize {
      let half = chunks[position.chunk].count / 2
      let tail = ContiguousArray(chunks[position.chunk][half...])
      chunks[position.chunk].removeSubrange(half...)
      chunks.insert(tail, at: position.chunk + 1)
    }
  }

  @discardableResult
  mutating func remove(at index: Int) -> ManagedObject {
    let position = position(of: index)
    count -= 1
    let object = chunks[position.chunk].remove(at: position.offset)
    if chunks[position.chunk].isEmpty { chunks.remove(at: position.chunk) }
    return object
  }

  private var lastIndex: (chunk: Int, offset: Int) {
    (chunks.count - 1, chunks[chunks.count - 1].count)
  }

  /// Returns the position of an index. Scans the counts of the chunks, of which a million objects
  /// have a few thousand.
  private func position(of index: Int) -> (chunk: Int, offset: Int) {
    guard index >= 0 && index < count else {
      stopProgram("Index \(index) is out of range. The results have the indices 0..<\(count).")
    }
    var offset = index
    for (chunkIndex, chunk) in chunks.enumerated() {
      if offset < chunk.count { return (chunkIndex, offset) }
      offset -= chunk.count
    }
    return lastIndex
  }
}
