import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArborStore
import LMDB

/// The space usage of a file: by entity and property for a store, by table for any other LMDB file.
struct FileSpace {
  /// The size of the file in bytes.
  let bytes: Int
  private let sizes: SizeArguments
  private var facts = Facts()
  private var databases: [StoreSpace.Database] = []
  private var longReaders: [StoreReader] = []
  private var free = 0
  private var pinned = 0
  private var other = 0

  init(_ file: InspectedFile, _ sizes: SizeArguments) throws {
    self.sizes = sizes
    if let store = file.store {
      let space = try store.space(longReadersPinning: StoreOptions().pinnedPagesThreshold)
      bytes = space.file
      databases = space.databases
      longReaders = space.longReaders
      (free, pinned) = (space.free, space.pinned)
      add(space)
    } else {
      let use = try file.environment.read { try file.environment.pageUse(in: $0.reader) }
      let held = try file.environment.heldSnapshots()
      bytes = use.fileSize
      free = use.free * use.pageSize
      pinned = min(free, held.map(\.pinnedBytes).max() ?? 0)
      let (tables, spaces) = try Self.tables(of: file, file.environment.databaseNames())
      databases = zip(tables, spaces).map(Self.describe)
      addFile(used: use.used * use.pageSize, reclaimable: use.reclaimable)
    }
    // The remaining pages belong to no named database: the meta pages, names and page lists.
    other = max(0, bytes - free - databases.reduce(0) { $0 + $1.bytes })
  }

  private mutating func add(_ space: StoreSpace) {
    add("file", space.file)
    add("used", space.used)
    for kind in space.kinds {
      add(
        Self.key(kind.name), label: "  \(kind.isEstimated ? "about " : "")\(kind.name)", kind.bytes)
    }
    add("free", space.free)
    add("pinned", label: "  pinned by readers", space.pinned)
    add("reclaimable", space.reclaimable)
  }

  private mutating func add(_ name: String, label: String? = nil, _ bytes: Int) {
    facts.add(name, label: label, bytes: bytes, sizes)
  }

  private mutating func addFile(used: Int, reclaimable: Int) {
    add("file", bytes)
    add("used", used)
    add("free", free)
    add("pinned", label: "  pinned by readers", pinned)
    add("reclaimable", reclaimable)
  }

  /// Returns tables with their sizes, read from one snapshot.
  static func tables(
    of file: InspectedFile, _ names: [String]
  ) throws -> (tables: [RawTable], spaces: [TreeSpace]) {
    let tables = try names.map { try RawTable(file.database($0), in: file.environment) }
    let spaces = try file.environment.read { transaction in
      let use = try file.environment.pageUse(in: transaction.reader)
      return try transaction.reader.spaces(tables.map(\.database), within: use.pagesOfDatabases)
    }
    return (tables, spaces)
  }

  private static func describe(_ table: RawTable, _ space: TreeSpace) -> StoreSpace.Database {
    StoreSpace.Database(
      kind: .store, storedName: table.database.name, entries: space.entries, pages: space.pages,
      bytes: space.bytes, fill: space.fill, isEstimated: table.isEstimated(space))
  }

  /// Returns the JSON key for a kind of data.
  private static func key(_ name: String) -> String {
    name == "large binaries" ? "largeBinaries" : name
  }

  /// Returns a database's title, or its stored name if it belongs to another program.
  private func title(_ database: StoreSpace.Database) -> String {
    let isOurs = database.kind != .store || database.storedName == StoreFormat.arborDatabase
    return TerminalText.escaped(isOurs ? database.title : database.storedName)
  }
}

// MARK: Output

extension FileSpace {
  func text(_ view: TerminalView) -> String {
    var table = TextTable(["entries", "pages", sizes.title, "full", "what"])
    for database in databases where database.pages > 0 {
      let about = database.isEstimated ? "about " : ""
      let fill = database.fill.map { "\(Int(($0 * 100).rounded()))%" } ?? "-"
      table.add([
        String(database.entries), String(database.pages), sizes.text(database.bytes), fill,
        about + title(database),
      ])
    }
    let long = longReaders.map { "\nlong reader: \($0)" }.joined()
    return "\(facts.text)\n\n\(table.text(view))\(long)"
  }

  var json: JSONValue {
    var facts = facts
    facts.add("databases", json: .array(databases.map(Self.json)), text: "")
    facts.add("longReaders", json: .array(longReaders.map { .string("\($0)") }), text: "")
    return facts.json
  }

  private static func json(_ database: StoreSpace.Database) -> JSONValue {
    [
      "kind": .string(database.kind.rawValue),
      "entity": database.entity.map(JSONValue.string) ?? .null,
      "name": database.name.map(JSONValue.string) ?? .null,
      "table": .string(database.storedName),
      "entries": JSONValue(database.entries),
      "pages": JSONValue(database.pages),
      "bytes": JSONValue(database.bytes),
      "fill": database.fill.flatMap { JSONNumber($0) }.map(JSONValue.number) ?? .null,
      "estimated": .bool(database.isEstimated),
    ]
  }

  /// The parts of a picture, which account for every byte of the file.
  var parts: [SpaceMap.Part] {
    databases.map { database in
      let fill = database.fill.map { "\(Int(($0 * 100).rounded())) % full" }
      let notes = [database.isEstimated ? "estimated" : nil, fill].compactMap { $0 }
      return SpaceMap.Part(
        kind: database.kind.rawValue, title: title(database), bytes: database.bytes,
        note: notes.joined(separator: ", "))
    } + [
      SpaceMap.Part(kind: "free", title: "free", bytes: free - pinned),
      SpaceMap.Part(kind: "pinned", title: "free, pinned by readers", bytes: pinned),
      SpaceMap.Part(kind: "other", title: "lists of pages and names", bytes: other),
    ]
  }
}
