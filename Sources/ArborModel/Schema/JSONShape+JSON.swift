internal import ArborFoundation
package import ArborJSON

// A structure is written in models as JSON: a scalar as its type's name, an object as an object, any
// other structure as an array that begins with a word. `?` marks what may be missing.
//
// ```json
// {"city": "string", "zip": "string?", "tags": ["list", "string"], "mood": ["cases", "calm", "wild"]}
// ```

extension JSONShape {
  package var json: JSONValue {
    switch self {
    case .any: .string("any")
    case .scalar(let scalar): .string(scalar.name)
    case .optional(.scalar(let scalar)): .string(scalar.name + "?")
    case .optional(let shape): .array([.string("optional"), shape.json])
    case .list(let element): .array([.string("list"), element.json])
    case .map(let member): .array([.string("map"), member.json])
    case .cases(let cases): .array([.string("cases")] + cases.compactMap(\.json))
    case .object(let members):
      .object(
        members.sorted { $0.key < $1.key }
          .reduce(into: JSONObject()) { $0[$1.key] = $1.value.json })
    }
  }

  /// Creates a structure from the text of its JSON form, or returns `nil` if the text isn't one.
  package init?(text: String) {
    guard let document = try? JSONDocument(Data(text.utf8)),
      case .success(let shape) = Self.read(document.root)
    else { return nil }
    self = shape
  }

  /// The maximum number of levels of a structure. With a mark of optionality on each, it still has
  /// fewer levels in a model file than readers of JSON accept.
  package static let maximumLevels = 60

  /// The number of objects, lists and maps that contain each other, and of the value inside them.
  package var levels: Int {
    switch self {
    case .any, .scalar, .cases: 1
    case .optional(.optional(let shape)): 1 + shape.levels
    case .optional(let shape): shape.levels
    case .list(let shape), .map(let shape): 1 + shape.levels
    case .object(let members): 1 + (members.values.lazy.map(\.levels).max() ?? 0)
    }
  }

  /// The features because of which a model cannot contain the structure, or `nil` if it can.
  var flaw: String? {
    guard levels <= Self.maximumLevels else {
      return "more than \(Self.maximumLevels) levels. Use “any” for an inner part."
    }
    return hasMixedCases ? "cases that are not all strings or all integers. Correct them." : nil
  }

  private var hasMixedCases: Bool {
    switch self {
    case .any, .scalar: false
    case .cases(let cases): !Self.isEnumeration(cases)
    case .list(let shape), .map(let shape), .optional(let shape): shape.hasMixedCases
    case .object(let members): members.values.contains(where: \.hasMixedCases)
    }
  }

  /// Reads a structure from its JSON form. On failure, returns the part that isn't one.
  package static func read(
    _ node: JSONNode, depth: Int = 0
  ) -> Result<JSONShape, MalformedPart> {
    guard depth < maximumLevels else { return .failure(MalformedPart(node: node)) }
    switch node.kind {
    case .string:
      guard let text = node.string, let shape = scalar(named: text) else { break }
      return .success(shape)
    case .object:
      var members: [String: JSONShape] = [:]
      for member in node.members ?? [] {
        switch read(member.value, depth: depth + 1) {
        case .success(let shape): members[member.key] = shape
        case .failure(let part): return .failure(part)
        }
      }
      return .success(.object(members))
    case .array:
      let elements = node.elements ?? []
      guard let word = elements.first?.string else { break }
      if word == "cases" {
        let cases = elements.dropFirst().map { PropertyValue(json: $0.value) ?? .null }
        guard isEnumeration(cases) else { break }
        return .success(.cases(cases))
      }
      guard elements.count == 2, let wrap = wrappers[word] else { break }
      return read(elements[1], depth: word == "optional" ? depth : depth + 1).map(wrap)
    default: break
    }
    return .failure(MalformedPart(node: node))
  }

  package struct MalformedPart: Error {
    package let node: JSONNode
  }

  private static let wrappers: [String: @Sendable (JSONShape) -> JSONShape] = [
    "list": JSONShape.list, "map": JSONShape.map, "optional": JSONShape.optional,
  ]

  /// Returns whether values can be the raw values of one enumeration: only strings, or only integers.
  package static func isEnumeration(_ cases: [PropertyValue]) -> Bool {
    !cases.isEmpty && cases.allSatisfy { $0.string != nil }
      || !cases.isEmpty && cases.allSatisfy { if case .integer = $0 { true } else { false } }
  }

  private static func scalar(named text: String) -> JSONShape? {
    if text == "any" { return .any }
    let isOptional = text.hasSuffix("?")
    guard let scalar = Scalar(named: isOptional ? String(text.dropLast()) : text) else {
      return nil
    }
    return isOptional ? .optional(.scalar(scalar)) : .scalar(scalar)
  }
}

extension JSONShape.Scalar {
  fileprivate var name: String {
    switch self {
    case .boolean: "boolean"
    case .integer(let bits, let isSigned): "\(isSigned ? "integer" : "unsigned")\(bits)"
    case .float: "float"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .uuid: "uuid"
    case .uri: "uri"
    case .date: "date"
    case .binary: "binary"
    }
  }

  fileprivate init?(named name: String) {
    guard let found = Self.all.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// All scalars that models can name.
  package static let all: [Self] =
    [8, 16, 32, 64, 128].flatMap { bits in
      [.integer(bits: bits, isSigned: true), .integer(bits: bits, isSigned: false)]
    } + [.boolean, .float, .double, .decimal, .string, .uuid, .uri, .date, .binary]
}
