import ArborJSON
import ArborModel
import LMDB

/// A database at the level of LMDB: its order, its size and its entries.
struct RawTable {
  let database: Database
  let statistics: DatabaseStatistics

  init(_ database: Database, in environment: Environment) throws {
    self.database = database
    statistics = try environment.read { try $0.reader.statistics(database) }
  }

  /// The name of the database, or a placeholder for the unnamed one.
  var name: String { database.name.isEmpty ? "(unnamed)" : database.name }

  /// The names in `lmdb.h` of the flags that are set.
  var flags: [String] {
    let words = [
      (0x02, "reversekey"), (0x04, "dupsort"), (0x08, "integerkey"), (0x10, "dupfixed"),
      (0x20, "integerdup"), (0x40, "reversedup"),
    ]
    return words.filter { database.flags.rawValue & UInt32($0.0) != 0 }.map(\.1)
  }

  /// Returns whether the number of pages in a table's size is estimated. It is exact for tables
  /// with one value per key.
  func isEstimated(_ space: TreeSpace) -> Bool {
    space.isEstimated && database.flags.contains(.duplicates)
  }

  var hasIntegerKeys: Bool { database.flags.contains(.integerKey) }

  /// Returns a key as text. Keys of integer-key databases are shown as numbers.
  func keyLine(_ key: UnsafeRawBufferPointer) -> String {
    number(key).map(String.init) ?? ByteText(key).line
  }

  func keyJSON(_ key: UnsafeRawBufferPointer) -> JSONValue {
    guard let number = number(key), var object = ByteText(key).json.object else {
      return ByteText(key).json
    }
    object["text"] = nil
    object["number"] = JSONNumber(text: String(number)).map(JSONValue.number)
    return .object(object)
  }

  /// Returns a value as text. Values of number sets are shown as numbers.
  func valueLine(_ value: UnsafeRawBufferPointer) -> String {
    isNumber(value) ? String(value.loadUnaligned(as: UInt64.self)) : ByteText(value).line
  }

  func valueJSON(_ value: UnsafeRawBufferPointer) -> JSONValue {
    guard isNumber(value), var object = ByteText(value).json.object else {
      return ByteText(value).json
    }
    object["text"] = nil
    object["number"] =
      JSONNumber(text: String(value.loadUnaligned(as: UInt64.self))).map(JSONValue.number)
    return .object(object)
  }

  func json(_ entry: Entry) -> JSONValue {
    ["table": .string(database.name), "key": keyJSON(entry.key), "value": valueJSON(entry.value)]
  }

  /// Returns an entry without nested objects: each side as a number or hexadecimal, and as text.
  func row(_ entry: Entry) -> JSONValue {
    let (key, value) = (keyJSON(entry.key).object, valueJSON(entry.value).object)
    return [
      "table": .string(database.name), "key": key?["number"] ?? key?["hex"] ?? .null,
      "keyText": key?["text"] ?? .null, "value": value?["number"] ?? value?["hex"] ?? .null,
      "valueText": value?["text"] ?? .null,
    ]
  }

  /// Returns the number in an integer key of 8 bytes, or of 4 bytes, as other programs may write.
  private func number(_ key: UnsafeRawBufferPointer) -> UInt64? {
    guard hasIntegerKeys else { return nil }
    switch key.count {
    case 8: return key.loadUnaligned(as: UInt64.self)
    case 4: return UInt64(key.loadUnaligned(as: UInt32.self))
    default: return nil
    }
  }

  private func isNumber(_ value: UnsafeRawBufferPointer) -> Bool {
    database.flags.contains(.integerDuplicates) && value.count == 8
  }

  /// Returns the bytes of a key given as an argument.
  func key(_ argument: String, in transaction: borrowing ReadTransaction) throws -> [UInt8] {
    if hasIntegerKeys, let number = UInt64(argument) {
      // All integer keys have the same size, which the first one reveals.
      let first = try transaction.reader.cursor(database).first()
      if first?.key.count == 4 { return Self.bytes(UInt32(truncatingIfNeeded: number)) }
      return Self.bytes(number)
    }
    guard let bytes = ByteText(argument: argument)?.bytes, !bytes.isEmpty else {
      throw InspectError.notFound(
        "“\(argument)” is not a valid key. Use text, hex as 0x…, or a number for integer keys.")
    }
    return bytes
  }

  private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number) { Array($0) }
  }
}
