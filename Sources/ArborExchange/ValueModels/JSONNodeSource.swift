import ArborFoundation
import ArborJSON
import ArborModel

/// The state shared by all values decoded from one document.
final class JSONReading: ModelSession {
  let shapes = ModelShapes()
}

/// A JSON value to decode.
struct JSONNodeSource: ValueModelSource {
  /// The value at one of several paths.
  struct Part {
    let path: JSONMemberPath
    let node: JSONNode
  }

  let node: JSONNode
  /// The values that are present, for a property of several paths; otherwise `nil`. For such a
  /// property, `node` is the enclosing object.
  var parts: [Part]?

  init(_ node: JSONNode, parts: [Part]? = nil) {
    self.node = node
    self.parts = parts
  }

  private var value: JSONNode { parts?.first?.node ?? node }

  static var mismatch: ArborError.Code { .invalidDocument }
  static func transformer(_ key: String, of traits: ModelTraits) -> JSONTransformer? {
    traits.isPlainJSON ? nil : traits.jsonTransformers[key]
  }

  var isNull: Bool { value.isNull && (parts?.count ?? 1) == 1 }

  func raw() -> JSONValue {
    guard let parts else { return node.value }
    var object = JSONObject()
    for part in parts { object[part.path.text] = part.node.value }
    return .object(object)
  }

  func boolean() throws -> Bool {
    guard let flag = value.bool else { throw mismatch("true or false") }
    return flag
  }

  func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    if let number = value.int64, let integer = T(exactly: number) { return integer }
    if let number = value.number?.uint64, let integer = T(exactly: number) { return integer }
    throw mismatch(ModelExpectation.integer(type))
  }

  func floating<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T {
    if let number = value.double {
      let floating = T(number)
      if floating.isFinite { return floating }
    }
    throw mismatch(ModelExpectation.floating(type))
  }

  func string() throws -> String {
    guard let text = value.string else { throw mismatch("a string") }
    return text
  }

  func decimal() throws -> Decimal {
    guard let number = value.number?.decimal else { throw mismatch(ModelExpectation.decimal) }
    return number
  }

  func date() throws -> Date { try text(ModelExpectation.date, ISO8601Date.parse) }
  func data() throws -> Data { try text(ModelExpectation.data) { Data(base64Encoded: $0) } }
  func url() throws -> URL {
    try text(ModelExpectation.url) { URL(string: $0) }
  }
  func uuid() throws -> UUID { try text(ModelExpectation.uuid) { UUID(uuidString: $0) } }

  private func text<T>(_ expectation: String, _ parse: (String) -> T?) throws -> T {
    guard let text = value.string else { throw mismatch(expectation) }
    guard let parsed = parse(text) else { throw mismatch(expectation, .unparsableValue) }
    return parsed
  }

  /// Returns the value unchanged, with all digits of its numbers, if the type is `JSONValue`;
  /// otherwise `nil`.
  func special<T: Decodable>(_ type: T.Type, _ shape: ModelShape) throws -> T? {
    type == JSONValue.self ? raw() as? T : nil
  }

  func elements() throws -> [JSONNodeSource] {
    guard let elements = value.elements else { throw mismatch("a list") }
    return elements.map { JSONNodeSource($0) }
  }

  func demandMembers() throws {
    guard node.kind == .object else { throw mismatch("an object") }
  }

  func keys() -> [String] {
    parts?.map { $0.path.names.last ?? "" } ?? node.members?.map(\.key) ?? []
  }

  func member(
    _ key: String, as type: Any.Type?, of traits: ModelTraits?, _ session: JSONReading,
    cursor: inout Int
  ) throws -> JSONNodeSource? {
    if let parts { return part(key, of: parts) }
    guard let traits, !traits.isPlainJSON else {
      return node.member(key, cursor: &cursor).map { JSONNodeSource($0) }
    }
    let path = traits.jsonKeyPaths[key]
    if let name = path.onlyName {
      return node.member(name, cursor: &cursor).map { JSONNodeSource($0) }
    }
    if path.ways.count == 1 { return try end(of: path.ways[0]).map { JSONNodeSource($0) } }
    guard !path.ways.isEmpty else { return nil }
    let parts = try path.ways.compactMap { way in
      try end(of: way).map { Part(path: way, node: $0) }
    }
    return parts.isEmpty ? nil : JSONNodeSource(node, parts: parts)
  }

  private func part(_ key: String, of parts: [Part]) -> JSONNodeSource? {
    let part =
      parts.first { $0.path.text == key } ?? parts.first { $0.path.names.last == key }
    return part.map { JSONNodeSource($0.node) }
  }

  private func end(of path: JSONMemberPath) throws -> JSONNode? {
    if let key = path.wholeKey, let value = node.member(key) { return value }
    var node = node
    for name in path.names {
      if node.isNull { return node }
      let isIndexed = node.kind == .array && JSONMemberPath.index(name) != nil
      guard isIndexed || node.kind == .object else {
        throw JSONNodeSource(node).fault(
          "The path \(path.text) requires an object here, but the document contains \(node.kind). "
            + "Correct the path or the document.", .invalidPath)
      }
      guard let next = node.child(name) else { return nil }
      node = next
    }
    return node
  }

  func makesPlainly(_ traits: ModelTraits) -> Bool {
    traits.choosesNoTypeForJSON == true && traits.validatesNothing == true
  }

  func model<M: ValueModel>(
    _ type: M.Type, _ traits: ModelTraits, _ decoder: ModelDecoder<JSONNodeSource>
  ) throws -> M {
    guard traits.choosesNoTypeForJSON != true else {
      return try traits.validate(try decoder.initialize(type))
    }
    let json = raw()
    let chosen: (any ValueModel.Type)? = ModelHook.call(noting: &traits.choosesNoTypeForJSON) {
      M.modelType(for: json)
    }
    guard let chosen else {
      throw fault(
        "modelType(for:) of \(M.self) returned nil for this object. Return a type, or correct the "
          + "object.", .noModelType)
    }
    let chosenTraits = decoder.session.shapes.traits(of: chosen)
    let decoder = ModelDecoder(
      self, decoder.session, traits: chosenTraits, parent: decoder.parent, key: decoder.key)
    func make<Chosen: ValueModel>(_ type: Chosen.Type) throws -> M? {
      guard type is M.Type else { return nil }
      return try chosenTraits.validate(try decoder.initialize(type)) as? M
    }
    guard let model = try make(chosen) else {
      throw fault(
        "modelType(for:) of \(M.self) returned \(chosen) for this object. Return \(M.self) or a "
          + "subclass of it.", .noModelType)
    }
    return model
  }

  /// Returns the error for a value that doesn't have the requested type.
  private func mismatch(
    _ expectation: String, _ code: ArborError.Code = Self.mismatch
  ) -> ArborError {
    fault("Expected \(expectation) for the property, but found \(value.kind).", code)
  }

  func fault(_ message: String, _ code: ArborError.Code) -> ArborError {
    value.error(message, code: code).with(offending: value.value.text())
  }
}
