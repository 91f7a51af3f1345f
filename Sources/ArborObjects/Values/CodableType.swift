internal import ArborFoundation
internal import ArborLocks
internal import ArborModel

/// A codable type, and the structure of the JSON that it decodes.
///
/// `@unchecked` because a metatype could carry an actor-isolated conformance across threads.
/// Attribute types are decoded on arbitrary threads in any case.
struct CodableType: @unchecked Sendable {
  let type: any Decodable.Type

  /// Creates the codable type, unwrapping optionals.
  init(_ type: any Decodable.Type) {
    var plain = type
    while let optional = plain as? any OptionalValue.Type,
      let wrapped = optional.wrappedType as? any Decodable.Type
    {
      plain = wrapped
    }
    self.type = plain
  }

  /// What the type requests from a decoder.
  enum Structure: Sendable {
    case scalar(JSONShape.Scalar)
    /// The raw values of an enumeration that lists its cases.
    case cases([PropertyValue])
    /// An object with a member for each key. `isComplete` is `false` if the search for keys ended
    /// early, because the type rejects zero and empty values.
    case object([String: Member], isComplete: Bool)
    case list(CodableType)
    case map(CodableType)
    /// A type that doesn't reveal its structure.
    case opaque
  }

  /// A member of an object.
  struct Member: Sendable {
    let type: CodableType
    /// Whether the value may be null or missing.
    var isOptional: Bool
  }

  private static let known = Lock<[ObjectIdentifier: Structure]>([:])
  private static let knownShapes = Lock<[ObjectIdentifier: JSONShape]>([:])

  var id: ObjectIdentifier { ObjectIdentifier(type) }

  /// The structure of the values. Determined once per process.
  var structure: Structure {
    if let known = Self.known.withLock({ $0[id] }) { return known }
    let structure = findStructure()
    Self.known.withLock { $0[id] = structure }
    return structure
  }

  private func findStructure() -> Structure {
    if let scalar = Self.scalar(type) { return .scalar(scalar) }
    if let list = type as? any CodableList.Type {
      return Self.element(list.elementType).map(Structure.list) ?? .opaque
    }
    if let map = type as? any CodableMap.Type {
      return map.valueType.flatMap(Self.element).map(Structure.map) ?? .opaque
    }
    if let raw = type as? any RawRepresentable.Type, PlainAttribute.rawType(of: raw) != nil,
      let listed = type as? any CaseIterable.Type
    {
      let cases = PlainAttribute.allCases(of: listed)
      if JSONShape.isEnumeration(cases) { return .cases(cases) }
    }
    let record = CodableRecord()
    let isComplete = BlankDecoder.read(type, into: record)
    // A decoder that asks for other members depending on values has no structure.
    let other = CodableRecord()
    _ = BlankDecoder.read(type, into: other, isMarked: true)
    guard record.asksFor(other) else { return .opaque }
    return record.structure(of: type, isComplete: isComplete)
  }

  private static func element(_ type: Any.Type) -> CodableType? {
    // The elements of a list may be null, which no structure of this enumeration describes.
    type is any OptionalValue.Type ? nil : (type as? any Decodable.Type).map(CodableType.init)
  }

  // MARK: Shape

  /// The structure for models: complete, and without references to itself.
  var shape: JSONShape {
    if let known = Self.knownShapes.withLock({ $0[id] }) { return known }
    var count = 0
    var shape = shape(within: [], &count)
    if count > Self.maximumParts || shape.levels > JSONShape.maximumLevels { shape = .any }
    Self.knownShapes.withLock { $0[id] = shape }
    return shape
  }

  /// The maximum number of parts of a structure. Types that contain each other have a part for each
  /// path.
  private static let maximumParts = 1_000

  /// - Parameters:
  ///   - outer: The types that contain this one. A type that contains itself is described as any JSON
  ///     where it recurs.
  ///   - count: Incremented for each part.
  private func shape(within outer: Set<ObjectIdentifier>, _ count: inout Int) -> JSONShape {
    count += 1
    guard !outer.contains(id), count <= Self.maximumParts else { return .any }
    let outer = outer.union([id])
    switch structure {
    case .scalar(let scalar): return .scalar(scalar)
    case .cases(let cases): return .cases(cases)
    case .list(let element): return .list(element.shape(within: outer, &count))
    case .map(let value): return .map(value.shape(within: outer, &count))
    case .object(let members, isComplete: true):
      return .object(
        members.mapValues { member in
          let shape = member.type.shape(within: outer, &count)
          return member.isOptional ? shape.orMissing : shape
        })
    case .object, .opaque: return .any
    }
  }

  // MARK: Classes

  private static let knownCopied = Lock<[ObjectIdentifier: Bool]>([:])

  /// Whether a copy of a value is known to be independent of the original: the type reveals all of its
  /// parts, and none of them is a class.
  var isCopied: Bool {
    if let known = Self.knownCopied.withLock({ $0[id] }) { return known }
    var seen: Set<ObjectIdentifier> = []
    let isCopied = isCopied(&seen)
    Self.knownCopied.withLock { $0[id] = isCopied }
    return isCopied
  }

  private func isCopied(_ seen: inout Set<ObjectIdentifier>) -> Bool {
    if type is AnyClass { return false }
    guard seen.insert(id).inserted else { return true }
    switch structure {
    case .scalar, .cases: return true
    case .list(let element), .map(let element): return element.isCopied(&seen)
    case .object(let members, isComplete: true):
      return members.values.allSatisfy { $0.type.isCopied(&seen) }
    case .object, .opaque: return false
    }
  }

  /// Returns the kind of a type that `JSONEncoder` and `JSONDecoder` treat as a single value, or
  /// `nil` for other types.
  private static func scalar(_ type: any Decodable.Type) -> JSONShape.Scalar? {
    switch type {
    case is Bool.Type: .boolean
    case is String.Type: .string
    case let integer as any FixedWidthInteger.Type:
      .integer(bits: UInt8(clamping: integer.bitWidth), isSigned: integer.isSigned)
    case is Double.Type: .double
    case is Float.Type: .float
    case is Decimal.Type: .decimal
    case is Date.Type: .date
    case is UUID.Type: .uuid
    case is URL.Type: .uri
    case is Data.Type: .binary
    default: nil
    }
  }
}

/// A collection that is encoded as an array.
private protocol CodableList {
  static var elementType: Any.Type { get }
}

extension Array: CodableList {
  fileprivate static var elementType: Any.Type { Element.self }
}

extension ContiguousArray: CodableList {
  fileprivate static var elementType: Any.Type { Element.self }
}

extension Set: CodableList {
  fileprivate static var elementType: Any.Type { Element.self }
}

/// A dictionary.
private protocol CodableMap {
  /// The type of the values, or `nil` if the dictionary isn't encoded as an object.
  static var valueType: Any.Type? { get }
}

extension Dictionary: CodableMap {
  fileprivate static var valueType: Any.Type? {
    Key.self is String.Type || Key.self is Int.Type || Key.self is any CodingKeyRepresentable.Type
      ? Value.self : nil
  }
}

/// The keys and types that a type requests from a decoder.
final class CodableRecord {
  var isObject = false
  var isOpaque = false
  private var members: [String: CodableType] = [:]
  private var single: CodableType?

  /// Returns the structure of a type that made these requests.
  ///
  /// - Parameter isComplete: Whether decoding finished without an error.
  func structure(of type: any Decodable.Type, isComplete: Bool) -> CodableType.Structure {
    if isOpaque || isObject && single != nil { return .opaque }
    if let single { return single.structure }
    // An enumeration with payloads requests no key.
    guard isObject, !members.isEmpty else { return .opaque }
    let found = members.map { key, member in
      (
        key,
        CodableType.Member(
          type: member, isOptional: isComplete && BlankDecoder.canRead(type, without: key))
      )
    }
    return .object(Dictionary(uniqueKeysWithValues: found), isComplete: isComplete)
  }

  /// Returns whether two records contain the same keys.
  func asksFor(_ other: CodableRecord) -> Bool {
    Set(members.keys) == Set(other.members.keys)
  }

  /// Records a requested key. A key requested with two different types makes the structure opaque.
  func note(_ key: String, _ type: any Decodable.Type) {
    let type = CodableType(type)
    if let known = members[key], known.id != type.id { return isOpaque = true }
    members[key] = type
  }

  /// Records that the value is encoded as another value, without a key.
  func note(_ type: any Decodable.Type) {
    let type = CodableType(type)
    if let single, single.type != type.type { return isOpaque = true }
    single = type
  }
}
