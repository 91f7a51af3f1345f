public import ArborModel

extension ManagedObject {
  /// Returns the value at a path of names: `company.companyName`, `address.city`.
  ///
  /// A path through `nil` yields null. A path through a to-many relationship yields the list of
  /// values from each member, or the number of members if it ends in `@count`. A composite
  /// attribute is followed by the names of its parts, an attribute of a `Codable` type by the keys
  /// of its JSON.
  ///
  /// - Throws: ``ArborError`` `unknownName` if a name doesn't exist, `typeMismatch` if the path
  ///   continues after an attribute without parts.
  public final func value(forKeyPath path: String) throws(ArborError) -> PropertyValue {
    try value(forNames: path.split(separator: ".", omittingEmptySubsequences: false)[...], of: path)
  }

  private final func value(
    forNames names: ArraySlice<Substring>, of path: String
  ) throws(ArborError) -> PropertyValue {
    let key = String(names.first ?? "")
    let rest = names.dropFirst()
    guard let next = rest.first else { return try value(forKey: key) }
    guard case .relationship(let relationship) = binding.entity.property(named: key) else {
      // Throws if the name is unknown. Otherwise the path continues after an attribute.
      let value = try self.value(forKey: key)
      if let part = try part(of: value, key, rest, of: path) { return part }
      throw ArborError(
        .typeMismatch,
        "\(key) in the key path is an attribute of \(binding.entity.name) and cannot be followed "
          + "by another name."
      ).with(entity: binding.entity.name, objectID: objectID, keyPath: path)
    }
    guard relationship.isToMany else {
      guard let target = try object(forKey: key) else { return .null }
      return try target.value(forNames: rest, of: path)
    }
    if next == "@count", rest.count == 1 {
      return .integer(Int64(try objects(forKey: key).count()))
    }
    return .list(
      try objects(forKey: key).fetch().map { (member) throws(ArborError) in
        try member.value(forNames: rest, of: path)
      })
  }

  /// Returns a part of the value of a composite or JSON attribute, or `nil` if the attribute
  /// has no parts.
  private final func part(
    of value: PropertyValue, _ key: String, _ names: ArraySlice<Substring>, of path: String
  ) throws(ArborError) -> PropertyValue? {
    guard case .attribute(let attribute) = binding.entity.property(named: key) else { return nil }
    if attribute.description.type == .json {
      do throws(ArborError) {
        return try CodablePath(names: names.map(String.init), of: attribute.description)
          .value(of: value)
      } catch {
        throw ArborError(.unknownName, error.message)
          .with(entity: binding.entity.name, objectID: objectID, keyPath: path)
      }
    }
    var type = attribute.description.type
    var value = value
    for name in names {
      switch type {
      case .composite(let typeName):
        let composites = binding.schema.model.composites
        guard let composite = composites.first(where: { $0.name == typeName }) else { return nil }
        guard let part = composite.attributes.first(where: { $0.name == name }) else {
          throw ArborError(
            .unknownName,
            "\(composite.name) has no part \"\(name)\"."
              + NearestName.hint(String(name), in: composite.attributes.map(\.name))
          ).with(entity: binding.entity.name, objectID: objectID, keyPath: path)
        }
        type = part.type
      // The available parts are known only from the value.
      case .undefined: break
      default: return nil
      }
      if case .composite(let parts) = value {
        value = parts[String(name)] ?? .null
      } else {
        value = .null
      }
    }
    return value
  }
}
