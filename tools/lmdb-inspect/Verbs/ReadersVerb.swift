import ArborJSON
import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser
import Foundation
import LMDB

/// `readers`: lists the readers of a file and the pages they pin.
struct ReadersVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "readers",
    abstract: "Lists a file's readers, their start times and the pages they pin.",
    discussion: """
      A process that reads an earlier state pins the pages that have been replaced since. Until \
      the read ends, the file grows instead of reusing these pages. The time at which the state \
      was replaced is estimated from the history of commits, which only ArborData stores have. \
      Readers whose process has ended are stale. They are removed when a program next opens the \
      file, or immediately with --clear.

      Example: lmdb-inspect readers Staff.arbor --clear
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var rows: RowArguments
  @OptionGroup var sizes: SizeArguments

  @Flag(help: "Remove the readers whose process has ended. Writes to the lock file.")
  var clear = false

  func validate() throws {
    if clear, target.immutable {
      throw ValidationError("--clear writes to the lock file, which --immutable doesn't open.")
    }
  }

  func run() throws {
    try reportAnswer(on: target.path, to: rows.destination(json: target.json)) { printer in
      let file = try InspectedFile(
        path: target.path, isImmutable: target.immutable, clearsStaleReaders: false)
      try answer(file, &printer)
    }
  }

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let cleared = clear ? try file.environment.endStaleSnapshots() : nil
    let held = try file.environment.heldSnapshots(clearsStale: false)
    let readers = zip(held, Self.describe(held, in: file)).map { ($0, $1) }
    let list = readers.map(Self.json)
    let footer = cleared.map { "\n\($0) stale \($0 == 1 ? "reader" : "readers") cleared" } ?? ""
    if let cleared, printer.form == .json {
      printer.print(json: ["cleared": JSONValue(cleared), "readers": .array(list)], text: "")
    } else {
      printer.print(
        list, columns: Self.columns, table: table(readers), empty: "no readers",
        footer: footer)
    }
  }

  private static func describe(_ held: [HeldSnapshot], in file: InspectedFile) -> [StoreReader] {
    if let store = file.store { return store.describe(held) }
    return held.map {
      StoreReader(
        processID: $0.processID, processName: ProcessName.of($0.processID),
        transaction: $0.transactionID, transactionsBehind: $0.transactionsBehind,
        pinnedPages: $0.pinnedPages, pinnedBytes: $0.pinnedBytes)
    }
  }

  private static let columns = [
    "process", "name", "stale", "since", "transaction", "behind", "pinnedPages", "pinnedBytes",
  ]

  private static func json(_ held: HeldSnapshot, _ reader: StoreReader) -> JSONValue {
    [
      "process": JSONValue(Int(reader.processID)),
      "name": reader.processName.map(JSONValue.string) ?? .null,
      "stale": .bool(held.isStale),
      "since": reader.since.map { .string(ISO8601Date.milliseconds($0)) } ?? .null,
      "transaction": JSONValue(Int(clamping: reader.transaction)),
      "behind": JSONValue(reader.transactionsBehind),
      "pinnedPages": JSONValue(reader.pinnedPages),
      "pinnedBytes": JSONValue(reader.pinnedBytes),
    ]
  }

  private func table(_ readers: [(HeldSnapshot, StoreReader)]) -> TextTable {
    var text = TextTable([
      "process", "transaction", "behind", "pinned pages", "pinned \(sizes.title)", "since about",
      "name",
    ])
    for (held, reader) in readers {
      let name = TerminalText.escaped(reader.processName ?? "")
      text.add([
        String(reader.processID), String(reader.transaction), String(reader.transactionsBehind),
        String(reader.pinnedPages), sizes.text(reader.pinnedBytes),
        reader.since.map { $0.formatted(.iso8601) } ?? "-",
        held.isStale ? "stale: the process has ended" : name,
      ])
    }
    return text
  }
}
