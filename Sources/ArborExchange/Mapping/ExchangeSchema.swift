import ArborModel

/// A store's model as documents see it: entities with all their properties, found by name.
///
/// Not thread-safe: each exchange makes its own.
final class ExchangeSchema {
  private let model: ManagedObjectModel
  private let rules: TextRules
  private var entities: [String: ExchangeEntity] = [:]
  private var composites: [String: [ExchangeAttribute]] = [:]

  init(_ model: ManagedObjectModel, rules: TextRules = TextRules()) {
    self.model = model
    self.rules = rules
  }

  func entity(named name: String) -> ExchangeEntity? {
    if let entity = entities[name] { return entity }
    guard let description = model.entity(named: name) else { return nil }
    let entity = ExchangeEntity(lineage: model.lineage(of: description), rules: rules)
    entities[name] = entity
    return entity
  }

  /// The entity of a name, or the error `unknownName`.
  func requireEntity(named name: String) throws(ArborError) -> ExchangeEntity {
    guard let entity = entity(named: name) else {
      throw ArborError(
        .unknownName,
        "The model has no entity \(name); write the name of one."
          + NearestName.hint(name, in: model.entities.map(\.name))
      ).with(entity: name)
    }
    return entity
  }

  /// The names of the entities that can have objects.
  var entityNames: [String] { model.entities.filter { !$0.isAbstract }.map(\.name) }

  /// The parts of a composite type; empty for an unknown one.
  func parts(ofComposite name: String) -> [ExchangeAttribute] {
    if let parts = composites[name] { return parts }
    let composite = model.composites.first { $0.name == name }
    let parts = composite?.attributes.map { ExchangeAttribute($0, of: name, rules) } ?? []
    composites[name] = parts
    return parts
  }
}
