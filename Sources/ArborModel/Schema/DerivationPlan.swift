/// The derivations of a model: the attributes to compute for the objects of each entity at commit,
/// and the changes that affect derived attributes of other objects.
package final class DerivationPlan: Sendable {
  /// A property whose change affects the derived values of other objects.
  package struct Trigger: Sendable {
    /// The relationships from the affected objects to the changed object.
    package let hops: [RelationshipSchema]
    package let property: DerivationRead.Property
    /// The catalog numbers of the entities whose objects determine which objects are affected.
    package let entities: Set<UInt16>
  }

  /// The derivations, including inherited ones, by index of the concrete entity in the schema.
  package let derivations: [[Derivation]]
  /// The triggers by index of the changed object's concrete entity.
  package let triggers: [[Trigger]]

  /// Binds the derivations of a schema.
  ///
  /// - Throws: ``ArborError`` `invalidModel`, which names the entity and the property. Never thrown
  ///   for a valid model.
  package init(_ schema: ModelSchema) throws(ArborError) {
    var derivations: [[Derivation]] = schema.entities.map { _ in [] }
    var triggers: [[Trigger]] = schema.entities.map { _ in [] }
    for entity in schema.entities {
      for attribute in entity.description.attributes {
        guard let text = attribute.derivation,
          case .attribute(let bound)? = entity.property(named: attribute.name)
        else { continue }
        let derivation: Derivation
        do throws(ArborError) {
          derivation = try Derivation(bound, text, of: entity, in: schema)
        } catch {
          throw ArborError(
            .invalidModel,
            "Attribute \(entity.name).\(attribute.name) is derived from “\(text)”: \(error.message)"
          ).with(entity: entity.name, keyPath: attribute.name, underlying: error)
        }
        for entityIndex in entity.concreteFamily { derivations[entityIndex].append(derivation) }
        for read in derivation.reads {
          guard let trigger = Self.trigger(read, of: entity, in: schema) else { continue }
          let entityIndex = read.hops.last?.destination ?? entity.index
          for entityIndex in schema.entities[entityIndex].concreteFamily {
            triggers[entityIndex].append(trigger)
          }
        }
      }
    }
    self.derivations = derivations
    self.triggers = triggers
  }

  /// Returns the trigger for a property that is read, or `nil` for a field of the object's own
  /// record, because changing it changes the object itself.
  private static func trigger(
    _ read: DerivationRead, of entity: EntitySchema, in schema: ModelSchema
  ) -> Trigger? {
    if read.hops.isEmpty {
      guard case .members = read.property else { return nil }
      return Trigger(hops: [], property: read.property, entities: [])
    }
    var indices = entity.concreteFamily
    for hop in read.hops { indices += schema.entities[hop.destination].concreteFamily }
    return Trigger(
      hops: read.hops, property: read.property,
      entities: Set(indices.map { schema.entities[$0].number }))
  }
}
