import ArborBrowser
import ArborJSON
import ArborModel
import ArgumentParser
import LMDB

/// `get`: prints the raw values of a key.
struct GetVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Prints the value of one key of a table, byte for byte.",
    discussion: "Example: lmdb-inspect get Staff.arbor arbor header")

  @OptionGroup var target: FileArguments

  @Argument(help: "The table's name; \"\" for the unnamed database.")
  var table: String

  @Argument(help: "The key: text, hex as 0x…, or a number for integer keys.")
  var key: String

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let raw = try RawTable(file.database(table), in: file.environment)
    let transaction = try file.environment.beginRead()
    guard let bytes = try raw.key(key, in: transaction) else {
      throw InspectError.notFound(
        "“\(key)” is not a valid key. Use text, hex as 0x…, or a number for integer keys.")
    }
    let cursor = try transaction.reader.cursor(raw.database)
    var values: [[UInt8]] = []
    var entry = try bytes.withUnsafeBytes { try cursor.seekExact($0) }
    while let present = entry {
      values.append(Array(present.value))
      entry = raw.database.flags.contains(.duplicates) ? try cursor.nextDuplicate() : nil
    }
    guard !values.isEmpty else {
      throw InspectError.notFound(
        "Table “\(raw.name)” has no key “\(key)”. “dump” lists its keys. Write hex as 0x….")
    }
    printer.print(
      json: [
        "table": .string(table), "key": bytes.withUnsafeBytes(raw.keyJSON),
        "values": .array(values.map { $0.withUnsafeBytes(raw.valueJSON) }),
      ],
      text: values.flatMap(HexDump.lines).joined(separator: "\n"))
  }
}
