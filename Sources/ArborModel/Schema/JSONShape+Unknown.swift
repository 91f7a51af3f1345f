package import ArborJSON

/// Members of objects that a structure doesn't name: a newer version of the program knows them.
extension JSONShape {
  /// Returns a new value with those members of the stored one that the structure doesn't name.
  ///
  /// An element of a list continues the stored element that is equal in everything the structure
  /// names. If the number of elements is unchanged, a changed element continues the one at its
  /// position.
  package func keepingUnknown(of stored: JSONValue, in value: JSONValue) -> JSONValue {
    switch (present, value, stored) {
    case (.object(let shapes), .object(var members), .object(let before)):
      for (key, former) in before {
        if let shape = shapes[key] {
          members[key] = members[key].map { shape.keepingUnknown(of: former, in: $0) }
        } else if members[key] == nil {
          members[key] = former
        }
      }
      return .object(members)
    case (.map(let shape), .object(var members), .object(let before)):
      for (key, former) in before {
        members[key] = members[key].map { shape.keepingUnknown(of: former, in: $0) }
      }
      return .object(members)
    case (.list(let shape), .array(let elements), .array(let before)) where shape.hasObjects:
      return .array(shape.keepingUnknown(of: before, in: elements))
    default: return value
    }
  }

  private func keepingUnknown(of stored: [JSONValue], in elements: [JSONValue]) -> [JSONValue] {
    var positions: [[UInt8]: [Int]] = [:]
    for (position, former) in stored.enumerated().reversed() {
      positions[known(in: former).canonicalBytes, default: []].append(position)
    }
    var rest = Set(stored.indices)
    let partners = elements.map { element -> Int? in
      let partner = positions[element.canonicalBytes]?.popLast()
      if let partner { rest.remove(partner) }
      return partner
    }
    let isSameCount = elements.count == stored.count
    return elements.enumerated().map { position, element in
      if let partner = partners[position] {
        keepingUnknown(of: stored[partner], in: element)
      } else if isSameCount, rest.contains(position) {
        keepingUnknown(of: stored[position], in: element)
      } else {
        element
      }
    }
  }

  /// Returns a value without the members that the structure doesn't name.
  private func known(in value: JSONValue) -> JSONValue {
    switch (present, value) {
    case (.object(let shapes), .object(let members)):
      .object(
        members.reduce(into: JSONObject()) { known, member in
          if let shape = shapes[member.key] { known[member.key] = shape.known(in: member.value) }
        })
    case (.map(let shape), .object(let members)):
      .object(members.reduce(into: JSONObject()) { $0[$1.key] = shape.known(in: $1.value) })
    case (.list(let shape), .array(let elements)): .array(elements.map(shape.known))
    default: value
    }
  }

  /// Whether values contain objects with named members, so that they may also have others.
  package var hasObjects: Bool {
    switch present {
    case .object: true
    case .list(let shape), .map(let shape): shape.hasObjects
    case .any, .scalar, .cases, .optional: false
    }
  }
}
