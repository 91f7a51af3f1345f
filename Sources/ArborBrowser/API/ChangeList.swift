internal import ArborJSON
internal import ArborModel
internal import ArborObjects

/// The changes that a context is about to commit, for display.
struct ChangeList {
  private let changes: [JSONValue]
  /// A digest that is equal for equal changes.
  let digest: String

  /// Lists the changes of a context.
  ///
  /// - Parameters:
  ///   - names: The display names of inserted objects, whose numbers differ between attempts.
  ///   - edited: The objects whose members are listed, or `nil` for all. The inverse side of a link
  ///     is among the changes only if the context happens to have it loaded.
  /// - Throws: Any error from reading old values.
  init(
    _ context: ManagedObjectContext, _ schema: BrowsedSchema, names: [ObjectID: String],
    edited: Set<ObjectID>? = nil
  ) throws(ArborError) {
    // A separate context, which sees the stored state.
    let stored = context.store.makeContext()
    var list = Lister(names: names, edited: edited, schema: schema, stored: stored)
    changes =
      try list.changes("insert", context.insertedObjects)
      + list.changes("update", context.updatedObjects)
      + list.changes("delete", context.deletedObjects)
    list.digest.mix(JSONValue.array(changes).text(.compact).utf8)
    digest = list.digest.text
  }

  func json(isCommitted: Bool) -> JSONValue {
    [
      "changes": .array(changes), "digest": .string(digest), "isCommitted": .bool(isCommitted),
    ]
  }

  /// A 64-bit FNV-1a hash. The digest distinguishes a user's own lists; it is not a security
  /// measure.
  private struct Digest {
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    var text: String { String(hash, radix: 16) }

    mutating func mix(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// Mixes in an entire value, of which the list may show only a part.
    mutating func mix(_ value: PropertyValue) {
      switch value {
      case .binary(let data): mix(data)
      case .list(let values): for value in values { mix(value) }
      case .composite(let parts):
        for (name, value) in parts.sorted(by: { $0.key < $1.key }) {
          mix(name.utf8)
          mix(value)
        }
      default: mix(ValueJSON.json(value, maximumLength: .max).text(.compact).utf8)
      }
    }
  }

  private struct Lister {
    let names: [ObjectID: String]
    let edited: Set<ObjectID>?
    let schema: BrowsedSchema
    let stored: ManagedObjectContext
    var digest = Digest()

    mutating func changes(
      _ kind: String, _ objects: Set<ManagedObject>
    ) throws(ArborError) -> [JSONValue] {
      let sorted = objects.sorted {
        ($0.objectID.entityName, $0.objectID.number) < ($1.objectID.entityName, $1.objectID.number)
      }
      var changes: [JSONValue] = []
      for object in sorted {
        let properties = kind == "delete" ? [] : try properties(object, isNew: kind == "insert")
        // Only its members have changed, which are listed themselves.
        if kind == "update", properties.isEmpty { continue }
        changes.append([
          "kind": .string(kind), "object": .string(name(object.objectID)),
          "entity": .string(object.entity.name), "properties": .array(properties),
        ])
      }
      return changes
    }

    private mutating func properties(
      _ object: ManagedObject, isNew: Bool
    ) throws(ArborError) -> [JSONValue] {
      let before = isNew ? nil : try stored.objectIfThere(object.objectID)
      let entity = try schema.entity(object.entity.name)
      var properties: [JSONValue] = []
      for (property, value) in object.changedValues().sorted(by: { $0.key < $1.key }) {
        let old = try before?.value(forKey: property) ?? .null
        if let relationship = entity.relationships.first(where: { $0.name == property }),
          relationship.isToMany
        {
          if edited?.contains(object.objectID) == false { continue }
          let order = relationship.isOrdered ? order(from: old, to: value) : nil
          // Links that the members store are listed with the members, but the order isn't.
          if schema.isKeptByMembers(relationship), order == nil { continue }
          properties.append(members(property, from: old, to: value, order))
        } else {
          properties.append([
            "property": .string(property), "old": json(old), "new": json(value),
          ])
        }
      }
      return properties
    }

    /// Returns the members in their new order, or `nil` if the remaining members keep their order.
    private func order(from old: PropertyValue, to new: PropertyValue) -> [String]? {
      let (old, new) = (names(in: old), names(in: new))
      let common = Set(old).intersection(new)
      return old.filter(common.contains) == new.filter(common.contains) ? nil : new
    }

    /// Returns the added and removed members only, because there may be many others. If the order
    /// has changed, also returns all members in their new order.
    private func members(
      _ property: String, from old: PropertyValue, to new: PropertyValue, _ order: [String]?
    ) -> JSONValue {
      let (old, new) = (names(in: old), names(in: new))
      let (added, removed) = (Set(new).subtracting(old), Set(old).subtracting(new))
      var change: JSONObject = [
        "property": .string(property),
        "added": .array(new.filter(added.contains).map { ["object": .string($0)] }),
        "removed": .array(old.filter(removed.contains).map { ["object": .string($0)] }),
      ]
      if let order { change["order"] = .array(order.map { ["object": .string($0)] }) }
      return .object(change)
    }

    private func names(in value: PropertyValue) -> [String] {
      guard case .list(let values) = value else { return [] }
      return values.compactMap { if case .objectID(let id) = $0 { name(id) } else { nil } }
    }

    private mutating func json(_ value: PropertyValue) -> JSONValue {
      // The numbers of inserted objects differ between attempts.
      if case .objectID(let id) = value { return ["object": .string(name(id))] }
      digest.mix(value)
      return ValueJSON.json(value, maximumLength: ValueJSON.maximumLengthInTable)
    }

    private func name(_ id: ObjectID) -> String { names[id] ?? ValueJSON.name(id) }
  }
}

extension ManagedObjectContext {
  /// Returns the object with an ID, or `nil` if it has been deleted.
  func objectIfThere(_ id: ObjectID) throws(ArborError) -> ManagedObject? {
    do throws(ArborError) { return try existingObject(with: id) } catch {
      guard error.code == .objectNotFound else { throw error }
      return nil
    }
  }
}
