internal import ArborModel
internal import ArborObjects

/// What a context is about to commit, as a person reads it.
struct ChangeList {
  private let changes: [JSONValue]
  /// A text that is the same for the same changes.
  let digest: String

  /// Lists the changes of a context.
  ///
  /// - Parameters:
  ///   - names: What inserted objects are called, whose numbers differ from one attempt to the
  ///     next.
  ///   - edited: The objects whose members are listed; nil for all. The other side of a link is
  ///     among the changes only where the context happens to know it already.
  init(
    _ context: ManagedObjectContext, _ schema: BrowsedSchema, names: [ObjectID: String],
    edited: Set<ObjectID>? = nil
  ) {
    // Another context sees the store as it is.
    let stored = context.store.makeContext()
    let list = Lister(names: names, edited: edited, schema: schema, stored: stored)
    changes =
      list.changes("insert", context.insertedObjects)
      + list.changes("update", context.updatedObjects)
      + list.changes("delete", context.deletedObjects)
    digest = Self.digest(of: JSONValue.array(changes).text(.compact))
  }

  func json(isCommitted: Bool) -> JSONValue {
    [
      "changes": .array(changes), "digest": .string(digest), "isCommitted": .bool(isCommitted),
    ]
  }

  /// FNV-1a of 64 bits: the digest tells a user's own lists apart, and protects from nobody.
  private static func digest(of text: String) -> String {
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return String(hash, radix: 16)
  }

  private struct Lister {
    let names: [ObjectID: String]
    let edited: Set<ObjectID>?
    let schema: BrowsedSchema
    let stored: ManagedObjectContext

    func changes(_ kind: String, _ objects: Set<ManagedObject>) -> [JSONValue] {
      let sorted = objects.sorted {
        ($0.objectID.entityName, $0.objectID.number) < ($1.objectID.entityName, $1.objectID.number)
      }
      return sorted.compactMap { object in
        let properties = kind == "delete" ? [] : properties(object, isNew: kind == "insert")
        // What changed by its members only, which are listed themselves.
        if kind == "update", properties.isEmpty { return nil }
        return [
          "kind": .string(kind), "object": .string(name(object.objectID)),
          "entity": .string(object.entity.name), "properties": .array(properties),
        ]
      }
    }

    private func properties(_ object: ManagedObject, isNew: Bool) -> [JSONValue] {
      let before = isNew ? nil : try? stored.existingObject(with: object.objectID)
      let entity = try? schema.entity(object.entity.name)
      return object.changedValues().sorted { $0.key < $1.key }.compactMap { property, value in
        let old = before.flatMap { try? $0.value(forKey: property) } ?? .null
        if let relationship = entity?.relationships.first(where: { $0.name == property }),
          relationship.isToMany
        {
          // Written out: a bare `nil` beside a JSON value would be a null.
          if schema.isKeptByMembers(relationship) || edited?.contains(object.objectID) == false {
            return JSONValue?.none
          }
          return members(property, from: old, to: value)
        }
        return ["property": .string(property), "old": json(old), "new": json(value)]
      }
    }

    /// Who joins and who leaves: the others may be many.
    private func members(_ property: String, from old: Value, to new: Value) -> JSONValue {
      let (old, new) = (names(in: old), names(in: new))
      let (added, removed) = (Set(new).subtracting(old), Set(old).subtracting(new))
      return [
        "property": .string(property),
        "added": .array(new.filter(added.contains).map { ["object": .string($0)] }),
        "removed": .array(old.filter(removed.contains).map { ["object": .string($0)] }),
      ]
    }

    private func names(in value: Value) -> [String] {
      guard case .list(let values) = value else { return [] }
      return values.compactMap { if case .objectID(let id) = $0 { name(id) } else { nil } }
    }

    private func json(_ value: Value) -> JSONValue {
      switch value {
      case .objectID(let id): ["object": .string(name(id))]
      default: ValueJSON.json(value, longest: ValueJSON.longestInTable)
      }
    }

    private func name(_ id: ObjectID) -> String { names[id] ?? ValueJSON.name(id) }
  }
}
