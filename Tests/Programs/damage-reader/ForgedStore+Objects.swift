import ArborModel
import ArborObjects
import LMDB

/// Typical use of objects and requests in a store that was opened without verification: every
/// access path to rows, every direction of a relationship, and changes with all their side effects.
extension ForgedStore {
  /// Uses a store that was opened without a full verification.
  ///
  /// Each run performs only some of the requests, so that a campaign of many files soon covers all
  /// of them.
  ///
  /// - Parameter choice: Selects the requests; `nil` for all.
  static func useUnverified(_ path: String, asking choice: SplitMix?) -> Result {
    var options = StoreOptions()
    options.verification = .quick
    options.durability = .relaxed
    options.initialMapSize = 1 << 26
    guard let store = try? PersistentStore(at: .path(path), options: options) else {
      return .refused
    }
    defer { store.close() }
    let findings = Findings(choice)
    let context = store.makeContext()
    let undo = UndoHistory()
    context.undoHistory = undo
    for entity in store.model.entities {
      query(entity, store.model, context, findings)
      traverse(entity.name, context, findings)
    }
    for entity in store.model.entities where !entity.isAbstract {
      relink(entity.name, context, findings)
      undo.undo()
      undo.redo()
      findings.attempt { try context.commit() }
      context.rollback()
      delete(entity.name, context, findings)
    }
    findings.attempt { if try !context.mergeExternalCommits() { _ = try context.commit() } }
    return findings.result
  }

  /// The outcome so far, and the selection of requests.
  private final class Findings {
    var result = Result.passed
    private var choice: SplitMix?

    init(_ choice: SplitMix?) { self.choice = choice }

    /// Returns whether to perform the next request, which is true for one in eight.
    func asks() -> Bool { choice == nil || choice?.below(0, 8) == 0 }

    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { result = .found }
    }
  }

  // MARK: Requests

  private static func query(
    _ entity: EntityDescription, _ model: ManagedObjectModel, _ context: ManagedObjectContext,
    _ findings: Findings
  ) {
    func fetch(_ format: String?, by key: String? = nil, _ arguments: PropertyValue...) {
      guard findings.asks() else { return }
      findings.attempt {
        let predicate = try format.map { try FetchPredicate(format: $0, arguments: arguments) }
        var request = FetchRequest<ManagedObject>(
          entity: entity.name, predicate: predicate, sortKeys: key.map { [SortKey($0)] } ?? [])
        findings.attempt { _ = try context.count(request) }
        _ = try context.fetch(request)
        request.fetchLimit = 3
        let page = try context.fetchPage(request)
        if let next = page.next { _ = try context.fetchPage(request, after: next) }
        request.fetchOffset = 1
        _ = try context.fetch(request)
      }
    }
    fetch(nil)
    let query = context.objects(entity.name)
    let attributes = model.lineage(of: entity).flatMap(\.attributes)
    // Binary data has no order.
    for attribute in attributes where attribute.type != .binary {
      let name = attribute.name
      fetch(nil, by: name)
      guard findings.asks() else { continue }
      // Composites have no order.
      if case .composite = attribute.type {
      } else {
        findings.attempt { _ = try query.value(of: .minimum(name)) }
        findings.attempt { _ = try query.value(of: .maximum(name)) }
      }
      findings.attempt { _ = try query.grouped(by: name) }
      findings.attempt { _ = try query.value(of: .function("count", of: name)) }
      findings.attempt {
        for object in try context.fetch(entity.name).prefix(2) {
          let value = try object.value(forKey: name)
          fetch("\(name) == %@", value)
          if case .composite = value { continue }
          fetch("\(name) > %@", value)
          fetch("\(name) != %@", by: name, value)
        }
      }
    }
    for relationship in model.lineage(of: entity).flatMap(\.relationships) {
      let name = relationship.name
      findings.attempt {
        var request = FetchRequest<ManagedObject>(entity: entity.name)
        request.relationshipKeyPathsForPrefetching = [PropertyPath(name)]
        _ = try context.fetch(request)
      }
      if relationship.isToMany { fetch("\(name).@count > 1") }
      guard let destination = model.entity(named: relationship.destination) else { continue }
      let family = model.lineage(of: destination)
      for far in family.flatMap(\.attributes).map(\.name).prefix(2) {
        if relationship.isToMany {
          fetch("ANY \(name).\(far) != nil")
          fetch("SUBQUERY(\(name), $x, $x.\(far) != nil).@count > 0")
        } else {
          fetch("\(name).\(far) != nil", by: "\(name).\(far)")
        }
      }
      for back in family.flatMap(\.relationships) {
        switch (relationship.isToMany, back.isToMany) {
        case (true, true): fetch("SUBQUERY(\(name), $x, $x.\(back.name).@count > 0).@count > 0")
        case (true, false): fetch("ANY \(name).\(back.name) != nil")
        case (false, true): fetch("\(name).\(back.name).@count > 0")
        case (false, false): fetch("\(name).\(back.name) != nil", by: "\(name).\(back.name)")
        }
      }
    }
  }

  // MARK: Objects

  private static func traverse(
    _ entity: String, _ context: ManagedObjectContext, _ findings: Findings
  ) {
    findings.attempt {
      for object in try context.fetch(entity) {
        for name in object.entity.attributes.map(\.name) {
          findings.attempt { _ = try object.value(forKey: name) }
        }
        for relationship in object.entity.relationships {
          let name = relationship.name
          findings.attempt {
            guard relationship.isToMany else {
              let target = try object.object(forKey: name)
              _ = target.map { "\($0)\($0.isFault)" }
              if let target { _ = try context.existingObject(with: target.objectID) }
              return
            }
            _ = try object.objects(forKey: name).count()
            for member in try object.objects(forKey: name).fetch() {
              _ = try object.objects(forKey: name).contains(member)
              _ = "\(member)"
            }
          }
        }
      }
      // Reports errors that were found while reading but could not be thrown there.
      _ = try context.count(entity)
    }
  }

  /// Swaps relationship targets and attribute values between the first objects.
  private static func relink(
    _ entity: String, _ context: ManagedObjectContext, _ findings: Findings
  ) {
    findings.attempt {
      let objects = try context.fetch(entity)
      for (object, other) in zip(objects, objects.dropFirst()).prefix(3) {
        for relationship in object.entity.relationships {
          let name = relationship.name
          findings.attempt {
            guard relationship.isToMany else {
              let target = try other.object(forKey: name)
              try object.setObject(target, forKey: name)
              return try other.setObject(nil, forKey: name)
            }
            let members = try other.objects(forKey: name).fetch()
            try object.objects(forKey: name).replaceAll(with: members.reversed())
            if let first = members.first { try other.objects(forKey: name).remove(first) }
          }
        }
        for attribute in object.entity.attributes where attribute.derivation == nil {
          findings.attempt {
            // The values are swapped, because some of them must be unique.
            let value = try other.value(forKey: attribute.name)
            try other.setValue(try object.value(forKey: attribute.name), forKey: attribute.name)
            try object.setValue(value, forKey: attribute.name)
          }
        }
      }
    }
  }

  private static func delete(
    _ entity: String, _ context: ManagedObjectContext, _ findings: Findings
  ) {
    findings.attempt {
      guard let object = try context.fetch(entity).first else { return }
      context.delete(object)
      try context.commit()
    }
    context.rollback()
    findings.attempt { _ = try context.objects(entity).limit(1).delete() }
    context.rollback()
  }
}

extension ManagedObjectModel {
  /// Returns an entity followed by its ancestors.
  func lineage(of entity: EntityDescription) -> [EntityDescription] {
    [entity] + (entity.parent.flatMap { self.entity(named: $0) }.map(lineage) ?? [])
  }
}
