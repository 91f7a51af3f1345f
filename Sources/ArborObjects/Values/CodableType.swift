internal import ArborLocks
internal import ArborModel
internal import Foundation

/// A codable type, and the JSON that its values are.
///
/// It is `@unchecked` because a type that crosses threads could carry a conformance along that only
/// one actor may use: types of attributes are decoded on every thread anyway.
struct CodableType: @unchecked Sendable {
  let type: any Decodable.Type

  /// The type, or what it wraps where it is an optional.
  init(_ type: any Decodable.Type) {
    var plain = type
    while let optional = plain as? any OptionalValue.Type,
      let wrapped = optional.wrappedType as? any Decodable.Type
    {
      plain = wrapped
    }
    self.type = plain
  }

  /// The type's parts, for descriptions.
  var parts: CodableParts { CodableParts(of: "\(type)", id: ObjectIdentifier(type)) { shape } }

  private static let known = Lock<[ObjectIdentifier: CodableShape]>([:])

  /// The JSON that the values are; found out once in a process.
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

  /// What `JSONEncoder` and `JSONDecoder` treat as one value.
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

/// What a type asks a decoder for.
final class CodableRecord {
  var isObject = false
  var isOpaque = false
  private var members: [String: CodableParts] = [:]
  private var lastKey: String?
  private var single: CodableType?

  /// The JSON that a value is which asks for this.
  ///
  /// - Parameter isComplete: Whether nothing ended the asking.
  func shape(isComplete: Bool) -> CodableShape {
    if isOpaque || isObject && single != nil { return .opaque }
    if let single { return single.shape }
    return isObject ? .object(members, endsAt: isComplete ? nil : lastKey) : .opaque
  }

  /// Notes a key that is asked for; what is asked for as two types may be either.
  func note(_ key: String, _ type: any Decodable.Type) {
    let parts = CodableType(type).parts
    lastKey = key
    if let known = members[key], known.id != parts.id { return isOpaque = true }
    members[key] = parts
  }

  /// Notes that the value is another one, without a key.
  func note(_ type: any Decodable.Type) {
    let type = CodableType(type)
    if let single, single.type != type.type { return isOpaque = true }
    single = type
  }
}
