public import ArborModel

extension ManagedObject {
  /// The value that a path of names leads to: `company.companyName`.
  ///
  /// A path through nil gives null. A path through a to-many relationship gives the list of what it
  /// leads to from each member; `@count` at its end gives their number.
  ///
  /// - Throws: ``ArborError`` `unknownName` for a name that is none, `typeMismatch` where the path
  ///   goes on behind an attribute.
  public final func value(forKeyPath path: String) throws(ArborError) -> Value {
    try value(forNames: path.split(separator: ".", omittingEmptySubsequences: false)[...], of: path)
  }

  private final func value(
    forNames names: ArraySlice<Substring>, of path: String
  ) throws(ArborError) -> Value {
    let key = String(names.first ?? "")
    let rest = names.dropFirst()
    guard let next = rest.first else { return try value(forKey: key) }
    guard case .relationship(let relationship) = binding.entity.property(named: key) else {
      // Names the unknown one; else the path goes on behind an attribute.
      _ = try value(forKey: key)
      throw ArborError(
        .typeMismatch,
        "\(key) in the key path is an attribute of \(binding.entity.name), which nothing follows."
      ).with(entity: binding.entity.name, objectID: objectID, keyPath: path)
    }
    guard relationship.isToMany else {
      guard let target = try object(forKey: key) else { return .null }
      return try target.value(forNames: rest, of: path)
    }
    if next == "@count", rest.count == 1 { return .integer(Int64(try count(forKey: key))) }
    var values: [Value] = []
    for member in try objects(forKey: key) {
      values.append(try member.value(forNames: rest, of: path))
    }
    return .list(values)
  }
}
