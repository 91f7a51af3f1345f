import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// The order in which a model lists its entities has no effect on a store.
@Suite("The order of the entities in a model") struct EntityOrderTests {
  /// Returns a model of items of three kinds, with indexes over all of them, in boxes and with
  /// tags.
  ///
  /// - Parameters:
  ///   - order: The names of all entities, in the order of the model.
  ///   - names: New names by former ones.
  ///   - isNext: Whether to return the next version, which has more indexes.
  private func model(
    _ order: [String], renaming names: [String: String] = [:], isNext: Bool = false
  ) -> ManagedObjectModel {
    var model = ManagedObjectModel(entities: order.map(entity))
    for index in model.entities.indices {
      let former = model.entities[index].name
      guard let name = names[former] else { continue }
      model.entities[index].name = name
      model.entities[index].renamingIdentifier = former
    }
    guard isNext else { return model }
    for index in model.entities.indices where model.entities[index].name == "Item" {
      model.entities[index].attributes[2].isIndexed = true
      model.entities[index].fetchIndexes = [
        FetchIndexDescription(name: "both", elements: [.init("kind"), .init("isOwn")]),
        FetchIndexDescription(name: "words", elements: [.init("text", kind: .text)]),
        FetchIndexDescription(
          name: "some", elements: [.init("text")], partialIndexPredicate: "kind == 1"),
        FetchIndexDescription(name: "unique", elements: [.init("code")], isUnique: true),
      ]
    }
    return model
  }

  private static let names = ["Item", "Bill", "Card", "Letter", "Box"]

  private func entity(_ name: String) -> EntityDescription {
    let id = AttributeDescription(name: "id", type: .integer64)
    switch name {
    case "Item":
      return EntityDescription(
        name: name, isAbstract: true,
        attributes: [
          id, AttributeDescription(name: "isOwn", type: .boolean, isIndexed: true),
          AttributeDescription(name: "kind", type: .integer16, isOptional: true),
          AttributeDescription(name: "text", type: .string, isOptional: true),
          AttributeDescription(name: "code", type: .string, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(name: "box", destination: "Box", inverse: "items"),
          RelationshipDescription(name: "first", destination: "Box"),
        ])
    case "Box":
      return EntityDescription(
        name: name, attributes: [id],
        relationships: [
          RelationshipDescription(
            name: "items", destination: "Item", inverse: "box", isToMany: true),
          RelationshipDescription(name: "all", destination: "Item", isToMany: true),
        ])
    default: return EntityDescription(name: name, parent: "Item")
    }
  }

  /// Returns `count` objects of each kind, with few distinct values that all kinds share.
  private func objects(_ count: Int) -> PlainObjects {
    var plain = PlainObjects()
    plain.values["Box"] = [1: ["id": 1]]
    plain.links["Box"] = [1: ["items": [], "all": []]]
    for number in 0..<Int64(count * 3) {
      let (entity, id) = (["Letter", "Card", "Bill"][Int(number % 3)], 2 + number)
      plain.values[entity, default: [:]][id] = [
        "id": .integer(id), "isOwn": .boolean(number % 2 == 0),
        "kind": number % 5 == 0 ? .null : .integer(number % 3),
        "text": .string("the same words of more than sixteen bytes \(number % 4)"),
        "code": .string("code \(number)"),
      ]
      plain.links[entity, default: [:]][id] = ["box": number % 2 == 0 ? [1] : [], "first": [1]]
      if number % 2 == 0 { plain.links["Box"]?[1]?["items"]?.append(id) }
      if number < 6 { plain.links["Box"]?[1]?["all"]?.append(id) }
    }
    return plain
  }

  private func permutations(_ names: [String]) -> [[String]] {
    guard let first = names.first, names.count > 1 else { return [names] }
    return permutations(Array(names.dropFirst())).flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [first] + rest[$0...] }
    }
  }

  private func expect(_ store: PersistentStore, _ expected: PlainObjects) throws {
    try store.check()
    let found = try EvolvingStore.read(store)
    try #require(found.values == expected.values)
    try #require(found.links == expected.links)
    let context = store.makeContext()
    let items = expected.values.filter { $0.key != "Box" }.values.flatMap { $0.values }
    let own = items.count { $0["isOwn"] == true }
    try #require(try context.count("Item", matching: "isOwn == true") == own)
    try #require(
      try context.count("Item", matching: "box.id == 1")
        == expected.links["Box"]?[1]?["items"]?.count)
  }

  /// Checks, copies, compacts, backs up, restores and salvages a store.
  private func expectEveryCopy(
    of url: URL, _ model: ManagedObjectModel, _ expected: PlainObjects
  ) throws {
    let folder = try TemporaryFolder()
    var full = StoreOptions()
    full.verification = .full
    func expectCopy(_ name: String) throws {
      let copy = folder.url.appending(path: name)
      let store = try PersistentStore(model: model, at: .file(copy), options: full)
      defer { store.close() }
      try expect(store, expected)
    }
    do {
      let store = try PersistentStore(model: model, at: .file(url), options: full)
      defer { store.close() }
      try store.copy(to: folder.url.appending(path: "copy.arbor"))
      try store.copy(to: folder.url.appending(path: "compact.arbor"), compacting: true)
      let log = FolderLog(folder.url.appending(path: "log"))
      _ = try store.backUp(to: log)
      _ = try PersistentStore.restore(from: log, to: folder.url.appending(path: "restored.arbor"))
      try store.compact()
      try expect(store, expected)
    }
    let report = try PersistentStore.salvage(url, to: folder.url.appending(path: "salvaged.arbor"))
    #expect(report.isComplete)
    for name in ["copy", "compact", "restored", "salvaged"] { try expectCopy("\(name).arbor") }
  }

  @Test("A store can be opened with its entities in any order")
  func everyOrder() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "items.arbor")
    var plain = objects(4)
    try EvolvingStore.write(plain, model(Self.names), to: url)
    for (index, order) in permutations(Self.names).enumerated() {
      let store = try PersistentStore(
        model: model(order), at: .file(url), options: StoreOptions(durability: .relaxed))
      defer { store.close() }
      try expect(store, plain)
      let context = store.makeContext()
      for (offset, name) in ["Letter", "Bill", "Card"].enumerated() {
        let (object, id) = (try context.insert(name), Int64(1000 + 3 * index + offset))
        object["id"] = id
        object["isOwn"] = index.isMultiple(of: 2)
        plain.values[name]?[id] = [
          "id": .integer(id), "isOwn": .boolean(index.isMultiple(of: 2)), "kind": .null,
          "text": .null, "code": .null,
        ]
        plain.links[name]?[id] = ["box": [], "first": []]
      }
      try context.commit()
      try expect(store, plain)
    }
  }

  @Test(
    "The next version builds its indexes and all copies are complete, whatever the order",
    arguments: [0, 1])
  func nextVersion(parity: Int) throws {
    let folder = try TemporaryFolder()
    let plain = objects(4)
    let original = folder.url.appending(path: "original.arbor")
    try EvolvingStore.write(plain, model(Self.names), to: original)
    let orders = permutations(["Bill", "Card", "Letter"]).map { $0 + ["Item", "Box"] }
    for order in orders.enumerated() where order.offset % 2 == parity {
      let url = folder.url.appending(path: "\(order.offset).arbor")
      try FileManager.default.copyItem(at: original, to: url)
      try expectEveryCopy(of: url, model(order.element), plain)
      let next = model(order.element, isNext: true)
      let store = try PersistentStore(model: next, at: .file(url))
      try expect(store, plain)
      store.close()
      try expectEveryCopy(of: url, next, plain)
      try PersistentStore.revertMigration(url)
      let former = try PersistentStore(model: model(order.element.reversed()), at: .file(url))
      defer { former.close() }
      try expect(former, plain)
    }
  }

  @Test("A renamed subentity may be anywhere in the model", arguments: ["Bill", "Card", "Letter"])
  func renames(former: String) throws {
    let folder = try TemporaryFolder()
    let original = folder.url.appending(path: "original.arbor")
    let before = objects(4)
    try EvolvingStore.write(before, model(Self.names), to: original)
    for name in ["Aaa", "Bzz", "Zzz"] {
      var plain = before
      plain.rename(former, to: name)
      for position in 0..<3 {
        var order = Self.names.filter { $0 != former }
        order.insert(former, at: position)
        let url = folder.url.appending(path: "\(name)-\(position).arbor")
        try FileManager.default.copyItem(at: original, to: url)
        let renamed = model(order, renaming: [former: name])
        do {
          let store = try PersistentStore(model: renamed, at: .file(url))
          defer { store.close() }
          try expect(store, plain)
        }
        let next = model(order, renaming: [former: name], isNext: true)
        do {
          let store = try PersistentStore(model: next, at: .file(url))
          defer { store.close() }
          try expect(store, plain)
        }
        if position == 0 { try expectEveryCopy(of: url, next, plain) }
      }
    }
  }

  @Test("A new subentity may precede its siblings")
  func newSubentity() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "items.arbor")
    var plain = objects(4)
    plain.values["Bill"] = nil
    plain.links["Bill"] = nil
    for (name, ids) in plain.links["Box"]?[1] ?? [:] {
      let kept = ids.filter { ($0 - 2) % 3 != 2 }
      plain.links["Box"]?[1]?[name] = kept
    }
    try EvolvingStore.write(plain, model(["Item", "Card", "Letter", "Box"]), to: url)
    let later = model(["Bill", "Item", "Card", "Letter", "Box"])
    do {
      let store = try PersistentStore(model: later, at: .file(url))
      defer { store.close() }
      let context = store.makeContext()
      for id in Int64(500)..<510 {
        let bill = try context.insert("Bill")
        bill["id"] = id
        bill["isOwn"] = true
        plain.values["Bill", default: [:]][id] = [
          "id": .integer(id), "isOwn": true, "kind": .null, "text": .null, "code": .null,
        ]
        plain.links["Bill", default: [:]][id] = ["box": [], "first": []]
      }
      try context.commit()
      try expect(store, plain)
    }
    let next = model(["Bill", "Item", "Card", "Letter", "Box"], isNext: true)
    try PersistentStore(model: next, at: .file(url)).close()
    try expectEveryCopy(of: url, next, plain)
  }

  /// More objects than are indexed within one transaction.
  @Test("Many objects are indexed in batches, whatever the order")
  func manyObjects() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "items.arbor")
    let plain = objects(TestLength.of(4000, long: 40_000))
    // Entities in arbitrary order; all indexes are filled in one commit.
    try EvolvingStore.write(plain, model(["Letter", "Bill", "Item", "Card", "Box"]), to: url)
    let order = ["Card", "Letter", "Item", "Bill", "Box"]
    do {
      let store = try PersistentStore(model: model(order), at: .file(url))
      defer { store.close() }
      try expect(store, plain)
    }
    let next = model(order, isNext: true)
    try PersistentStore(model: next, at: .file(url)).close()
    try expectEveryCopy(of: url, next, plain)
  }
}
