/// The derivations of a model: the attributes to compute for the objects of each entity at commit,
/// and the changes that affect derived attributes of other objects.
package final class DerivationPlan: Sendable {
  /// A property whose change affects the derived values of other objects.
  package struct Trigger: Sendable {
    /// The relationships from the affected objects to the changed object.
    package let hops: [RelationshipSchema]
    package let property: DerivationRead.Property
    /// The bits of the affected derivations.
    package fileprivate(set) var bits: UInt64

    /// Returns whether the triggers have the same path and property.
    fileprivate func matches(_ other: Trigger) -> Bool {
      hops.count == other.hops.count && zip(hops, other.hops).allSatisfy { $0 === $1 }
        && property.matches(other.property)
    }
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
    var count = 0
    for entity in schema.entities {
      for attribute in entity.description.attributes {
        guard let text = attribute.derivation,
          case .attribute(let bound)? = entity.property(named: attribute.name)
        else { continue }
        let derivation: Derivation
        do throws(ArborError) {
          derivation = try Derivation(bound, text, of: entity, in: schema, ordinal: count)
          count += 1
        } catch {
          throw ArborError(
            .invalidModel,
            "Attribute \(entity.name).\(attribute.name) is derived from “\(text)”: \(error.message)"
          ).with(entity: entity.name, keyPath: attribute.name, underlying: error)
        }
        for entityIndex in entity.concreteFamily { derivations[entityIndex].append(derivation) }
        for read in derivation.reads {
          guard let trigger = Self.trigger(read, derivation.bit) else { continue }
          let entityIndex = read.hops.last?.destination ?? entity.index
          for entityIndex in schema.entities[entityIndex].concreteFamily {
            Self.add(trigger, to: &triggers[entityIndex])
          }
        }
      }
    }
    self.derivations = derivations
    self.triggers = triggers
  }

  /// Returns the trigger for a property that is read, or `nil` for a field of the object's own
  /// record, because changing it changes the object itself.
  private static func trigger(_ read: DerivationRead, _ bit: UInt64) -> Trigger? {
    if read.hops.isEmpty {
      guard case .members = read.property else { return nil }
    }
    return Trigger(hops: read.hops, property: read.property, bits: bit)
  }

  private static func add(_ trigger: Trigger, to triggers: inout [Trigger]) {
    if let index = triggers.firstIndex(where: trigger.matches) {
      triggers[index].bits |= trigger.bits
    } else {
      triggers.append(trigger)
    }
  }
}

extension DerivationRead.Property {
  fileprivate func matches(_ other: DerivationRead.Property) -> Bool {
    switch (self, other) {
    case (.attribute(let own), .attribute(let other)): own == other
    case (.toOne(let own), .toOne(let other)), (.members(let own), .members(let other)):
      own === other
    default: false
    }
  }
}
