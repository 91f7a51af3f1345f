import ArborModel
import ArborStore

/// An object with all of its properties. Relationships can be opened.
struct ObjectPage: BrowsePage {
  private struct Row {
    let name: String
    let text: String
    var target: ObjectNumber?
    var members: RelationshipSchema?
    var value: PropertyValue?
  }

  private let store: BrowsedStore
  private let number: ObjectNumber
  private let list: [Row]
  let title: String

  init(_ store: BrowsedStore, _ number: ObjectNumber) throws {
    self.store = store
    self.number = number
    let name = DecodedObject.name(number, in: store.engine.schema)
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    let labels = try ObjectLabels(store.engine)
    defer { labels.close() }
    let slabs = SlabAllocator()
    guard let record = try snapshot.record(number, allocator: slabs),
      let object = DecodedObject(number, record, in: store.engine)
    else {
      title = "\(name) (deleted)"
      list = []
      return
    }
    title = "\(name), version \(object.version)"
    var rows = object.attributes.map {
      Row(name: $0.name, text: ValueText.text($0.value), value: $0.value)
    }
    rows += object.targets.map { (name, target) in
      Row(name: name, text: target.map { "→ \(labels.text($0))" } ?? "nil", target: target)
    }
    for relationship in object.entity.relationships
    where relationship.isToMany && !relationship.isHidden {
      let count = try snapshot.memberCount(relationship, of: number)
      rows.append(
        Row(
          name: relationship.name, text: "→ \(count) \(count == 1 ? "object" : "objects")",
          members: relationship))
    }
    list = rows
  }

  var count: Int { list.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    let width = list.map { TextWidth.of($0.name) }.max() ?? 0
    return (nil, list[range].map { "\(TextWidth.padded($0.name, to: width))  \($0.text)" })
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    if let target = list[row].target { return try ObjectPage(store, target) }
    if let members = list[row].members {
      return try ObjectListPage(store, .members(members, of: number))
    }
    return list[row].value.map { ValuePage("\(title) · \(list[row].name)", .value($0)) }
  }

  func copy(of row: Int) -> String {
    if let target = list[row].target {
      return DecodedObject.name(target, in: store.engine.schema)
    }
    return list[row].value.map(ValuePage.plainText) ?? list[row].text
  }

  func reloaded() throws -> any BrowsePage { try ObjectPage(store, number) }
}
