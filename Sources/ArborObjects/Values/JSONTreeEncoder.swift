internal import ArborFoundation
internal import ArborJSON
internal import ArborModel

extension JSONValue {
  /// Encodes a `Codable` value in such a way that equal values have equal bytes: the elements of
  /// sets and the entries of dictionaries are in the order of their canonical bytes.
  ///
  /// `JSONEncoder` doesn't suffice, because its output doesn't show which arrays were sets.
  ///
  /// - Parameter notANumber: The string that represents NaN.
  /// - Throws: The errors of the type, and `EncodingError` for a value that is nested too deeply or
  ///   encodes nothing.
  init(encoding value: some Encodable, notANumber: String) throws {
    let encoder = JSONTreeEncoder(tree: JSONTree(), notANumber: notANumber, codingPath: [])
    try encoder.encode(value)
    guard let json = encoder.tree.json else {
      throw encoder.error(value, "The value doesn't encode anything.")
    }
    self = json
  }
}

/// The encoded form of one value, while it is being encoded.
private final class JSONTree {
  private enum Content {
    case nothing
    case value(JSONValue)
    case array([JSONTree])
    case object([String: JSONTree])
  }

  private var content = Content.nothing

  /// The value, or `nil` if nothing has been encoded.
  var json: JSONValue? {
    get {
      switch content {
      case .nothing: nil
      case .value(let value): value
      case .array(let parts): .array(parts.map(\.part))
      case .object(let parts): .object(JSONObject(distinct: parts.map { ($0, $1.part) }))
      }
    }
    set { content = newValue.map(Content.value) ?? .nothing }
  }

  /// The value as part of another one. A part that encodes nothing is an empty object, as with
  /// `JSONEncoder`.
  private var part: JSONValue { json ?? .object([:]) }

  var count: Int { if case .array(let parts) = content { parts.count } else { 0 } }

  func becomeArray() {
    if case .array = content { return }
    content = .array([])
  }

  func becomeObject() {
    if case .object = content { return }
    content = .object([:])
  }

  /// Appends an element to an array.
  func append() -> JSONTree {
    let part = JSONTree()
    if case .array(var parts) = content {
      content = .nothing
      parts.append(part)
      content = .array(parts)
    }
    return part
  }

  /// Returns the member of an object with a key. Encoding a key again replaces its value. Members have
  /// no order, because the canonical form sorts them.
  func member(_ key: String) -> JSONTree {
    guard case .object(var parts) = content else { return JSONTree() }
    if let part = parts[key] { return part }
    let part = JSONTree()
    content = .nothing
    parts[key] = part
    content = .object(parts)
    return part
  }
}

private struct JSONTreeEncoder: Encoder {
  let tree: JSONTree
  let notANumber: String
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The depth that readers of JSON accept.
  private static let maximumDepth = JSONLimits().maximumDepth

  /// Returns an encoder of a part of the value.
  func part(_ tree: JSONTree, _ key: any CodingKey) -> JSONTreeEncoder {
    JSONTreeEncoder(tree: tree, notANumber: notANumber, codingPath: codingPath + [key])
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    tree.becomeObject()
    return KeyedEncodingContainer(JSONTreeObject(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    tree.becomeArray()
    return JSONTreeArray(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { JSONTreeScalar(encoder: self) }

  func encode<T: Encodable>(_ value: T) throws {
    switch value {
    case let flag as Bool: tree.json = .bool(flag)
    case let text as String: tree.json = .string(text)
    case let number as any FixedWidthInteger: encode(integer: number)
    case let number as Double: encode(real: number)
    case let number as Float: encode(real: number)
    case let number as Decimal:
      tree.json = JSONNumber(number).map(JSONValue.number) ?? .string(notANumber)
    case let date as Date: encode(real: date.timeIntervalSinceReferenceDate)
    case let data as Data: tree.json = .string(data.base64EncodedString())
    case let url as URL: tree.json = .string(url.absoluteString)
    case let json as JSONValue:
      guard PropertyValue(json: json) != nil else {
        throw error(value, "The JSON has too many levels or a number out of range.")
      }
      tree.json = json
    case let set as any UnorderedElements:
      let elements = try set.encodableElements.map(json)
      tree.json = .array(elements.sorted(byBytesOf: { $0 }))
    case let map as any UnorderedPairs where map.isEncodedAsList:
      let pairs = try map.encodablePairs.map { [try json($0.key), try json($0.value)] }
      tree.json = .array(pairs.sorted(byBytesOf: { $0[0] }).flatMap { $0 })
    default:
      guard codingPath.count < Self.maximumDepth else {
        throw error(value, "The value has more than \(Self.maximumDepth) levels.")
      }
      try value.encode(to: self)
    }
  }

  /// Returns the JSON of an element that has no place of its own yet.
  private func json(_ element: any Encodable) throws -> JSONValue {
    let encoder = part(JSONTree(), JSONTreeKey(index: 0))
    try encoder.encode(element)
    return encoder.tree.json ?? .object([:])
  }

  func encode<Number: BinaryFloatingPoint>(real number: Number) {
    // The shortest digits that denote the number among all of its type.
    tree.json =
      JSONNumber(text: "\(number)").map(JSONValue.number)
      ?? .string(number.isNaN ? notANumber : number > 0 ? "Infinity" : "-Infinity")
  }

  func encode(integer number: some BinaryInteger) {
    tree.json = .number(JSONNumber(checked: String(number)))
  }

  func error(_ value: Any, _ message: String) -> EncodingError {
    .invalidValue(value, .init(codingPath: codingPath, debugDescription: message))
  }
}

extension Array {
  /// Returns the elements in the order of the canonical bytes of a JSON value of each.
  fileprivate func sorted(byBytesOf key: (Element) -> JSONValue) -> [Element] {
    map { (bytes: key($0).canonicalBytes, element: $0) }
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      .map(\.element)
  }
}

private struct JSONTreeKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }
  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }
  init?(intValue: Int) { self.init(index: intValue) }
}

private struct JSONTreeObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: JSONTreeEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func part(_ key: any CodingKey) -> JSONTreeEncoder {
    encoder.part(encoder.tree.member(key.stringValue), key)
  }

  func encodeNil(forKey key: Key) { part(key).tree.json = .null }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try part(key).encode(value) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    part(key).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    part(key).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { part(JSONTreeKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { part(key) }
}

private struct JSONTreeArray: UnkeyedEncodingContainer {
  let encoder: JSONTreeEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.tree.count }

  private func next() -> JSONTreeEncoder {
    let key = JSONTreeKey(index: count)
    return encoder.part(encoder.tree.append(), key)
  }

  func encodeNil() { next().tree.json = .null }
  func encode<T: Encodable>(_ value: T) throws { try next().encode(value) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    next().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
  func superEncoder() -> any Encoder { next() }
}

private struct JSONTreeScalar: SingleValueEncodingContainer {
  let encoder: JSONTreeEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.tree.json = .null }
  func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }
}

/// A collection whose elements are in the order of a hash table.
private protocol UnorderedElements {
  var encodableElements: [any Encodable] { get }
}

extension Set: UnorderedElements where Element: Encodable {
  fileprivate var encodableElements: [any Encodable] { Array(self) }
}

/// A dictionary, whose entries are in the order of a hash table.
private protocol UnorderedPairs {
  /// Whether the dictionary is encoded as a list of keys and values rather than as an object.
  var isEncodedAsList: Bool { get }
  var encodablePairs: [(key: any Encodable, value: any Encodable)] { get }
}

extension Dictionary: UnorderedPairs where Key: Encodable, Value: Encodable {
  fileprivate var isEncodedAsList: Bool {
    Key.self != String.self && Key.self != Int.self
      && !(Key.self is any CodingKeyRepresentable.Type)
  }
  fileprivate var encodablePairs: [(key: any Encodable, value: any Encodable)] {
    map { ($0.key, $0.value) }
  }
}
