import ArborData

/// An importer into dictionaries that follows the documentation.
struct NaiveImporter {
  enum Way: CaseIterable { case notes, sync, valueModels }

  struct Options {
    var policy = ImportMergePolicy.replace
    /// Whether absent keys clear values in a sync.
    var clearsAbsent = false
    /// Whether a sync deletes parts that an item no longer has.
    var deletesMissing = false
  }

  private enum Kind: String { case person = "Person", tag = "Tag", part = "Part" }

  private struct Item {
    var values: [String: String] = [:]
    var owner: Int?
    var tags: Set<Int> = []
    var parts: Set<Int> = []
  }

  private var items: [Int: Item] = [:]
  /// The labels of persons, tags and parts.
  private var labels: [Kind: [Int: String?]] = [.person: [:], .tag: [:], .part: [:]]
  /// The members that the current document has described so far.
  private var touched: [Kind: Set<Int>] = [:]
  private var missingParts: Set<Int> = []

  /// The contents, one line per object.
  var state: [String] {
    var lines = items.map { id, item in
      let values = RandomItems.attributes.map { item.values[$0] ?? "-" }
      return "Item \(id) \(values) \(item.owner.map(String.init) ?? "-") "
        + "\(item.tags.map(String.init).sorted()) \(item.parts.map(String.init).sorted())"
    }
    for (kind, labels) in labels {
      lines += labels.map { "\(kind.rawValue) \($0) \($1 ?? "-")" }
    }
    return lines.sorted()
  }

  mutating func run(_ way: Way, _ document: [RandomItem], _ options: Options) {
    touched = [.person: [], .tag: [], .part: []]
    missingParts = []
    switch way {
    case .notes:
      // The last of several items with the same identity counts.
      for (index, item) in document.enumerated()
      where !document[(index + 1)...].contains(where: { $0.id == item.id }) {
        importByNotes(item, options.policy)
      }
    case .sync:
      for item in document { sync(item, options) }
      for part in missingParts where touched[.part]?.contains(part) == false {
        delete(.part, part)
      }
    case .valueModels: upsert(document)
    }
  }

  // MARK: Notes

  private mutating func importByNotes(_ item: RandomItem, _ policy: ImportMergePolicy) {
    let id = item.id
    setValues(item, clearsAbsent: false)
    switch item.owner {
    case .absent: break
    case .null: items[id]?.owner = nil
    case .some(let owner):
      if policy == .replace, let former = items[id]?.owner {
        deleteReplaced(.person, [former], of: id, listed: [owner.id])
      }
      describe(.person, owner, clearsAbsent: false)
      items[id]?.owner = owner.id
    }
    link(.tag, item.tags, of: id, policy)
    link(.part, item.parts, of: id, policy)
  }

  private mutating func link(
    _ kind: Kind, _ said: Said<[RandomMember]>, of item: Int, _ policy: ImportMergePolicy
  ) {
    let former = members(kind, of: item)
    let listed: [RandomMember]
    switch said {
    case .absent: return
    case .null:
      if policy == .merge { return }
      listed = []
    case .some(let list): listed = lastOfEquals(list)
    }
    let ids = Set(listed.map(\.id))
    if policy == .replace { deleteReplaced(kind, former, of: item, listed: ids) }
    for member in listed { describe(kind, member, clearsAbsent: false) }
    set(kind, policy == .merge ? former.union(ids) : ids, of: item)
  }

  private func lastOfEquals(_ list: [RandomMember]) -> [RandomMember] {
    list.indices.filter { index in !list[(index + 1)...].contains { $0.id == list[index].id } }
      .map { list[$0] }
  }

  /// Deletes the former members that no other item has, unless the document describes them again.
  private mutating func deleteReplaced(
    _ kind: Kind, _ former: Set<Int>, of item: Int, listed: Set<Int>
  ) {
    for member in former {
      let isShared = items.contains { $0.key != item && members(kind, of: $0.key).contains(member) }
      let isDescribedAgain = touched[kind]?.contains(member) == true && listed.contains(member)
      if !isShared, !isDescribedAgain { delete(kind, member) }
    }
  }

  // MARK: Syncs

  private mutating func sync(_ item: RandomItem, _ options: Options) {
    let id = item.id
    setValues(item, clearsAbsent: options.clearsAbsent)
    switch item.owner {
    case .absent: if options.clearsAbsent { items[id]?.owner = nil }
    case .null: items[id]?.owner = nil
    case .some(let owner):
      describe(.person, owner, clearsAbsent: options.clearsAbsent)
      items[id]?.owner = owner.id
    }
    for (kind, said) in [(Kind.tag, item.tags), (.part, item.parts)] {
      switch said {
      case .absent: if options.clearsAbsent { set(kind, [], of: id) }
      case .null: set(kind, [], of: id)
      case .some(let list):
        let former = members(kind, of: id)
        for member in list { describe(kind, member, clearsAbsent: options.clearsAbsent) }
        let ids = Set(list.map(\.id))
        if kind == .part, options.deletesMissing {
          missingParts.formUnion(former.subtracting(ids))
        }
        set(kind, ids, of: id)
      }
    }
  }

  // MARK: Value models

  private mutating func upsert(_ document: [RandomItem]) {
    for item in document { setValues(item, clearsAbsent: true) }
    for item in document {
      if case .some(let owner) = item.owner { describe(.person, owner, clearsAbsent: true) }
      for (kind, said) in [(Kind.tag, item.tags), (.part, item.parts)] {
        guard case .some(let list) = said else { continue }
        for member in list { describe(kind, member, clearsAbsent: true) }
      }
    }
    for item in document {
      if case .some(let owner) = item.owner { items[item.id]?.owner = owner.id }
      for (kind, said) in [(Kind.tag, item.tags), (.part, item.parts)] {
        if case .some(let list) = said { set(kind, Set(list.map(\.id)), of: item.id) }
      }
    }
  }

  // MARK: Objects

  private mutating func setValues(_ item: RandomItem, clearsAbsent: Bool) {
    var values = items[item.id]?.values ?? [:]
    for (name, said) in item.values {
      switch said {
      case .absent: if clearsAbsent { values[name] = nil }
      case .null: values[name] = nil
      case .some(let value): values[name] = value
      }
    }
    items[item.id, default: Item()].values = values
  }

  private mutating func describe(_ kind: Kind, _ member: RandomMember, clearsAbsent: Bool) {
    var label = labels[kind]?[member.id] ?? nil
    switch member.label {
    case .absent: if clearsAbsent { label = nil }
    case .null: label = nil
    case .some(let text): label = text
    }
    labels[kind]?.updateValue(label, forKey: member.id)
    touched[kind]?.insert(member.id)
  }

  private func members(_ kind: Kind, of item: Int) -> Set<Int> {
    switch kind {
    case .person: items[item]?.owner.map { [$0] } ?? []
    case .tag: items[item]?.tags ?? []
    case .part: items[item]?.parts ?? []
    }
  }

  private mutating func set(_ kind: Kind, _ members: Set<Int>, of item: Int) {
    if kind == .tag {
      items[item]?.tags = members
      return
    }
    // A part belongs to one item.
    for id in items.keys { items[id]?.parts.subtract(members) }
    items[item]?.parts = members
  }

  private mutating func delete(_ kind: Kind, _ id: Int) {
    labels[kind]?.removeValue(forKey: id)
    for item in items.keys {
      if kind == .person, items[item]?.owner == id { items[item]?.owner = nil }
      if kind == .tag { items[item]?.tags.remove(id) }
      if kind == .part { items[item]?.parts.remove(id) }
    }
  }
}
