package import ArborJSON

extension JSONShape {
  /// A difference between two versions of a structure, at one path.
  public enum Change: Sendable, Hashable {
    /// A part was added. If it is mandatory, objects that lack it prevent a migration.
    case added(JSONShape)
    /// A part is no longer described. Its stored values are kept.
    case removed
    /// The type changed. Stored values that don't fit the new one prevent a migration.
    case typeChanged(from: JSONShape, to: JSONShape)
    /// The part became optional.
    case becameOptional
    /// The part became mandatory.
    case becameMandatory
  }

  /// A change and the path of the changed part.
  package struct PartChange: Sendable, Hashable {
    /// The path: `address.city`, with `[]` for the elements of a list and the members of a map. Empty
    /// for the whole value.
    package let path: String
    package let change: Change
    /// Whether values of the former structure may not fit the new one.
    package let mayMisfit: Bool
  }

  /// Returns the changes to a newer version of the structure.
  ///
  /// - Parameter standard: The attribute's default in the newer version, which supplies missing
  ///   members.
  package func changes(to newer: JSONShape, standard: JSONValue?) -> [PartChange] {
    var changes: [PartChange] = []
    compare(newer, at: "", standard, &changes)
    return changes
  }

  private func compare(
    _ newer: JSONShape, at path: String, _ standard: JSONValue?, _ changes: inout [PartChange]
  ) {
    if isOptional != newer.isOptional, present != .any, newer.present != .any {
      changes.append(
        PartChange(
          path: path, change: newer.isOptional ? .becameOptional : .becameMandatory,
          mayMisfit: !newer.isOptional && standard == nil))
    }
    switch (present, newer.present) {
    case (let before, let after) where before == after: break
    case (.object(let before), .object(let after)):
      for key in Set(before.keys).union(after.keys).sorted() {
        let path = path.isEmpty ? key : "\(path).\(key)"
        let standard = standard?[key]
        switch (before[key], after[key]) {
        case (let former?, let shape?): former.compare(shape, at: path, standard, &changes)
        case (nil, let shape?):
          changes.append(
            PartChange(
              path: path, change: .added(shape), mayMisfit: !shape.isOptional && standard == nil))
        case (_?, nil): changes.append(PartChange(path: path, change: .removed, mayMisfit: false))
        case (nil, nil): break
        }
      }
    case (.list(let before), .list(let after)), (.map(let before), .map(let after)):
      before.compare(after, at: "\(path)[]", nil, &changes)
    case (let before, let after):
      changes.append(
        PartChange(
          path: path, change: .typeChanged(from: before, to: after),
          mayMisfit: after != .any && before.joined(with: after, standard: standard) != after))
    }
  }

  /// Returns a structure that describes the values of both, or `nil` if a part has unrelated types.
  ///
  /// Nothing is known about values of the structure ``any``, so it is unrelated to all others. A part
  /// that every value must have is unrelated to values that lack it.
  ///
  /// - Parameters:
  ///   - other: The structure of a program that opens a store with values of this one.
  ///   - standard: The program's default, which supplies missing members.
  package func joined(with other: JSONShape, standard: JSONValue?) -> JSONShape? {
    let isOptional = isOptional || other.isOptional
    guard let both = joinedPresent(other.present, standard) else { return nil }
    return isOptional ? both.orMissing : both
  }

  private func joinedPresent(_ other: JSONShape, _ standard: JSONValue?) -> JSONShape? {
    switch (present, other) {
    case (let one, let other) where one == other: one
    case (.scalar(let one), .scalar(let two)): one.joined(with: two).map(JSONShape.scalar)
    case (.cases(let one), .cases(let two)):
      Scalar(of: one) == Scalar(of: two)
        ? .cases(one + two.filter { !one.contains($0) }) : nil
    case (.cases(let cases), .scalar(let scalar)), (.scalar(let scalar), .cases(let cases)):
      Scalar(of: cases).joined(with: scalar).map(JSONShape.scalar)
    case (.object(let one), .object(let two)):
      Self.joined(one, two, standard).map(JSONShape.object)
    case (.list(let one), .list(let two)):
      one.joined(with: two, standard: nil).map(JSONShape.list)
    case (.map(let one), .map(let two)): one.joined(with: two, standard: nil).map(JSONShape.map)
    default: nil
    }
  }

  private static func joined(
    _ one: [String: JSONShape], _ two: [String: JSONShape], _ standard: JSONValue?
  ) -> [String: JSONShape]? {
    var all = one.mapValues(\.orMissing)
    for (key, shape) in two {
      let standard = standard?[key]
      guard let known = one[key] else {
        guard shape.isOptional || standard != nil else { return nil }
        all[key] = shape
        continue
      }
      guard let both = known.joined(with: shape, standard: standard) else { return nil }
      all[key] = both
    }
    return all
  }

  /// Returns this structure with the parts that only a former version describes, as optional ones:
  /// their values may still be stored.
  package func keeping(_ former: JSONShape) -> JSONShape {
    let kept: JSONShape =
      switch (present, former.present) {
      case (.object(let members), .object(let before)):
        .object(
          before.mapValues(\.orMissing)
            .merging(members.map { ($0, before[$0].map($1.keeping) ?? $1) }) { $1 })
      case (.list(let element), .list(let before)): .list(element.keeping(before))
      case (.map(let member), .map(let before)): .map(member.keeping(before))
      default: present
      }
    return isOptional ? kept.orMissing : kept
  }
}

extension JSONShape.Scalar {
  /// Returns the narrowest type with the values of both, or `nil` if they are unrelated or a program
  /// with one type could change values of the other in silence.
  fileprivate func joined(with other: Self) -> Self? {
    switch (self, other) {
    case (let one, let two) where one == two: return one
    case (.integer(let bits, let isSigned), .integer(let otherBits, let otherIsSigned)):
      if isSigned == otherIsSigned {
        return .integer(bits: max(bits, otherBits), isSigned: isSigned)
      }
      let (signed, unsigned) = isSigned ? (bits, otherBits) : (otherBits, bits)
      return .integer(bits: min(max(signed, unsigned * 2), 128), isSigned: true)
    // Larger integers, and numbers of the other floating-point types, would lose digits when they are
    // written again.
    case (.integer(let bits, _), .double), (.double, .integer(let bits, _)):
      return bits <= 32 ? .double : nil
    case (.integer(let bits, _), .decimal), (.decimal, .integer(let bits, _)):
      return bits <= 64 ? .decimal : nil
    case (let one, let two) where one.isText && two.isText: return .string
    default: return nil
    }
  }

  private var isText: Bool {
    switch self {
    case .string, .uuid, .uri, .binary: true
    default: false
    }
  }
}

// MARK: Digests

extension JSONShape {
  /// The structure without parts that may be missing or that a default supplies.
  fileprivate func required(standard: JSONValue?) -> JSONShape {
    switch present {
    case .object(let members):
      var required: [String: JSONShape] = [:]
      for (key, member) in members where !member.isOptional {
        let supplied = standard?[key]
        let inner = member.required(standard: supplied)
        if supplied == nil || inner.hasMembers { required[key] = inner }
      }
      return .object(required)
    case .list(let element): return .list(element.required(standard: nil))
    case .map(let member): return .map(member.required(standard: nil))
    default: return present
    }
  }

  private var hasMembers: Bool {
    if case .object(let members) = self { !members.isEmpty } else { false }
  }
}

extension WideHash {
  /// Mixes in what every stored value of a structure must have: mandatory parts that the attribute's
  /// default doesn't supply. Other parts can be added and removed without changing the model's
  /// fingerprint, so that programs with and without them can use the same store.
  mutating func mix(required shape: JSONShape?, standard: PropertyValue) {
    mix(families: shape?.required(standard: standard.json) ?? .any)
  }

  private mutating func mix(families shape: JSONShape) {
    switch shape {
    case .any, .optional: mix(UInt8(0))
    case .scalar(let scalar): mix(scalar.family)
    case .cases(let cases): mix(JSONShape.Scalar(of: cases).family)
    case .object(let members):
      mix(UInt8(ascii: "{"))
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        mix(key)
        mix(families: member)
      }
      mix(UInt8(ascii: "}"))
    case .list(let element):
      mix(UInt8(ascii: "["))
      mix(families: element)
    case .map(let member):
      mix(UInt8(ascii: "<"))
      mix(families: member)
    }
  }
}

extension JSONShape.Scalar {
  /// A code that types share if values of one are also values of the other, possibly of another
  /// size.
  fileprivate var family: UInt8 {
    switch self {
    case .boolean: 1
    case .integer: 2
    case .float: 3
    case .double: 9
    case .decimal: 10
    case .string: 4
    case .uuid: 5
    case .uri: 6
    case .date: 7
    case .binary: 8
    }
  }
}
