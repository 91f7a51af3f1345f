import ArborModel
import ArgumentParser
import Foundation
import LMDB

/// `info`: what a file is, how large, and who uses it.
struct InfoVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Says what a file is, how large it is and who uses it.")

  @OptionGroup var target: FileArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    var facts = Facts()
    try addFile(file, to: &facts)
    if let store = file.store {
      try StoreFacts(store: store, file: file).add(to: &facts)
    } else if let problem = file.problem {
      facts.add("kind", "ArborData store that cannot be opened")
      facts.add("problem", "\(problem)")
    } else {
      facts.add("kind", "LMDB environment")
    }
    printer.print(json: facts.json, text: facts.text)
  }

  private func addFile(_ file: InspectedFile, to facts: inout Facts) throws {
    let info = try file.environment.info()
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    facts.add("path", file.path)
    facts.add("bytes", attributes[.size] as? Int ?? 0)
    facts.add("usedBytes", label: "used bytes", (info.lastPage + 1) * info.pageSize)
    facts.add("pageSize", label: "page size", info.pageSize)
    facts.add("mapSize", label: "map size", info.mapSize)
    facts.add("lastTransaction", label: "last transaction", Int(info.lastTransactionID))
    facts.add("tables", try file.environment.databaseNames().count)
    guard !target.immutable else { return }
    let readers = try file.environment.readers().filter { $0.transactionID != nil }
    facts.add("readers", readers.count)
  }
}

/// Named facts in order, for a person and for a program.
struct Facts {
  private var object = JSONObject()
  private var table = TextTable([])

  mutating func add(_ name: String, label: String? = nil, json: JSONValue, text: String) {
    object[name] = json
    table.add([label ?? name, text])
  }

  mutating func add(_ name: String, label: String? = nil, _ number: Int) {
    add(name, label: label, json: JSONValue(number), text: String(number))
  }

  mutating func add(_ name: String, label: String? = nil, _ string: String) {
    add(name, label: label, json: .string(string), text: string)
  }

  var json: JSONValue { .object(object) }
  var text: String { table.text }
}
