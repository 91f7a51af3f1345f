internal import ArborModel

/// What has to happen in a store's file so that it becomes one of another model, as far as the
/// models alone tell.
struct LightweightMigration {
  let old: ModelSchema
  /// The newer model, with the numbers that the store gives it.
  let new: ModelSchema
  let evolution: CatalogEvolution
  let moves: DatabaseMoves
  let indexes: IndexChanges
  /// The newer model's catalogue. Of what goes it names the databases until they are gone.
  let catalog: SchemaCatalog
  /// The relationships of the newer model with rules for the number of members that the older one
  /// does not have, by the entities that declare them.
  let narrowed: Set<ModelDifference.Subject>
  /// The attributes of the newer model that are laid out anew, by the entities that declare them,
  /// with their names in the older model: a pass brings their values along.
  let relaid: [ModelDifference.Subject: String]
  /// On the way back, the attributes whose type changed, by the entities that declare them.
  let retyped: [ModelDifference.Subject: RetypedAttribute]
  /// What of the models stands in the way.
  let obstacles: [MigrationObstacle]
  /// Whether the file is the private copy of a staged migration.
  let isStaged: Bool
  /// Whether the newer model is the one that the store had before.
  let isReversal: Bool
  private let unknownNames: [String]

  /// Whether an entity of the newer model was one of the older that could have objects.
  func hadObjects(_ entity: EntitySchema) -> Bool {
    evolution.entities.contains { plan in
      plan.name == entity.name && old.entity(named: plan.oldName).map { !$0.isAbstract } ?? false
    }
  }

  /// - Parameters:
  ///   - fingerprint: What the file says of the older model. It counts the versions of folded
  ///     texts and tokens in.
  ///   - names: What may be dropped, as `Entity` or `Entity.property`; nil for everything.
  ///   - versions: The models between the two, the oldest first.
  ///   - isStaged: Whether the file is the private copy of a staged migration.
  ///   - former: What the store keeps of the model, where that is the one that it had before.
  /// - Throws: `invalidModel`, `exhausted` where numbers run out.
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
    relaid = Self.relaid(in: difference)
    retyped = former == nil ? [:] : RetypedAttribute.all(in: difference, dropping: names)
    let numbered = try StoreOpener.schema(model, evolution.catalog)
    moves = DatabaseMoves(from: old, to: numbered, evolution, isReversal: isReversal)
    var indexes = IndexChanges(
      from: old, to: numbered, refilling: difference,
      isOfOtherVersion: fingerprint != old.model.fingerprint)
    indexes.refill(of: evolution.returned, in: numbered)
    // In place there are no objects of an entity that becomes abstract.
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
    // In a copy the attributes of a composite type that changes have begun anew.
    obstacles =
      given.filter { $0.entity != nil || !isStaged }
      + moves.obstacles.filter { !subjects.contains([$0.entity, $0.property]) }
  }

  /// The entities of the newer model of which there may no longer be objects.
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
    difference.storedChanges.reduce(into: [:]) { sources, change in
      guard case .attribute = change.kind, MigrationObstacle.isLaidOutAnew(change),
        let subject = change.subject, let property = subject.property
      else { return }
      sources[subject] = change.source?.property ?? property
    }
  }

  /// The newer model, whose databases keep the numbers of the older one where they stay; those
  /// that go are retired.
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

  /// The obstacles that the difference of the models states, whatever is converted.
  private static func stated(
    in difference: ModelDifference, dropping names: Set<String>?, isReversal: Bool
  ) -> [MigrationObstacle] {
    MigrationObstacle.obstacles(in: difference, dropping: names, isReversal: isReversal)
      + (isReversal && names == nil ? valuesOfOtherTypes(difference) : [])
  }

  /// The attribute whose type changed, as an entity's objects have it, by its name.
  func retyped(_ name: String, of entity: String) -> RetypedAttribute? {
    guard !retyped.isEmpty, let description = new.model.entity(named: entity) else { return nil }
    return new.model.lineage(of: description).lazy.compactMap {
      retyped[ModelDifference.Subject($0.name, name)]
    }.first
  }

  /// The refusal of a migration for what was found.
  func refusal(_ obstacles: [MigrationObstacle]) -> StoreError {
    let refusal = MigrationRefusal(
      isReversal ? .reversal : .obstacles, obstacles: obstacles, unknownNames: unknownNames)
    return isReversal ? .notReverted(refusal) : .modelMismatch(refusal)
  }
}

extension ModelDifference.Change {
  /// Whether present objects may have fewer or more members than the newer model lets them have.
  fileprivate var narrowsMembers: Bool {
    guard case .relationship = kind else { return false }
    switch rule {
    case .mandatory, .minimumCount, .maximumCount: return true
    default: return false
    }
  }
}

/// What a way back over later changes cannot restore.
extension LightweightMigration {
  /// Attributes whose values nothing converts back. They are still there, so that leave to drop
  /// whatever was removed is none to drop them: each has to be named.
  static func valuesOfOtherTypes(_ difference: ModelDifference) -> [MigrationObstacle] {
    difference.storedChanges.compactMap { change in
      guard case .attribute(.typeChanged) = change.kind, change.effort == .code else { return nil }
      let name = change.loss.map { "name \"\($0.name)\" to let it begin anew, or " } ?? ""
      return MigrationObstacle(
        entity: change.entity, property: change.property,
        message: "\(change.summary); nothing converts its values back: \(name)go on with the newer "
          + "model, and carry the data over by an export.")
    }
  }
}
