package import ArborStore
internal import LMDB

/// A copy of a small store with another page size, laid out by hand as LMDB does on a machine with
/// such pages: one leaf per database, and overflow pages for large values.
package struct PagedFile {
  package private(set) var bytes: [UInt8]
  private let pageSize: Int

  /// An entry of a leaf.
  private struct Node {
    let key: [UInt8]
    let data: [UInt8]
    /// The size of the value, which may be stored on overflow pages.
    let size: Int
    let flags: UInt16

    init(_ key: [UInt8], _ data: [UInt8], size: Int? = nil, flags: UInt16 = 0) {
      (self.key, self.data, self.size, self.flags) = (key, data, size ?? data.count, flags)
    }

    var length: Int { (8 + key.count + data.count + 1) & ~1 }
  }

  /// - Parameter file: A store in which each database fits on one page.
  package init(copying file: StoreEngine, pageSize: Int) throws {
    self.pageSize = pageSize
    bytes = [UInt8](repeating: 0, count: 2 * pageSize)
    var names: [Node] = []
    for name in try file.environment.databaseNames() {
      guard let database = try file.environment.openDatabase(name) else { continue }
      names.append(try tree(database, file))
    }
    let transaction = try file.environment.beginRead()
    let key = Array(StoreFormat.headerKey.utf8)
    names.append(Node(key, try transaction.get(.unnamed, key: key).map { Array($0) } ?? []))
    names.sort { $0.key.lexicographicallyPrecedes($1.key) }
    let record = record(flags: 0, pad: 0, root: leaf(names), entries: names.count)
    let last = UInt64(bytes.count / pageSize - 1)
    for number in [transaction.id - 1, transaction.id] {
      let start = Int(number % 2) * pageSize
      write(number % 2, at: start)
      write(UInt16(8), at: start + 10)
      write(UInt32(0xBEEF_C0DE), at: start + 16)
      write(UInt32(1), at: start + 20)
      write(UInt64(1 << 30), at: start + 32)
      write(self.record(flags: 0x4008, pad: UInt32(pageSize), root: nil, entries: 0), start + 40)
      write(record, start + 88)
      write(last, at: start + 136)
      write(number, at: start + 144)
    }
  }

  // MARK: Trees

  /// Lays out a database and returns its entry in the main database.
  private mutating func tree(_ database: Database, _ file: StoreEngine) throws -> Node {
    var values: [(key: [UInt8], values: [[UInt8]])] = []
    let transaction = try file.environment.beginRead()
    let cursor = try transaction.reader.cursor(database)
    while let entry = try cursor.next() {
      let (key, value) = (Array(entry.key), Array(entry.value))
      if values.last?.key == key {
        values[values.count - 1].values.append(value)
      } else {
        values.append((key, [value]))
      }
    }
    _ = transaction.id
    var nodes: [Node] = []
    for (key, values) in values { nodes.append(node(key, values)) }
    let entries = values.reduce(0) { $0 + $1.values.count }
    let root = nodes.isEmpty ? nil : leaf(nodes)
    let flags = UInt16(database.flags.rawValue)
    return Node(
      Array(database.name.utf8), record(flags: flags, pad: 0, root: root, entries: entries),
      flags: 2)
  }

  private mutating func node(_ key: [UInt8], _ values: [[UInt8]]) -> Node {
    guard values.count == 1 else { return Node(key, inner(values), flags: 4) }
    let value = values[0]
    guard value.count > pageSize / 4 else { return Node(key, value) }
    let number = UInt64(bytes.count / pageSize)
    let count = (15 + value.count) / pageSize + 1
    bytes += [UInt8](repeating: 0, count: count * pageSize)
    let start = Int(number) * pageSize
    write(number, at: start)
    write(UInt16(4), at: start + 10)
    write(UInt32(count), at: start + 12)
    write(value, start + 16)
    return Node(key, Self.bytes(number), size: value.count, flags: 1)
  }

  /// Returns a sub-page of duplicate values, all of the same size.
  private func inner(_ values: [[UInt8]]) -> [UInt8] {
    Self.bytes(UInt64(0)) + Self.bytes(UInt16(values[0].count)) + Self.bytes(UInt16(0x72))
      + Self.bytes(UInt16(16 + 2 * values.count)) + Self.bytes(UInt16(16 + 2 * values.count))
      + values.flatMap { $0 }
  }

  private mutating func leaf(_ nodes: [Node]) -> UInt64 {
    let number = UInt64(bytes.count / pageSize)
    let start = bytes.count
    bytes += [UInt8](repeating: 0, count: pageSize)
    precondition(nodes.reduce(16) { $0 + 2 + $1.length } <= pageSize, "A page is too small.")
    var upper = pageSize
    for (index, node) in nodes.enumerated() {
      upper -= node.length
      write(UInt16(upper), at: start + 16 + 2 * index)
      write(UInt32(node.size), at: start + upper)
      write(node.flags, at: start + upper + 4)
      write(UInt16(node.key.count), at: start + upper + 6)
      write(node.key + node.data, start + upper + 8)
    }
    write(number, at: start)
    write(UInt16(2), at: start + 10)
    write(UInt16(16 + 2 * nodes.count), at: start + 12)
    write(UInt16(upper), at: start + 14)
    return number
  }

  private func record(flags: UInt16, pad: UInt32, root: UInt64?, entries: Int) -> [UInt8] {
    let isEmpty = root == nil
    return Self.bytes(pad) + Self.bytes(flags) + Self.bytes(UInt16(isEmpty ? 0 : 1))
      + Self.bytes(UInt64(0)) + Self.bytes(UInt64(isEmpty ? 0 : 1)) + Self.bytes(UInt64(0))
      + Self.bytes(UInt64(entries)) + Self.bytes(root ?? .max)
  }

  // MARK: Bytes

  private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  private mutating func write(_ number: some FixedWidthInteger, at offset: Int) {
    write(Self.bytes(number), offset)
  }

  private mutating func write(_ new: [UInt8], _ offset: Int) {
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
  }
}
