internal import ArborModel

/// A list of sort keys of one order, which keeps keys of bytes in one buffer: a key takes four bytes
/// more than its own.
package struct KeyList {
  private var bytes: [UInt8] = []
  /// The end of each key in ``bytes``.
  private var ends: [UInt32] = []
  /// The keys, if they are values.
  private var values: [[PropertyValue]] = []

  package init() {}

  /// The key at an index.
  package subscript(index: Int) -> RecordOrder.Key {
    values.isEmpty ? .bytes(Array(bytes[range(index)])) : .values(values[index])
  }

  package mutating func append(_ key: RecordOrder.Key) {
    switch key {
    case .bytes(let key):
      bytes += key
      ends.append(UInt32(bytes.count))
    case .values(let key): values.append(key)
    }
  }

  package mutating func insert(_ key: RecordOrder.Key, at index: Int) {
    switch key {
    case .bytes(let key):
      let start = start(index)
      bytes.insert(contentsOf: key, at: start)
      ends.insert(UInt32(start + key.count), at: index)
      for later in ends.indices[(index + 1)...] { ends[later] += UInt32(key.count) }
    case .values(let key): values.insert(key, at: index)
    }
  }

  package mutating func remove(at index: Int) {
    guard values.isEmpty else {
      values.remove(at: index)
      return
    }
    let range = range(index)
    bytes.removeSubrange(range)
    ends.remove(at: index)
    for later in ends.indices[index...] { ends[later] -= UInt32(range.count) }
  }

  /// Removes the keys from an index on, and returns them.
  package mutating func split(at index: Int) -> KeyList {
    var tail = KeyList()
    if values.isEmpty {
      let start = start(index)
      tail.bytes = Array(bytes[start...])
      tail.ends = ends[index...].map { $0 - UInt32(start) }
      bytes = Array(bytes[..<start])
      ends = Array(ends[..<index])
    } else {
      tail.values = Array(values[index...])
      values.removeSubrange(index...)
    }
    return tail
  }

  /// Releases memory that was reserved for more keys.
  package mutating func compact() {
    bytes = Array(bytes[...])
    ends = Array(ends[...])
  }

  /// Calls `body` with the bytes of a key.
  @inline(__always)
  func withBytes<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let range = range(index)
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  private func start(_ index: Int) -> Int { index == 0 ? 0 : Int(ends[index - 1]) }

  private func range(_ index: Int) -> Range<Int> { start(index)..<Int(ends[index]) }
}
