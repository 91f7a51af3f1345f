import ArborModel

import ArborObjects

/// Comparing a context with the naive one.
extension SharedHistory {
  func compare(_ sideIndex: Int) throws {
    let side = sides[sideIndex]
    _ = try side.context.count("Team")
    let (items, links) = (side.plain.items(store), side.plain.links(store))
    for entity in ["Person", "Team", "Skill"] {
      let expected = Set(items.keys.filter { items[$0]?.entity == entity }.compactMap { ids[$0] })
      let found = Set(try side.context.fetchIDs(FetchRequest<ManagedObject>(entity: entity)))
      guard found == expected else {
        throw difference("\(sideIndex) has \(found.count) of \(entity), not \(expected.count)")
      }
    }
    for (key, item) in items {
      let object = try object(key, side.context)
      for name in PlainStore.attributes {
        let expected = item.values[name].map { PropertyValue.integer(Int64($0)) } ?? .null
        guard object[name] as PropertyValue == expected else {
          throw difference(
            "\(sideIndex): \(key).\(name) is \(object[name] as PropertyValue), not \(expected)")
        }
      }
      if store.isPaired { try comparePair(object, key, item, items, sideIndex) }
      switch item.entity {
      case "Person":
        // The team may have been deleted here or by another context, which the commit repairs.
        let living = Set(items.keys.compactMap { ids[$0] })
        let team = item.values["team"].flatMap { items[$0] == nil ? nil : ids[$0] }
        var found: ObjectID?
        if case .objectID(let id) = object["team"] as PropertyValue, living.contains(id) {
          found = id
        }
        guard found == team else {
          throw difference("\(sideIndex): \(key).team is \(object["team"] as PropertyValue)")
        }
        try compare(object, "skills", sideIndex, key)
      case "Team":
        try compare(object, "members", sideIndex, key)
      default:
        try compare(object, "holders", sideIndex, key)
      }
    }
    let skilled = Set(links.map(\.person)).count
    guard try side.context.count("Person", matching: "skills.@count > 0") == skilled else {
      throw difference("\(sideIndex): other persons than \(skilled) have skills")
    }
    let young = items.values.filter { $0.entity == "Person" && ($0.values["a"] ?? 9) < 5 }.count
    guard try side.context.count("Person", matching: "a < 5") == young else {
      throw difference("\(sideIndex): other persons than \(young) have a < 5")
    }
    try compareGroups(side, sideIndex)
  }

  /// Compares the partner of an object. A deleted partner counts as `nil`.
  private func comparePair(
    _ object: ManagedObject, _ key: Int, _ item: PlainStore.Item, _ items: [Int: PlainStore.Item],
    _ sideIndex: Int
  ) throws {
    guard let name = PlainPairs.name(of: item.entity) else { return }
    let expected = item.values[name].flatMap { items[$0] == nil ? nil : $0 }
    var found: Int?
    if case .objectID(let id) = object[name] as PropertyValue {
      found = ids.first { $0.value == id }.map(\.key).flatMap { items[$0] == nil ? nil : $0 }
    }
    guard found == expected else {
      let texts = [found, expected].map { $0.map(String.init) ?? "nil" }
      throw difference("\(sideIndex): \(key).\(name) is \(texts[0]), not \(texts[1])")
    }
    let plain = sides[sideIndex].plain
    // An object that survived a deletion keeps its partner until the commit.
    guard let expected, let inverse = PlainPairs.inverses[name], !plain.survives(key),
      !plain.survives(expected)
    else { return }
    guard items[expected]?.values[inverse] == key else {
      throw difference("\(sideIndex): \(key).\(name) is \(expected), which leads elsewhere")
    }
  }

  private func compareGroups(_ side: Side, _ sideIndex: Int) throws {
    let history = side.context.undoHistory
    let count = side.undo.count + (side.open?.isBegun == true ? 1 : 0)
    guard history?.undoNames.count == count, history?.redoNames.count == side.redo.count
    else {
      throw difference(
        "\(sideIndex) has \(history?.undoNames.count ?? 0), "
          + "\(history?.redoNames.count ?? 0) groups, not \(count) and \(side.redo.count)")
    }
  }

  private func compare(
    _ object: ManagedObject, _ name: String, _ sideIndex: Int, _ key: Int
  ) throws {
    let expected = sides[sideIndex].plain.members(PlainList(owner: key, name: name), store)
    let found = try object.objects(forKey: name).fetch().map(\.objectID)
    guard found == expected.compactMap({ ids[$0] }) else {
      let keys = found.map { id in ids.first { $0.value == id }?.key ?? 0 }
      throw difference("\(sideIndex): \(key).\(name) is \(keys), not \(expected)")
    }
  }
}
