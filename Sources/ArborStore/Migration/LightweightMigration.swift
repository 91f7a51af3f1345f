internal import ArborModel

/// The changes between the older and the newer model of a store, as derived from the models alone.
struct LightweightMigration {
  let old: ModelSchema
  /// The newer model, with the numbers that the store assigns to it.
  let new: ModelSchema
  let evolution: CatalogEvolution
  let moves: DatabaseMoves
  let indexes: IndexChanges
  /// The newer model's catalog, which contains the databases of removed parts until they are
  /// deleted.
  let catalog: SchemaCatalog
  /// The relationships of the newer model with additional rules for the number of members,
  /// qualified by the entities that declare them.
  let narrowed: Set<ModelDifference.Subject>
  /// The names in the older model of attributes that are stored differently and filled by a pass.
  /// The keys are qualified by the entities that declare the attributes.
  let relaid: [ModelDifference.Subject: String]
  /// The attributes whose type changed if this is a reversal, qualified by the entities that
  /// declare them.
  let retyped: [ModelDifference.Subject: RetypedAttribute]
  /// The JSON attributes whose values may not fit their new structure, qualified by the entities that
  /// declare them.
  let reshaped: Set<ModelDifference.Subject>
  /// The obstacles that follow from the models.
  let obstacles: [MigrationObstacle]
  /// Whether the file is the private copy of a staged migration.
  let isStaged: Bool
  /// Whether the newer model is the one that the store had before.
  let isReversal: Bool
  private let unknownNames: [String]

  /// Returns whether an entity of the newer model existed in the older one and could have objects.
  func hadObjects(_ entity: EntitySchema) -> Bool {
    evolution.entities.contains { plan in
      plan.name == entity.name && old.entity(named: plan.oldName).map { !$0.isAbstract } ?? false
    }
  }

  /// - Parameters:
  ///   - fingerprint: The older model's fingerprint in the file, which includes the versions of
  ///     text folding and tokenization.
  ///   - names: The names of data that may be dropped, as `Entity` or `Entity.property`, or `nil`
  ///     for all.
  ///   - versions: The models between the two, oldest first.
  ///   - isStaged: Whether the file is the private copy of a staged migration.
  ///   - former: The former model that the store keeps, if this is a reversal to it.
  /// - Throws: `invalidModel`; `exhausted` if there are no numbers left.
  init(
    from old: ModelSchema, _ fingerprint: ModelFingerprint, to model: ManagedObjectModel,
    dropping names: Set<String>?, via versions: [ManagedObjectModel] = [], isStaged: Bool = false,
    returning former: FormerModel? = nil
  ) throws(StoreError) {
    let difference = old.model.difference(to: model, via: versions)
    do throws(ArborError) {
      evolution = try CatalogEvolution(
        difference, from: old.catalog, returning: former?.schema.catalog)
    } catch {
      throw .exhausted(error.message)
    }
    self.old = old
    self.isStaged = isStaged
    isReversal = former != nil
    narrowed = Set(difference.changes.lazy.filter(\.narrowsMembers).compactMap(\.subject))
    reshaped = Set(
      difference.changes.lazy.filter { $0.rule == .valuesFit(.json) }.compactMap(\.subject))
    relaid = Self.relaid(in: difference)
    retyped = former == nil ? [:] : RetypedAttribute.all(in: difference, dropping: names)
    let numbered = try StoreOpener.schema(difference.modelKeepingShapes, evolution.catalog)
    moves = DatabaseMoves(from: old, to: numbered, evolution, isReversal: isReversal)
    var indexes = IndexChanges(
      from: old, to: numbered, refilling: difference,
      isOfOtherVersion: fingerprint != old.model.fingerprint)
    indexes.refill(of: evolution.returned, in: numbered)
    // A migration in place requires that an entity that becomes abstract has no objects.
    if isStaged {
      indexes.refill(of: Self.abstracted(evolution, from: old, to: numbered), in: numbered)
    }
    self.indexes = indexes
    new = try Self.schema(numbered, evolution.catalog, moves, indexes, from: old)
    catalog = new.catalog.withoutRetiredIndexes
    unknownNames = MigrationOutline(difference, dropping: names).unknownNames
    let converted = Set(retyped.keys.map { [$0.entity, $0.property] })
    let given = Self.stated(in: difference, dropping: names, isReversal: isReversal).filter {
      !converted.contains([$0.entity, $0.property])
    }
    let subjects = Set(given.map { [$0.entity, $0.property] })
    // In a copy, the attributes of a changed composite type start empty.
    obstacles =
      given.filter { $0.entity != nil || !isStaged }
      + moves.obstacles.filter { !subjects.contains([$0.entity, $0.property]) }
  }

  /// Returns the names of the entities that become abstract, so that they can no longer have
  /// objects.
  private static func abstracted(
    _ evolution: CatalogEvolution, from old: ModelSchema, to new: ModelSchema
  ) -> Set<String> {
    let plans = evolution.entities.filter { plan in
      old.entity(named: plan.oldName)?.isAbstract == false
        && new.entity(named: plan.name)?.isAbstract == true
    }
    return Set(plans.map(\.name))
  }

  private static func relaid(in difference: ModelDifference) -> [ModelDifference.Subject: String] {
    difference.storedChanges.reduce(into: difference.convertedComposites) { sources, change in
      guard case .attribute = change.kind, MigrationObstacle.isLaidOutAnew(change),
        let subject = change.subject, let property = subject.property
      else { return }
      sources[subject] = change.source?.property ?? property
    }
  }

  /// Compiles the newer model. Databases that are kept retain their numbers; the numbers of removed
  /// ones are retired.
  private static func schema(
    _ numbered: ModelSchema, _ catalog: SchemaCatalog, _ moves: DatabaseMoves,
    _ indexes: IndexChanges, from old: ModelSchema
  ) throws(StoreError) -> ModelSchema {
    var catalog = catalog
    catalog.carry(moves.carried, \.relationships, from: old.catalog)
    catalog.retire(\.relationships, of: old.catalog)
    catalog.carry(indexes.carried, \.indexes, from: old.catalog)
    catalog.retire(\.indexes, of: old.catalog)
    do throws(ArborError) {
      return try ModelSchema(numbered, storedAs: catalog)
    } catch {
      throw .exhausted(error.message)
    }
  }

  /// Returns the obstacles that follow from the difference of the models, including those for
  /// attributes whose values are converted back.
  private static func stated(
    in difference: ModelDifference, dropping names: Set<String>?, isReversal: Bool
  ) -> [MigrationObstacle] {
    MigrationObstacle.obstacles(in: difference, dropping: names, isReversal: isReversal)
      + (isReversal && names == nil ? valuesOfOtherTypes(difference) : [])
  }

  /// Returns an entity's attribute with the given name, which may be inherited, if its type
  /// changed.
  func retyped(_ name: String, of entity: String) -> RetypedAttribute? {
    guard !retyped.isEmpty, let description = new.model.entity(named: entity) else { return nil }
    return new.model.lineage(of: description).lazy.compactMap {
      retyped[ModelDifference.Subject($0.name, name)]
    }.first
  }

  /// Returns the error for a migration that is prevented by obstacles.
  func refusal(_ obstacles: [MigrationObstacle]) -> StoreError {
    let refusal = MigrationRefusal(
      isReversal ? .reversal : .obstacles, obstacles: obstacles, unknownNames: unknownNames)
    return isReversal ? .notReverted(refusal) : .modelMismatch(refusal)
  }
}

extension ModelDifference.Change {
  /// Whether present objects may have fewer or more members than the newer model allows.
  fileprivate var narrowsMembers: Bool {
    guard case .relationship = kind else { return false }
    switch rule {
    case .mandatory, .minimumCount, .maximumCount: return true
    default: return false
    }
  }
}

/// The changes that cannot be reverted once later commits exist.
extension LightweightMigration {
  /// Returns an obstacle for each attribute whose values cannot be converted back. Since the values
  /// still exist, permission to drop everything removed does not include them: each attribute has
  /// to be named.
  static func valuesOfOtherTypes(_ difference: ModelDifference) -> [MigrationObstacle] {
    difference.storedChanges.compactMap { change in
      guard case .attribute(.typeChanged) = change.kind, change.effort == .code else { return nil }
      let keeping = change.loss.map { "List \"\($0.name)\" to drop them, or keep" } ?? "Keep"
      return MigrationObstacle(
        entity: change.entity, property: change.property,
        message: "\(change.summary); its values cannot be converted back. \(keeping) the newer "
          + "model and export the data.")
    }
  }
}
