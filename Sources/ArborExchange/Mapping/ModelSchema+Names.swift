import ArborModel

extension ModelSchema {
  /// The entity of a name, or the error `unknownName`.
  func requireEntity(named name: String) throws(ArborError) -> EntitySchema {
    guard let entity = entity(named: name) else {
      throw ArborError(
        .unknownName,
        "The model has no entity \(name); write the name of one."
          + NearestName.hint(name, in: entities.map(\.name))
      ).with(entity: name)
    }
    return entity
  }

  /// The names of the entities that can have objects.
  var entityNames: [String] { entities.filter { !$0.isAbstract }.map(\.name) }
}
