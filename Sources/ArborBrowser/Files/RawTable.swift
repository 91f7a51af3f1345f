package import ArborJSON
internal import ArborModel
package import LMDB

/// A database at the level of LMDB: its order, its size and its entries.
package struct RawTable {
  package let database: Database
  package let statistics: DatabaseStatistics

  package init(_ database: Database, in environment: Environment) throws {
    self.database = database
    statistics = try environment.read { try $0.reader.statistics(database) }
  }

  /// Returns the tables of a file of another program.
  package static func all(of environment: Environment) throws -> [RawTable] {
    let names = try environment.databaseNames()
    let main = try RawTable(environment.mainDatabase(), in: environment)
    let named = try names.compactMap { try environment.openDatabase($0) }
      .map { try RawTable($0, in: environment) }
    // The unnamed database contains the roots of the others; more entries are data of its own.
    return (main.statistics.entries > names.count ? [main] : []) + named
  }

  /// The name of the database, or a placeholder for the unnamed one.
  package var name: String { database.name.isEmpty ? "(unnamed)" : database.name }

  /// The names in `lmdb.h` of the flags that are set.
  package var flags: [String] {
    let words = [
      (0x02, "reversekey"), (0x04, "dupsort"), (0x08, "integerkey"), (0x10, "dupfixed"),
      (0x20, "integerdup"), (0x40, "reversedup"),
    ]
    return words.filter { database.flags.rawValue & UInt32($0.0) != 0 }.map(\.1)
  }

  /// Returns whether the number of pages in a table's size is estimated. It is exact for tables
  /// with one value per key.
  package func isEstimated(_ space: TreeSpace) -> Bool {
    space.isEstimated && database.flags.contains(.duplicates)
  }

  package var hasIntegerKeys: Bool { database.flags.contains(.integerKey) }

  /// Returns a key as text. Keys of integer-key databases are shown as numbers.
  package func keyLine(_ key: UnsafeRawBufferPointer) -> String {
    number(inKey: key).map(String.init) ?? ByteText(key).line
  }

  package func keyJSON(_ key: UnsafeRawBufferPointer) -> JSONValue {
    Self.json(key, number(inKey: key))
  }

  /// Returns a value as text. Values of number sets are shown as numbers.
  package func valueLine(_ value: UnsafeRawBufferPointer) -> String {
    number(inValue: value).map(String.init) ?? ByteText(value).line
  }

  package func valueJSON(_ value: UnsafeRawBufferPointer) -> JSONValue {
    Self.json(value, number(inValue: value))
  }

  /// Returns bytes as an object, with a number instead of text if they represent one.
  private static func json(_ bytes: UnsafeRawBufferPointer, _ number: UInt64?) -> JSONValue {
    let text = ByteText(bytes).json
    guard let number, var object = text.object else { return text }
    object["text"] = nil
    object["number"] = JSONNumber(text: String(number)).map(JSONValue.number)
    return .object(object)
  }

  package func json(_ entry: Entry) -> JSONValue {
    ["table": .string(database.name), "key": keyJSON(entry.key), "value": valueJSON(entry.value)]
  }

  /// Returns an entry without nested objects: each side as a number or hexadecimal, and as text.
  package func row(_ entry: Entry) -> JSONValue {
    let (key, value) = (keyJSON(entry.key).object, valueJSON(entry.value).object)
    return [
      "table": .string(database.name), "key": key?["number"] ?? key?["hex"] ?? .null,
      "keyText": key?["text"] ?? .null, "value": value?["number"] ?? value?["hex"] ?? .null,
      "valueText": value?["text"] ?? .null,
    ]
  }

  /// Returns the number in an integer key of 8 bytes or, in files of other programs, of 4 bytes.
  /// Returns `nil` for any other key.
  func number(inKey key: UnsafeRawBufferPointer) -> UInt64? {
    guard hasIntegerKeys else { return nil }
    switch key.count {
    case 8: return key.loadUnaligned(as: UInt64.self)
    case 4: return UInt64(key.loadUnaligned(as: UInt32.self))
    default: return nil
    }
  }

  /// Returns the number in a value of a set of numbers, or `nil` for any other value. Numbers of 5
  /// bytes lack the number of their entity.
  func number(inValue value: UnsafeRawBufferPointer) -> UInt64? {
    guard database.flags.contains(.fixedDuplicates) else { return nil }
    if database.flags.contains(.integerDuplicates) {
      return value.count == 8 ? value.loadUnaligned(as: UInt64.self) : nil
    }
    // Tables of other programs have other names.
    guard ["i/", "r/"].contains(where: database.name.hasPrefix) else { return nil }
    let form = value.count == NumberForm.wide.size ? NumberForm.wide : .narrow(prefix: 0)
    return value.count == form.size ? form.number(value) : nil
  }

  /// Returns the bytes of a key that the user has entered as text, as hex (`0x…`), or as a number
  /// for integer keys. Returns `nil` if the input is invalid.
  package func key(
    _ text: String, in transaction: borrowing ReadTransaction
  ) throws -> [UInt8]? {
    if hasIntegerKeys, let number = UInt64(text) {
      // All integer keys have the same size, which the first one reveals.
      let first = try transaction.reader.cursor(database).first()
      if first?.key.count == 4 { return Self.bytes(UInt32(truncatingIfNeeded: number)) }
      return Self.bytes(number)
    }
    guard let bytes = ByteText(argument: text)?.bytes, !bytes.isEmpty else { return nil }
    return bytes
  }

  private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number) { Array($0) }
  }
}
