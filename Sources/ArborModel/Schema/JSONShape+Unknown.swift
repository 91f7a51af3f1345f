package import ArborJSON

extension JSONShape {
  /// Returns a value without the members that the structure doesn't name.
  package func known(in value: JSONValue) -> JSONValue {
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
  package var mayHaveUnknown: Bool {
    switch present {
    case .object, .any: true
    case .list(let shape), .map(let shape): shape.mayHaveUnknown
    case .scalar, .cases, .optional: false
    }
  }

  /// Whether the structure of a part is unknown.
  package var containsAny: Bool {
    switch present {
    case .any: true
    case .object(let members): members.values.contains(where: \.containsAny)
    case .list(let shape), .map(let shape): shape.containsAny
    case .scalar, .cases, .optional: false
    }
  }
}

extension JSONValue {
  /// Returns the value with those members of a stored one that the program doesn't know, because
  /// another version of it has written them.
  ///
  /// An element of a list continues the stored element that is equal in everything the program knows.
  /// If the number of elements is unchanged, a changed element continues the one at its position.
  ///
  /// - Parameter known: The stored value without these members.
  package func keepingUnknown(of stored: JSONValue, known: JSONValue) -> JSONValue {
    switch (self, stored, known) {
    case (.object(var members), .object(let before), .object(let known)):
      for (key, former) in before {
        if let known = known[key] {
          members[key] = members[key].map { $0.keepingUnknown(of: former, known: known) }
        } else if members[key] == nil {
          members[key] = former
        }
      }
      return .object(members)
    case (.array(let elements), .array(let before), .array(let known)):
      // The elements of sets may have been encoded in another order.
      guard before != known, before.count == known.count,
        zip(before, known).allSatisfy({ $0.contains($1) })
      else { return self }
      return .array(Self.keepingUnknown(of: before, known: known, in: elements))
    default: return self
    }
  }

  private static func keepingUnknown(
    of stored: [JSONValue], known: [JSONValue], in elements: [JSONValue]
  ) -> [JSONValue] {
    var positions: [[UInt8]: [Int]] = [:]
    for (position, value) in known.enumerated().reversed() {
      positions[value.canonicalBytes, default: []].append(position)
    }
    var rest = Set(stored.indices)
    let partners = elements.map { element -> Int? in
      let partner = positions[element.canonicalBytes]?.popLast()
      if let partner { rest.remove(partner) }
      return partner
    }
    let isSameCount = elements.count == stored.count
    return elements.enumerated().map { position, element in
      let partner = partners[position] ?? (isSameCount && rest.contains(position) ? position : nil)
      guard let partner else { return element }
      return element.keepingUnknown(of: stored[partner], known: known[partner])
    }
  }

  /// Returns whether the value has everything that another one has, and possibly further members.
  private func contains(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.object(let members), .object(let others)):
      others.allSatisfy { key, other in members[key]?.contains(other) ?? false }
    case (.array(let elements), .array(let others)):
      elements.count == others.count && zip(elements, others).allSatisfy { $0.contains($1) }
    default: self == other
    }
  }
}
