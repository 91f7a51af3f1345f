import ArborBrowser
import ArborJSON
import ArborModel
import LMDB

/// The differences between the tables of two LMDB files: a merge join of each table by key, or by
/// key and value if keys have several values.
struct TableDiff {
  private let old: InspectedFile
  private let new: InspectedFile
  private var list: DifferenceList

  /// Prints the differences, reading one snapshot per table of each file.
  static func print(
    _ old: InspectedFile, _ new: InspectedFile, _ list: DifferenceList, to printer: inout Printer
  ) throws -> DifferenceList {
    var diff = TableDiff(old: old, new: new, list)
    let (olds, news) = (
      try old.reading { try old.environment.databaseNames() },
      try new.reading { try new.environment.databaseNames() }
    )
    for name in [""] + Set(olds + news).sorted() {
      list.report(name)
      guard name.isEmpty || (olds.contains(name) && news.contains(name)) else {
        let isOld = olds.contains(name)
        diff.addTable(name, isOld ? "only in the first file" : "only in the second file", &printer)
        continue
      }
      try diff.compare(name, hiding: name.isEmpty ? Set(olds + news) : [], &printer)
    }
    return diff.list
  }

  private init(old: InspectedFile, new: InspectedFile, _ list: DifferenceList) {
    self.old = old
    self.new = new
    self.list = list
  }

  private mutating func compare(
    _ name: String, hiding hidden: Set<String>, _ printer: inout Printer
  ) throws {
    let table = try old.reading { try RawTable(old.database(name), in: old.environment) }
    let other = try new.reading { try RawTable(new.database(name), in: new.environment) }
    guard table.flags == other.flags else {
      let flags = [table, other].map { $0.flags.isEmpty ? "none" : $0.flags.joined(separator: " ") }
      return addTable(
        name, "different flags: \(flags[0]) in the first file, \(flags[1]) in the second", &printer)
    }
    let oldState = try old.environment.beginRead()
    let newState = try new.environment.beginRead()
    let olds = try oldState.reader.cursor(table.database)
    let news = try newState.reader.cursor(other.database)
    let (keys, values) = (
      KeyOrder(keysOf: table.database.flags), KeyOrder(valuesOf: table.database.flags)
    )
    let hasSeveral = table.database.flags.contains(.duplicates)
    // The unnamed database contains the roots of the others, which always differ.
    func isHidden(_ entry: Entry) -> Bool {
      !hidden.isEmpty && hidden.contains(String(decoding: entry.key, as: UTF8.self))
    }
    var before = try old.reading { try olds.next() }
    var after = try new.reading { try news.next() }
    while before != nil || after != nil {
      if let one = before, isHidden(one) {
        before = try old.reading { try olds.next() }
        continue
      }
      if let other = after, isHidden(other) {
        after = try new.reading { try news.next() }
        continue
      }
      var order = before == nil ? 1 : -1
      if let one = before, let other = after {
        order = keys.compare(one.key, other.key)
        if order == 0, hasSeveral { order = values.compare(one.value, other.value) }
        if order == 0, !one.value.elementsEqual(other.value) {
          addEntry(.changed, table, one, other, &printer)
        }
      }
      if order < 0, let one = before { addEntry(.gone, table, one, nil, &printer) }
      if order > 0, let other = after { addEntry(.added, table, other, nil, &printer) }
      if order <= 0 { before = try old.reading { try olds.next() } }
      if order >= 0 { after = try new.reading { try news.next() } }
    }
  }

  private mutating func addEntry(
    _ kind: Difference.Kind, _ table: RawTable, _ entry: Entry, _ next: Entry?,
    _ printer: inout Printer
  ) {
    var json = JSONObject()
    json["table"] = .string(table.database.name)
    json["key"] = table.keyJSON(entry.key)
    json[next == nil ? "value" : "before"] = table.valueJSON(entry.value)
    var text = "\(table.keyLine(entry.key))  \(table.valueLine(entry.value))"
    if let next {
      json["after"] = table.valueJSON(next.value)
      text += " → \(table.valueLine(next.value))"
    }
    list.add(Difference(kind: kind, subject: table.name, text: text, json: json), to: &printer)
  }

  private mutating func addTable(_ name: String, _ text: String, _ printer: inout Printer) {
    var json = JSONObject()
    json["subject"] = .string(name)
    json["message"] = .string(text)
    list.add(Difference(kind: .model, subject: name, text: text, json: json), to: &printer)
  }
}
