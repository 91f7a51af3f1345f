internal import ArborFoundation
internal import ArborJSON

/// A digest of a model: two models have the same digest if and only if they are equal.
///
/// A store keeps the digest of its model. If it is opened with a model that has the same digest, no
/// further checks are needed, because that model was validated when it was stored. If only the
/// digest differs and the ``ModelFingerprint`` doesn't, the stored model is updated. The standard
/// library's hashers are seeded per process and cannot be used.
package struct ModelDigest: Sendable, Hashable {
  /// The version of the digest and of the validation rules. It must change when rules become
  /// stricter or models get new properties, so that every model is validated again.
  private static let version: UInt8 = 3

  package let bits: UInt128

  package init(bits: UInt128) { self.bits = bits }

  /// Computes the digest of a model.
  ///
  /// - Complexity: Linear in the size of the model; a few microseconds for a small one.
  package init(_ model: ManagedObjectModel) {
    var hash = WideHash()
    hash.mix(Self.version)
    // The folding of indexed strings is part of the fingerprint, which isn't compared if the
    // digests are equal.
    hash.mix(UInt8(StringFolding.version))
    hash.mix(UInt8(TextTokens.version))
    hash.mix(model.versionIdentifier)
    hash.mix(each: model.entities) { $0.mix($1) }
    hash.mix(each: model.fetchRequestTemplates) { $0.mix($1) }
    hash.mix(count: model.configurations.count)
    for name in model.configurations.keys.sorted() {
      hash.mix(name)
      hash.mix(model.configurations[name] ?? [])
    }
    hash.mix(each: model.composites) { hash, composite in
      hash.mix(composite.name)
      hash.mix(each: composite.attributes) { $0.mix($1) }
    }
    bits = hash.bits
  }
}

extension WideHash {
  /// Mixes in the number of parts, then each part.
  fileprivate mutating func mix<Part>(each parts: [Part], _ mixPart: (inout Self, Part) -> Void) {
    mix(count: parts.count)
    for part in parts { mixPart(&self, part) }
  }

  fileprivate mutating func mix(_ entity: EntityDescription) {
    mix(entity.name)
    mix(entity.className)
    mix(entity.isAbstract)
    mix(entity.parent)
    mix(entity.renamingIdentifier)
    mix(entity.versionHashModifier)
    mix(entity.userInfo)
    mix(each: entity.attributes) { $0.mix($1) }
    mix(each: entity.relationships) { $0.mix($1) }
    mix(each: entity.fetchedProperties) { hash, property in
      hash.mix(property.name)
      hash.mix(property.isOptional)
      hash.mix(property.request)
      hash.mix(property.userInfo)
    }
    mix(each: entity.fetchIndexes) { $0.mix($1) }
    mix(each: entity.uniquenessConstraints) { $0.mix($1) }
  }

  fileprivate mutating func mix(_ attribute: AttributeDescription) {
    mix(attribute.name)
    mix(attribute.type.kind.fingerprintCode)
    switch attribute.type {
    case .transformable(let transformer): mix(transformer)
    case .composite(let name): mix(name)
    case .json:
      mix((attribute.shape?.json).map { String(decoding: $0.canonicalBytes, as: UTF8.self) })
    default: break
    }
    mix(
      attribute.isOptional, attribute.isTransient, attribute.isIndexed,
      attribute.allowsExternalStorage, attribute.isPreservedOnDeletion)
    mix(attribute.defaultValue)
    mix(attribute.minimum)
    mix(attribute.maximum)
    mix(attribute.regularExpression)
    mix(attribute.derivation)
    mix(attribute.renamingIdentifier)
    mix(attribute.versionHashModifier)
    mix(attribute.valueClassName)
    mix(attribute.userInfo)
  }

  private mutating func mix(_ relationship: RelationshipDescription) {
    mix(relationship.name)
    mix(relationship.destination)
    mix(relationship.inverse)
    mix(
      relationship.isToMany, relationship.isOrdered, relationship.isOptional,
      relationship.isTransient)
    mix(count: relationship.minimumCount)
    mix(count: relationship.maximumCount)
    mix(relationship.deleteRule.rawValue)
    mix(relationship.renamingIdentifier)
    mix(relationship.versionHashModifier)
    mix(relationship.userInfo)
  }

  private mutating func mix(_ index: FetchIndexDescription) {
    mix(index.name)
    mix(index.partialIndexPredicate)
    mix(index.isUnique)
    mix(each: index.elements) { hash, element in
      hash.mix(element.property)
      hash.mix(element.isExpression, element.isAscending)
      hash.mix(element.kind.rawValue)
    }
  }

  fileprivate mutating func mix(_ template: FetchRequestTemplate) {
    mix(template.name)
    mix(template.entity)
    mix(template.predicate)
    mix(count: template.fetchLimit)
    mix(count: template.fetchBatchSize)
    mix(
      template.includesSubentities, template.includesPendingChanges,
      template.returnsDistinctResults)
    mix(count: template.resultType.rawValue)
  }

  fileprivate mutating func mix(_ names: [String]) { mix(each: names) { $0.mix($1) } }

  private mutating func mix(_ userInfo: [String: String]) {
    mix(count: userInfo.count)
    guard !userInfo.isEmpty else { return }
    for key in userInfo.keys.sorted() {
      mix(key)
      mix(userInfo[key])
    }
  }

  private mutating func mix(_ value: PropertyValue) {
    switch value {
    case .null: mix(UInt8(0))
    case .boolean(let flag): mix(UInt8(flag ? 2 : 1))
    case .integer(let number): mix(3, UInt64(bitPattern: number))
    case .double(let number): mix(4, number.bitPattern)
    case .date(let date): mix(5, date.timeIntervalSinceReferenceDate.bitPattern)
    case .decimal(let number): mix(6, "\(number)")
    case .string(let text): mix(7, text)
    case .uuid(let uuid): mix(8, uuid.uuidString)
    case .uri(let uri): mix(9, uri.absoluteString)
    case .objectID(let id): mix(10, "\(id)")
    case .binary(let data):
      mix(11, UInt64(data.count))
      for byte in data { mix(byte) }
    case .list(let values):
      mix(12, UInt64(values.count))
      for value in values { mix(value) }
    case .composite(let parts):
      mix(13, UInt64(parts.count))
      for name in parts.keys.sorted() {
        mix(name)
        mix(parts[name] ?? .null)
      }
    }
  }

  private mutating func mix(_ kind: UInt8, _ number: UInt64) {
    mix(kind)
    mix(number: number)
  }

  private mutating func mix(_ kind: UInt8, _ text: String) {
    mix(kind)
    mix(text)
  }
}
