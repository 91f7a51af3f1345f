internal import ArborModel

/// Finds the keys of the part of a codable value that a key path reads.
///
/// A key path has no names at run time. So values are made of which one part differs from all
/// others, and the key path is asked for each: where the result differs, that part was read. Keys
/// that are named otherwise than their properties are found as well. A part of which only one value
/// is known, such as an enumeration that is not `CaseIterable`, cannot differ and is not found.
struct CodableProbe {
  /// Reads the key path of a value with these marks; nil where that cannot be done.
  let read: (BlankDecoder.Marks?) -> Any?

  /// The keys that a key path of a type's values reads; nil where it is no path of parts.
  static func keys<Root, Output>(_ keyPath: KeyPath<Root, Output>) -> [String]? {
    guard let root = Root.self as? any Decodable.Type,
      let output = Output.self as? any Decodable.Type
    else { return nil }
    let probe = CodableProbe { marks in
      BlankDecoder.value(Root.self, marks: marks)?[keyPath: keyPath]
    }
    return probe.keys(of: root, to: output)
  }

  /// The keys that lead from a type to the part of another that the key path reads; nil where it is
  /// no path of parts.
  func keys(of type: any Decodable.Type, to output: any Decodable.Type) -> [String]? {
    let end = CodableType(output).parts.id
    guard value([]) != value(["\0"]) else { return nil }
    var keys: [String] = []
    var parts = CodableType(type).parts
    while case .object(let members, _) = parts.shape, keys.count < Self.mostKeys {
      // What is optional is there on the way to a key, be it one that does not exist.
      let blank = value(keys + ["\0"])
      let found = members.keys.filter { value(keys + [$0]) != blank }
      guard found.count == 1, let key = found.first, let member = members[key] else { return nil }
      keys.append(key)
      if member.id == end { return keys }
      parts = member
    }
    return nil
  }

  /// No type nests deeper, unless it contains itself.
  private static let mostKeys = 64

  private func value(_ marks: [String]) -> PropertyValue? {
    read(marks[...]).map { PlainAttribute.value(of: $0) }
  }
}
