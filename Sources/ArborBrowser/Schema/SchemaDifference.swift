package import ArborModel

/// The entities of two models in one list, in which added, removed and changed parts are marked.
///
/// The entities are those of the newer model, with the removed properties of each at its end,
/// followed by the removed entities.
package struct SchemaDifference: Sendable {
  package enum Mark: String, Sendable, CaseIterable {
    case added, removed, changed

    /// The mark beside a name, so that nothing depends on colors.
    package var sign: String {
      switch self {
      case .added: "+"
      case .removed: "−"
      case .changed: "~"
      }
    }
  }

  /// An attribute or relationship.
  package struct Part: Sendable {
    package let name: String
    /// The type: `string?`, `Office`, or `[Office]` for many.
    package let type: String
    /// The relationship, or `nil` for an attribute.
    package let relationship: RelationshipDescription?
    package var mark: Mark?
    package var notes: [String] = []
  }

  package struct Entity: Sendable {
    package let name: String
    package let parent: String?
    package let isAbstract: Bool
    package var mark: Mark?
    package var notes: [String] = []
    package var parts: [Part]
  }

  package private(set) var entities: [Entity] = []
  /// The changes of the model as a whole.
  package private(set) var others: [String] = []

  package var isEmpty: Bool { others.isEmpty && entities.allSatisfy { $0.mark == nil } }

  package init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    let changes = old.difference(to: new).changes
    let byEntity = Dictionary(grouping: changes) { $0.entity }
    others = (byEntity[nil] ?? []).map(\.summary)
    for description in new.entities {
      var entity = Entity(description)
      let own = byEntity[entity.name] ?? []
      if own.contains(where: { $0.kind == .entity(.added) }) {
        entity.markAll(.added)
      } else {
        // Removed properties are named as in the older model, as their entity is.
        let former = own.lazy.compactMap(\.formerName).first ?? entity.name
        let removed = (byEntity[former] ?? []).filter(\.isRemovalOfProperty)
        if let before = old.entity(named: former) {
          entity.add(removed, of: Entity(before))
        }
        entity.note(own.filter { !$0.isRemovalOfProperty })
      }
      entities.append(entity)
    }
    for change in changes where change.kind == .entity(.removed) {
      guard let name = change.entity, let description = old.entity(named: name) else { continue }
      var entity = Entity(description)
      entity.markAll(.removed)
      entities.append(entity)
    }
  }

  /// The drawing of a single model, without marks.
  package init(_ model: ManagedObjectModel) { entities = model.entities.map(Entity.init) }

  /// Returns the part with only the given entities.
  func only(_ names: Set<String>) -> SchemaDifference {
    var part = self
    part.entities.removeAll { !names.contains($0.name) }
    return part
  }
}

extension SchemaDifference.Entity {
  fileprivate init(_ description: EntityDescription) {
    name = description.name
    parent = description.parent
    isAbstract = description.isAbstract
    parts =
      description.attributes.map {
        .init(
          name: $0.name, type: "\($0.type)" + ($0.isOptional ? "?" : ""), relationship: nil)
      }
      + description.relationships.map {
        .init(
          name: $0.name, type: $0.isToMany ? "[\($0.destination)]" : $0.destination,
          relationship: $0)
      }
  }

  fileprivate mutating func markAll(_ mark: SchemaDifference.Mark) {
    self.mark = mark
    for index in parts.indices { parts[index].mark = mark }
  }

  /// Adds the properties that only the older model has.
  fileprivate mutating func add(
    _ removals: [ModelDifference.Change], of former: SchemaDifference.Entity
  ) {
    for removal in removals {
      guard var part = former.parts.first(where: { $0.name == removal.property }) else { continue }
      part.mark = .removed
      part.notes = removal.loss.map { ["\($0)"] } ?? []
      parts.append(part)
      mark = .changed
    }
  }

  /// Marks what has changed, with the changes in words.
  fileprivate mutating func note(_ changes: [ModelDifference.Change]) {
    for change in changes {
      mark = .changed
      let text = "\(change.kind)"
      guard let property = change.property else {
        notes.append(text)
        continue
      }
      guard let index = parts.firstIndex(where: { $0.name == property && $0.mark != .removed })
      else {
        // An inherited property.
        notes.append("\(property): \(text)")
        continue
      }
      parts[index].mark = change.isAdditionOfProperty ? .added : .changed
      if !change.isAdditionOfProperty { parts[index].notes.append(text) }
    }
  }
}

extension ModelDifference.Change {
  fileprivate var isRemovalOfProperty: Bool {
    switch kind {
    case .attribute(.removed), .relationship(.removed): true
    default: false
    }
  }

  fileprivate var isAdditionOfProperty: Bool {
    switch kind {
    case .attribute(.added), .relationship(.added): true
    default: false
    }
  }

  /// The former name of a renamed entity.
  fileprivate var formerName: String? {
    if case .entity(.renamed(let name)) = kind { name } else { nil }
  }
}
