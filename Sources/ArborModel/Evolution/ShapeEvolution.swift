internal import ArborJSON

extension ManagedObjectModel {
  /// Returns the model with the structures of JSON that both it and a store's model describe, or `nil`
  /// if a part has unrelated types.
  ///
  /// - Parameter stored: A model with the same fingerprint, which describes the values in the store.
  package func joiningShapes(of stored: ManagedObjectModel) -> ManagedObjectModel? {
    var model = self
    for index in entities.indices {
      guard let former = stored.entity(named: entities[index].name) else { continue }
      for (slot, attribute) in entities[index].attributes.enumerated() where attribute.type == .json
      {
        guard let before = former.attributes.first(where: { $0.name == attribute.name }) else {
          continue
        }
        let joined = before.anyShape.joined(
          with: attribute.anyShape, standard: attribute.defaultValue.json)
        guard let joined else { return nil }
        model.entities[index].attributes[slot].anyShape = joined
      }
    }
    return model.withoutIndexes(missingIn: self)
  }

  /// Returns the model without indexes over parts that another version of it doesn't describe, so that
  /// both have the same indexes.
  fileprivate func withoutIndexes(missingIn offered: ManagedObjectModel) -> ManagedObjectModel {
    var model = self
    for (index, entity) in offered.entities.enumerated() where !entity.fetchIndexes.isEmpty {
      let attributes = offered.lineage(of: entity).flatMap(\.attributes)
      model.entities[index].fetchIndexes.removeAll { fetchIndex in
        fetchIndex.elements.contains { element in
          guard let column = KeptIndex.Column(element),
            let attribute = attributes.first(where: { $0.name == column.firstName }),
            attribute.type == .json
          else { return false }
          return column.part(of: attribute) == nil
        }
      }
    }
    return model
  }
}

extension ManagedObjectModel {
  /// The structures of all JSON attributes, by the names of their entities and their own.
  package var shapes: [String: [String: JSONShape]] {
    Dictionary(
      uniqueKeysWithValues: entities.map { entity in
        let shapes = entity.attributes.compactMap { attribute in
          attribute.shape.map { (attribute.name, $0) }
        }
        return (entity.name, Dictionary(uniqueKeysWithValues: shapes))
      })
  }
}

extension ModelDifference {
  /// The newer model with those parts of JSON that only the older one describes. Their values are
  /// kept.
  package var modelKeepingShapes: ManagedObjectModel {
    var model = new
    for (index, entity) in new.entities.enumerated() {
      for (slot, attribute) in entity.attributes.enumerated() where attribute.shape != nil {
        let sources = pairing.attributes.sources(
          of: PropertySlot(entity: index, slot: slot), pairing.entities)
        for source in sources {
          let former = old.entities[source.entity].attributes[source.slot]
          guard former.type == .json else { continue }
          let shape = model.entities[index].attributes[slot].anyShape
          model.entities[index].attributes[slot].anyShape = shape.keeping(former.anyShape)
        }
      }
    }
    return model.withoutIndexes(missingIn: new)
  }
}

extension AttributeDescription {
  /// The structure of a JSON attribute's values, which is any if none is known.
  package var anyShape: JSONShape {
    get { shape ?? .any }
    set { shape = newValue == .any ? nil : newValue }
  }

  /// A hash of the parts that every value of a JSON attribute must have.
  var requiredParts: UInt128 {
    var hash = WideHash()
    hash.mix(required: shape, standard: defaultValue)
    return hash.bits
  }
}
