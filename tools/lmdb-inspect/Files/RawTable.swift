import ArborJSON
import ArborModel
import LMDB

/// A database as LMDB sees it: its order, its size and its entries.
struct RawTable {
  let database: Database
  let statistics: DatabaseStatistics

  init(_ database: Database, in environment: Environment) throws {
    self.database = database
    statistics = try environment.read { try $0.reader.statistics(database) }
  }

  /// How the database is called; the unnamed one by a word.
  var name: String { database.name.isEmpty ? "(unnamed)" : database.name }

  /// The words of `lmdb.h` for the flags that are set.
  var flags: [String] {
    let words = [
      (0x02, "reversekey"), (0x04, "dupsort"), (0x08, "integerkey"), (0x10, "dupfixed"),
      (0x20, "integerdup"), (0x40, "reversedup"),
    ]
    return words.filter { database.flags.rawValue & UInt32($0.0) != 0 }.map(\.1)
  }

  /// Whether the pages of a size of the table are estimated: those of trees whose keys have one value
  /// each are counted.
  func isEstimated(_ space: TreeSpace) -> Bool {
    space.isEstimated && database.flags.contains(.duplicates)
  }

  var hasIntegerKeys: Bool { database.flags.contains(.integerKey) }

  /// A key as a person reads it: numbers of integer-key databases as such.
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

  /// A value as a person reads it: numbers of number sets as such.
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

  /// The number that an integer key is: of 8 bytes, or of 4 where the program that wrote it had
  /// such.
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

  /// The bytes that an argument names as a key of this database.
  func key(_ argument: String, in transaction: borrowing ReadTransaction) throws -> [UInt8] {
    if hasIntegerKeys, let number = UInt64(argument) {
      // The size of an integer key is the same for all keys: the first one shows it.
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
