import ArborJSON
import ArborModel
import ArborStore

/// The differences between the objects of two stores by identity: a merge join of each entity's
/// records by object number, in constant memory.
struct StoreDiff {
  private let old: StoreSide
  private let new: StoreSide
  private var list: DifferenceList

  private init(_ old: StoreSide, _ new: StoreSide, _ list: DifferenceList) {
    self.old = old
    self.new = new
    self.list = list
  }

  /// Prints the differences, reading one snapshot of each store.
  static func print(
    _ old: InspectedFile, _ new: InspectedFile, _ list: DifferenceList, to printer: inout Printer
  ) throws -> DifferenceList {
    let (before, after) = (try StoreSide(old), try StoreSide(new))
    defer {
      before.close()
      after.close()
    }
    var diff = StoreDiff(before, after, list)
    try diff.compareEntities(&printer)
    return diff.list
  }

  private mutating func compareEntities(_ printer: inout Printer) throws {
    let (olds, news) = (old.entities, new.entities)
    for entity in olds {
      list.report(entity.name)
      if let same = news.first(where: { $0.name == entity.name }) {
        try compare(entity, same, &printer)
      } else {
        addModel(entity.name, "only in the first store", &printer)
        try addAll(entity, of: old, .gone, &printer)
      }
    }
    for entity in news where !olds.contains(where: { $0.name == entity.name }) {
      addModel(entity.name, "only in the second store", &printer)
      try addAll(entity, of: new, .added, &printer)
    }
  }

  private mutating func compare(
    _ oldEntity: EntitySchema, _ newEntity: EntitySchema, _ printer: inout Printer
  ) throws {
    let comparison = PropertyComparison(old, oldEntity, new, newEntity)
    for (name, text) in comparison.oddities { addModel(name, text, &printer) }
    var olds = ObjectStream(oldEntity, on: old.snapshot)
    var news = ObjectStream(newEntity, on: new.snapshot)
    var before = try old.reading { try olds.object() }
    var after = try new.reading { try news.object() }
    while before != nil || after != nil {
      let (first, second) = (before?.number.sequence ?? .max, after?.number.sequence ?? .max)
      if first == second, let one = before, let other = after {
        let changes = try comparison.changes(one, other)
        if !changes.isEmpty { addChange(one.number, changes, &printer) }
      } else if first < second, let one = before {
        addObject(one, of: old, .gone, &printer)
      } else if let other = after {
        addObject(other, of: new, .added, &printer)
      }
      if first <= second { before = try old.reading { try olds.object() } }
      if second <= first { after = try new.reading { try news.object() } }
    }
  }

  private mutating func addAll(
    _ entity: EntitySchema, of side: StoreSide, _ kind: Difference.Kind, _ printer: inout Printer
  ) throws {
    var objects = ObjectStream(entity, on: side.snapshot)
    while let object = try side.reading({ try objects.object() }) {
      addObject(object, of: side, kind, &printer)
    }
  }

  // MARK: Output

  private mutating func addObject(
    _ object: (number: ObjectNumber, record: RecordView), of side: StoreSide,
    _ kind: Difference.Kind, _ printer: inout Printer
  ) {
    guard let decoded = DecodedObject(object.number, object.record, in: side.store) else { return }
    var json = JSONObject()
    json["id"] = .string(decoded.name)
    json["object"] = decoded.json()
    list.add(
      Difference(
        kind: kind, subject: decoded.name, text: decoded.values(side.labels), json: json),
      to: &printer)
  }

  private mutating func addChange(
    _ number: ObjectNumber, _ changes: [PropertyComparison.Change], _ printer: inout Printer
  ) {
    let name = DecodedObject.name(number, in: old.store.schema)
    var properties = JSONObject()
    for change in changes {
      properties[change.property] = ["before": change.before.json, "after": change.after.json]
    }
    var json = JSONObject()
    json["id"] = .string(name)
    json["properties"] = .object(properties)
    let text = changes.map { "\($0.property): \($0.before.text) → \($0.after.text)" }
      .joined(separator: ", ")
    list.add(
      Difference(kind: .changed, subject: old.labels.text(number), text: text, json: json),
      to: &printer)
  }

  private mutating func addModel(_ subject: String, _ text: String, _ printer: inout Printer) {
    var json = JSONObject()
    json["subject"] = .string(subject)
    json["message"] = .string(text)
    list.add(Difference(kind: .model, subject: subject, text: text, json: json), to: &printer)
  }
}

/// One of two compared stores.
struct StoreSide {
  let store: StoreEngine
  let snapshot: StoreSnapshot
  let labels: ObjectLabels
  private let file: InspectedFile

  init(_ file: InspectedFile) throws {
    self.file = file
    store = try file.requireStore()
    snapshot = try file.reading { [store] in try store.snapshot() }
    labels = try file.reading { [store] in try ObjectLabels(store) }
  }

  func close() {
    snapshot.close()
    labels.close()
  }

  /// Runs `body`, which reads the store. Errors include the path of its file.
  func reading<R>(_ body: () throws -> R) throws -> R { try file.reading(body) }

  /// The concrete entities.
  var entities: [EntitySchema] { store.schema.entities.filter { !$0.isAbstract } }

  func name(_ number: ObjectNumber) -> String { DecodedObject.name(number, in: store.schema) }
}
