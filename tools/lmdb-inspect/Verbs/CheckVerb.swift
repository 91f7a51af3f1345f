import ArborBrowser
import ArborJSON
import ArborModel
import ArborStore
import ArgumentParser
import LMDB

/// `check`: checks the integrity of a store.
struct CheckVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks a store's consistency, or reads all of an LMDB file.",
    discussion: """
      In an ArborData store, all records, index entries, links and counters are checked against \
      each other, as the library's own check does. In any other LMDB file, every entry is read and \
      counted.

      Example: lmdb-inspect check Staff.arbor
      """)

  @OptionGroup var target: FileArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    if let problem = file.problem { throw problem }
    var facts = Facts()
    let problems: [String]
    if let store = file.store {
      problems = try ProgressLine.showing("checking") { try checkStore(store, &facts, $0) }
    } else {
      problems = try ProgressLine.showing("checking") { _ in try checkTables(of: file, &facts) }
    }
    let list = problems.isEmpty ? "no problems" : problems.joined(separator: "\n")
    facts.add("problems", json: .array(problems.map(JSONValue.string)), text: list)
    printer.print(json: facts.json, text: facts.text)
    if !problems.isEmpty { throw ExitCode(InspectError.Code.notFound.rawValue) }
  }

  private func checkStore(
    _ store: StoreEngine, _ facts: inout Facts, _ line: ProgressLine
  ) throws -> [String] {
    let report = try store.check { line.report(Self.text($0)) }
    facts.add("records", report.recordCount)
    facts.add("indexEntries", label: "index entries", report.indexEntryCount)
    facts.add("links", report.linkCount)
    return report.problems.map(\.description) + (report.isCutShort ? ["… and more"] : [])
  }

  private static func text(_ progress: StoreCheckProgress) -> String {
    let stage =
      switch progress.stage {
      case .pages: "pages"
      case .records(let entity): "records of \(entity)"
      case .indexes: "indexes"
      case .relationships: "relationships"
      case .digests: "digests"
      }
    return "\(stage), \(progress.done) of \(progress.total)"
  }

  private func checkTables(of file: InspectedFile, _ facts: inout Facts) throws -> [String] {
    let names = try file.environment.databaseNames()
    var problems: [String] = []
    var total = 0
    for name in [""] + names {
      let table = try RawTable(file.database(name), in: file.environment)
      let found = try file.environment.read { transaction in
        let cursor = try transaction.reader.cursor(table.database)
        var count = 0
        while try cursor.next() != nil { count += 1 }
        return count
      }
      total += name.isEmpty ? found - names.count : found
      if found != table.statistics.entries {
        problems.append(
          "Table \(table.name) should have \(table.statistics.entries) entries but has \(found). "
            + "Restore the file from a backup.")
      }
    }
    facts.add("entries", json: JSONValue(total), text: "\(total) entries read")
    return problems
  }
}
