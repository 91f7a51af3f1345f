import ArborBrowser
import ArborModel
import ArborStore
import ArgumentParser

/// `show`: prints an object with all of its properties.
struct ShowVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows one object of a store with its relationships.",
    discussion: "Example: lmdb-inspect show Staff.arbor Employee/7")

  @OptionGroup var target: FileArguments

  @Argument(help: "The object: Entity/number, or its ID as arbor://….")
  var object: String

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let store = try file.requireStore()
    let number = try store.objectNumber(
      ObjectName(object).id(in: store.schema, of: store.id))
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    let slabs = SlabAllocator()
    guard let record = try snapshot.record(number, allocator: slabs),
      let found = DecodedObject(number, record, in: store)
    else { throw InspectError.notFound("There is no object \(object). “dump” lists them.") }
    let members = try found.entity.relationships
      .filter { $0.isToMany && !$0.isHidden }
      .map { ($0.name, try snapshot.members($0, of: number)) }
    let labels = try ObjectLabels(store)
    defer { labels.close() }
    printer.print(json: found.json(members: members), text: text(found, members, labels))
  }

  private func text(
    _ found: DecodedObject, _ members: [(name: String, numbers: [ObjectNumber])],
    _ labels: ObjectLabels
  ) -> String {
    var table = TextTable([])
    for (name, value) in found.attributes { table.add([name, ValueText.text(value)]) }
    for (name, target) in found.targets { table.add([name, target.map(labels.text) ?? "nil"]) }
    for (name, numbers) in members {
      let shown = numbers.prefix(8).map { labels.text($0) }
      let rest = numbers.count > shown.count ? ", …" : ""
      table.add([name, "\(numbers.count): \(shown.joined(separator: ", "))\(rest)"])
    }
    return "\(found.name), version \(found.version)\n\(table.text)"
  }
}
