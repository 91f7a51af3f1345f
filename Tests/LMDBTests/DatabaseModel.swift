import LMDB

extension DatabaseFlags {
  /// Sets of integers in native byte order, as other programs have them.
  static let integerSets = DatabaseFlags.numberSets.union(.integerDuplicates)
}

/// The expected contents of a database, in plain collections: the oracle of the random tests.
struct DatabaseModel {
  enum Kind: CaseIterable {
    case plain, integerKeys, numberSets, integerNumberSets

    var flags: DatabaseFlags {
      switch self {
      case .plain: []
      case .integerKeys: .integerKey
      case .numberSets: .integerSets
      case .integerNumberSets: [.integerKey, .integerSets]
      }
    }

    var hasIntegerKeys: Bool { flags.contains(.integerKey) }
    var hasDuplicates: Bool { flags.contains(.duplicates) }
  }

  let kind: Kind
  private(set) var contents: [[UInt8]: [[UInt8]]] = [:]

  init(_ kind: Kind) { self.kind = kind }

  /// Whether `left` precedes `right` in the key order of the database.
  func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    kind.hasIntegerKeys
      ? Self.number(left) < Self.number(right) : left.lexicographicallyPrecedes(right)
  }

  static func number(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }

  mutating func put(_ key: [UInt8], _ value: [UInt8]) {
    guard kind.hasDuplicates else {
      contents[key] = [value]
      return
    }
    var values = contents[key] ?? []
    let index = values.firstIndex { Self.number($0) >= Self.number(value) } ?? values.count
    if index == values.count || values[index] != value { values.insert(value, at: index) }
    contents[key] = values
  }

  func contains(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    contents[key]?.contains(value) ?? false
  }

  @discardableResult
  mutating func delete(_ key: [UInt8]) -> Bool { contents.removeValue(forKey: key) != nil }

  @discardableResult
  mutating func delete(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    guard var values = contents[key], let index = values.firstIndex(of: value) else {
      return false
    }
    values.remove(at: index)
    contents[key] = values.isEmpty ? nil : values
    return true
  }

  mutating func clear() { contents.removeAll() }

  var keys: [[UInt8]] { contents.keys.sorted(by: precedes) }

  /// The entries in database order.
  var pairs: [Pair] {
    keys.flatMap { key in (contents[key] ?? []).map { Pair(key: key, value: $0) } }
  }
}

/// A copied entry.
struct Pair: Equatable {
  let key: [UInt8]
  let value: [UInt8]

  init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }

  init(_ entry: Entry) {
    key = Array(entry.key)
    value = Array(entry.value)
  }
}
