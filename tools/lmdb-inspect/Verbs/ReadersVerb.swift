import ArborModel
import ArgumentParser
import LMDB

/// `readers`: who reads a file, and what that costs.
struct ReadersVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "readers",
    abstract: "Lists who reads a file, and how many bytes each keeps from being used again.")

  @OptionGroup var target: FileArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    // Without the lock file nobody knows.
    let held = target.immutable ? [] : try file.environment.heldSnapshots()
    printer.print(json: .array(held.map(Self.json)), text: Self.text(held))
  }

  private static func json(_ reader: HeldSnapshot) -> JSONValue {
    [
      "process": JSONValue(Int(reader.processID)),
      "transaction": JSONValue(Int(clamping: reader.transactionID)),
      "behind": JSONValue(reader.transactionsBehind),
      "pinnedBytes": JSONValue(reader.pinnedBytes),
    ]
  }

  private static func text(_ held: [HeldSnapshot]) -> String {
    guard !held.isEmpty else { return "no readers" }
    var text = TextTable(["process", "transaction", "behind", "pinned bytes"])
    for reader in held {
      text.add([
        String(reader.processID), String(reader.transactionID), String(reader.transactionsBehind),
        String(reader.pinnedBytes),
      ])
    }
    return text.text
  }
}
