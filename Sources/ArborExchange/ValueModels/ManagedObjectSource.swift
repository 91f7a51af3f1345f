import ArborFoundation
import ArborModel
import ArborObjects

/// A managed object or one of its properties to decode.
struct ManagedObjectSource: ValueModelSource {
  enum Content {
    case value(PropertyValue)
    /// The destination of a to-one relationship, or the object that a model is created from.
    case object(ManagedObject)
    case objects([ManagedObject])
  }

  let content: Content
  /// The object that has the property or that a model is created from.
  let owner: ManagedObject
  /// The name of the property, or `nil` for the object itself.
  let name: String?
  /// The type of the attribute, or `nil` if the content isn't an attribute's value.
  let type: AttributeType?
  /// The objects that are read together, or `nil` if there are none.
  let cohort: ReadCohort?

  init(_ object: ManagedObject, in cohort: ReadCohort? = nil) {
    self.init(.object(object), of: object, name: nil, in: cohort)
  }

  init(
    _ content: Content, of owner: ManagedObject, name: String?, type: AttributeType? = nil,
    in cohort: ReadCohort? = nil
  ) {
    self.cohort = cohort
    self.content = content
    self.owner = owner
    self.name = name
    self.type = type
  }

  static var mismatch: ArborError.Code { .typeMismatch }
  static func transformer(_ key: String, of traits: ModelTraits) -> ManagedTransformer? {
    traits.managedTransformers.isEmpty ? nil : traits.managedTransformers[key]
  }

  private var value: PropertyValue? { if case .value(let value) = content { value } else { nil } }

  var isNull: Bool { value?.isNull ?? false }

  func raw() -> PropertyValue {
    switch content {
    case .value(let value): value
    case .object(let object): .objectID(object.objectID)
    case .objects(let objects): .list(objects.map { .objectID($0.objectID) })
    }
  }

  /// Returns the error for a property that cannot have the requested type.
  private func unsupported(_ expectation: String) -> ArborError {
    switch content {
    case .value(let value):
      let word = if case .composite = value { "a value of several parts" } else { "another value" }
      let found = isNull ? "nil" : type.map { "of type \($0)" } ?? word
      return fault(
        "Expected \(expectation) for the property, but the attribute is \(found). Correct the "
          + "property, or use a transformer.", isNull ? .initialization : .unsupportedProperty)
    case .object:
      return fault(
        "Expected \(expectation) for the property, but the relationship is to-one. Declare it as a "
          + "value model.", .unsupportedRelationship)
    case .objects:
      return fault(
        "Expected \(expectation) for the property, but the relationship is to-many. Declare it as "
          + "a collection of value models.", .unsupportedRelationship)
    }
  }

  func boolean() throws -> Bool {
    guard case .boolean(let flag)? = try plain(Bool.self) else {
      throw unsupported("true or false")
    }
    return flag
  }

  func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let integer: T?
    switch try plain(type) {
    case .integer(let number): integer = T(exactly: number)
    case .double(let number): integer = T(exactly: number)
    case .decimal(let number): integer = T(number.description)
    default: throw unsupported(ModelExpectation.integer(type))
    }
    guard let integer else { throw outOfRange(ModelExpectation.integer(type)) }
    return integer
  }

  func floating<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T {
    switch try plain(type) {
    case .double(let double):
      let number = T(double)
      if number.isInfinite == double.isInfinite { return number }
    case .integer(let integer): if let number = T(exactly: integer) { return number }
    default: throw unsupported(ModelExpectation.floating(type))
    }
    throw outOfRange(ModelExpectation.floating(type))
  }

  func string() throws -> String {
    guard case .string(let text)? = try plain(String.self) else { throw unsupported("a string") }
    return text
  }

  func decimal() throws -> Decimal {
    switch value {
    case .decimal(let number): return number
    case .integer(let number): return Decimal(number)
    default: throw unsupported(ModelExpectation.decimal)
    }
  }

  func date() throws -> Date {
    guard case .date(let date)? = value else { throw unsupported("a date") }
    return date
  }

  func data() throws -> Data {
    guard case .binary(let data)? = value else { throw unsupported("bytes") }
    return data
  }

  func url() throws -> URL {
    guard case .uri(let url)? = value else { throw unsupported("a URL") }
    return url
  }

  func uuid() throws -> UUID {
    guard case .uuid(let uuid)? = value else { throw unsupported("a UUID") }
    return uuid
  }

  private func outOfRange(_ expectation: String) -> ArborError {
    fault(
      "Expected \(expectation) for the property, but the attribute's number is out of range. Use a "
        + "wider type.", .typeMismatch)
  }

  /// Returns the value of the attribute. For a transformable attribute, this is the result of its
  /// transformer.
  private func plain<T>(_ type: T.Type) throws -> PropertyValue? {
    guard case .transformable? = self.type, let value: T = try transformed() else { return value }
    return (value as? any PredicateArgument)?.predicateValue
  }

  private func transformed<T>() throws -> T? {
    guard let name, !isNull else { return nil }
    return try owner.transformedValue(forKey: name, as: T.self)
  }

  func special<T: Decodable>(_ type: T.Type, _ shape: ModelShape) throws -> T? {
    guard case .value(let value) = content else { return nil }
    guard !shape.isOptional, shape.kind != .data || type != Data.self else { return nil }
    switch self.type {
    case .transformable: return try transformed()
    case .json where shape.kind == .plain && !shape.hasRawValue && !value.isNull:
      do { return try CanonicalJSON.decoded(type, from: value) } catch {
        throw fault(
          "The attribute's JSON doesn't have the form of \(T.self). Correct the property's type, or "
            + "use a transformer.", .typeMismatch
        ).with(underlying: error)
      }
    default: return nil
    }
  }

  func elements() throws -> [ManagedObjectSource] {
    guard case .objects(let objects) = content else { throw unsupported("a list") }
    return objects.map { ManagedObjectSource(.object($0), of: owner, name: name, in: cohort) }
  }

  func demandMembers() throws {
    switch content {
    case .object, .value(.composite): return
    default: throw unsupported("a value of several parts")
    }
  }

  func keys() -> [String] {
    switch content {
    case .value(.composite(let parts)): parts.keys.sorted()
    default: []
    }
  }

  func member(
    _ key: String, as type: Any.Type?, of traits: ModelTraits?, _ session: ManagedObjectReading,
    cursor: inout Int
  ) throws -> ManagedObjectSource? {
    switch content {
    case .value(.composite(let parts)):
      return parts[key].map { ManagedObjectSource(.value($0), of: owner, name: name) }
    case .object(let object):
      guard let traits else { throw unsupported("a single value") }
      return try session.member(key, as: type, of: object, in: cohort, traits)
    default: return nil
    }
  }

  func makesPlainly(_ traits: ModelTraits) -> Bool { false }

  func model<M: ValueModel>(
    _ type: M.Type, _ traits: ModelTraits, _ decoder: ModelDecoder<ManagedObjectSource>
  ) throws -> M {
    guard case .object(let object) = content else { throw unsupported("a \(M.self)") }
    return try decoder.session.model(type, of: object, at: self, decoder)
  }

  func isPostponed(
    _ key: String, _ type: Any.Type, _ decoder: ModelDecoder<ManagedObjectSource>
  ) throws -> Bool {
    guard let traits = decoder.traits, !traits.backReferences.isEmpty,
      case .object(let object) = content
    else { return false }
    return try decoder.session.postpones(key, type, of: object, traits)
  }

  func fault(_ message: String, _ code: ArborError.Code) -> ArborError {
    ArborError(code, message).with(
      entity: owner.entity.name, objectID: owner.objectID, keyPath: name,
      offending: value.map { "\($0)" })
  }
}
