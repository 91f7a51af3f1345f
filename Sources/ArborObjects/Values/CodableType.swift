internal import ArborFoundation
internal import ArborLocks
internal import ArborModel

/// A codable type and the JSON structure of its values.
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

  /// The type's parts, for attribute descriptions.
  var parts: CodableParts { CodableParts(of: "\(type)", id: ObjectIdentifier(type)) { shape } }

  private static let known = Lock<[ObjectIdentifier: CodableShape]>([:])

  /// The JSON structure of the values. Determined once per process.
  var shape: CodableShape {
    let key = ObjectIdentifier(type)
    if let known = Self.known.withLock({ $0[key] }) { return known }
    let shape = findShape()
    Self.known.withLock { $0[key] = shape }
    return shape
  }

  private func findShape() -> CodableShape {
    if let scalar = Self.scalar(type) { return .scalar(scalar) }
    let record = CodableRecord()
    let isComplete = BlankDecoder.read(type, into: record)
    return record.shape(isComplete: isComplete)
  }

  /// Returns the kind of a type that `JSONEncoder` and `JSONDecoder` treat as a single value, or
  /// `nil` for other types.
  private static func scalar(_ type: any Decodable.Type) -> CodableScalar? {
    switch type {
    case is Bool.Type: .boolean
    case is String.Type: .string
    case is any FixedWidthInteger.Type: .integer
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

/// The keys and types that a type requests from a decoder.
final class CodableRecord {
  var isObject = false
  var isOpaque = false
  private var members: [String: CodableParts] = [:]
  private var lastKey: String?
  private var single: CodableType?

  /// Returns the JSON structure of a value whose type made these requests.
  ///
  /// - Parameter isComplete: Whether decoding finished without an error.
  func shape(isComplete: Bool) -> CodableShape {
    if isOpaque || isObject && single != nil { return .opaque }
    if let single { return single.shape }
    // A dictionary or an enumeration with payloads requests no key.
    guard isObject, !members.isEmpty else { return .opaque }
    return .object(members, endsAt: isComplete ? nil : lastKey)
  }

  /// Records a requested key. A key requested with two different types makes the structure opaque.
  func note(_ key: String, _ type: any Decodable.Type) {
    let parts = CodableType(type).parts
    lastKey = key
    if let known = members[key], known.id != parts.id { return isOpaque = true }
    members[key] = parts
  }

  /// Records that the value is encoded as another value, without a key.
  func note(_ type: any Decodable.Type) {
    let type = CodableType(type)
    if let single, single.type != type.type { return isOpaque = true }
    single = type
  }
}
