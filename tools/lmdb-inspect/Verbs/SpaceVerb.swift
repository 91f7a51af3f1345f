import ArborModel
import ArborStore
import ArgumentParser
import LMDB

/// `space`: what the bytes of a file are for.
struct SpaceVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "space",
    abstract: "Says what the bytes of a file are for, and what “compact” would give back.")

  @OptionGroup var target: FileArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    if let problem = file.problem { throw problem }
    var facts = Facts()
    if let store = file.store {
      try addStore(store, to: &facts)
    } else {
      let use = try file.environment.read { try file.environment.pageUse(in: $0.reader) }
      facts.add("file", use.fileSize)
      facts.add("used", use.used * use.pageSize)
      facts.add("free", use.free * use.pageSize)
      facts.add("reclaimable", max(0, use.fileSize - use.compacted * use.pageSize))
    }
    printer.print(json: facts.json, text: facts.text)
  }

  private func addStore(_ store: StoreFile, to facts: inout Facts) throws {
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    let space = try snapshot.space()
    facts.add("file", space.file)
    facts.add("used", space.used)
    for kind in space.kinds { facts.add(Self.key(kind.name), label: "  \(kind.name)", kind.bytes) }
    facts.add("free", space.free)
    facts.add("reclaimable", space.reclaimable)
  }

  /// The name of a kind in JSON.
  private static func key(_ name: String) -> String {
    name == "large binaries" ? "largeBinaries" : name
  }
}
