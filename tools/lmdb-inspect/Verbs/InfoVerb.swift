import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation
import LMDB

/// `info`: prints the kind and size of a file, and its users.
struct InfoVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Describes a file: its kind, size and users.",
    discussion: "Example: lmdb-inspect info Staff.arbor")

  @OptionGroup var target: FileArguments
  @OptionGroup var sizes: SizeArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    var facts = Facts()
    try addFile(file, to: &facts)
    if let store = file.store {
      try StoreFacts(store: store, file: file).add(to: &facts)
    } else if let problem = file.problem {
      facts.add("kind", "ArborData store that cannot be opened")
      facts.add("problem", ToolWording.text(problem))
    } else {
      facts.add("kind", "LMDB environment")
    }
    printer.print(json: facts.json, text: facts.text)
  }

  private func addFile(_ file: InspectedFile, to facts: inout Facts) throws {
    let info = try file.environment.info()
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    facts.add("path", file.path)
    facts.add("bytes", label: "size", bytes: attributes[.size] as? Int ?? 0, sizes)
    try addPages(file, to: &facts)
    facts.add("mapSize", label: "map size", bytes: info.mapSize, sizes)
    facts.add("lastTransaction", label: "last transaction", Int(info.lastTransactionID))
    let names = try file.environment.databaseNames()
    facts.add("tables", names.count)
    let (tables, spaces) = try FileSpace.tables(of: file, names)
    let sized = zip(tables, spaces)
    facts.add(
      "tablePages", label: "pages of tables",
      json: .object(
        sized.reduce(into: JSONObject()) { $0[$1.0.database.name] = JSONValue($1.1.pages) }),
      text: sized.map { "\($0.name) \($0.isEstimated($1) ? "about " : "")\($1.pages)" }
        .joined(separator: ", "))
    guard !target.immutable else { return }
    let readers = try file.environment.readers().filter { $0.transactionID != nil }
    facts.add("readers", readers.count)
  }
}

extension InfoVerb {
  /// Adds the number of pages that contain data, and the number of pages that later commits reuse
  /// before the file grows.
  private func addPages(_ file: InspectedFile, to facts: inout Facts) throws {
    let use = try file.environment.read { try file.environment.pageUse(in: $0.reader) }
    facts.add("usedBytes", label: "used", bytes: use.used * use.pageSize, sizes)
    facts.add("freeBytes", label: "free", bytes: use.free * use.pageSize, sizes)
    facts.add("pageSize", label: "page size", bytes: use.pageSize, sizes)
    facts.add(
      "pages",
      json: [
        "file": JSONValue(use.all), "used": JSONValue(use.used), "free": JSONValue(use.free),
      ],
      text: "\(use.all) in the file, \(use.used) used, \(use.free) free")
  }
}

/// Named facts in order, as text and as JSON.
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

  mutating func add(
    _ name: String, label: String? = nil, bytes: Int, _ sizes: SizeArguments
  ) {
    add(name, label: label, json: JSONValue(bytes), text: sizes.text(bytes))
  }

  mutating func add(_ name: String, label: String? = nil, _ string: String) {
    add(name, label: label, json: .string(string), text: string)
  }

  var json: JSONValue { .object(object) }
  var text: String { table.text }
}
