internal import ArborModel

/// A search for the keys of the part of a codable value that a key path reads.
///
/// Key paths have no names at run time. Therefore values are created in which one part differs from
/// all others, and the key path is evaluated for each of them. If the result differs, that part was
/// read. This also finds keys whose names differ from those of their properties. It doesn't find
/// parts with only one known value, such as an enumeration that isn't `CaseIterable`.
struct CodableProbe {
  /// A closure that evaluates the key path on a value with the given marks, or returns `nil` if
  /// that isn't possible.
  let read: (BlankDecoder.Marks?) -> Any?

  /// Returns the keys that a key path of a type reads, or `nil` if it isn't a path of parts.
  static func keys<Root, Output>(_ keyPath: KeyPath<Root, Output>) -> [String]? {
    guard let root = Root.self as? any Decodable.Type,
      let output = Output.self as? any Decodable.Type
    else { return nil }
    let probe = CodableProbe { marks in
      BlankDecoder.value(Root.self, marks: marks)?[keyPath: keyPath]
    }
    return probe.keys(of: root, to: output)
  }

  /// Returns the keys from a type to the part of another type that the key path reads, or `nil` if
  /// it isn't a path of parts.
  func keys(of type: any Decodable.Type, to output: any Decodable.Type) -> [String]? {
    let end = CodableType(output).id
    guard value([]) != value(["\0"]) else { return nil }
    var keys: [String] = []
    var part = CodableType(type)
    while case .object(let members, _) = part.structure, keys.count < Self.maximumKeys {
      // A mark makes optionals on its path non-nil, even if its last key doesn't exist.
      let blank = value(keys + ["\0"])
      let found = members.keys.filter { value(keys + [$0]) != blank }
      guard found.count == 1, let key = found.first, let member = members[key] else { return nil }
      keys.append(key)
      if member.type.id == end { return keys }
      part = member.type
    }
    return nil
  }

  /// The maximum number of keys. Only recursive types are nested more deeply.
  private static let maximumKeys = 64

  private func value(_ marks: [String]) -> PropertyValue? {
    read(marks[...]).map { PlainAttribute.value(of: $0) }
  }
}
