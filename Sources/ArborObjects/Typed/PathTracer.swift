internal import ArborFoundation
internal import ArborLocks
package import ArborModel

/// A tracer that finds the names of the properties that a key path of typed classes reads.
///
/// Key paths have no names at run time. Those of single properties are looked up if the class
/// provides their names (``ManagedObject/propertyNames``). For all others, a placeholder object
/// without a store is created and the key path is evaluated on it, while the accessors report the
/// slots they read. A to-one relationship returns another placeholder. The result is then compared
/// with the value of the last property, twice, with values at both ends of its range, in order to
/// detect computed properties. One case cannot be distinguished from a stored property: `\.nick` of
/// `var nick: String { name }`, which is equivalent.
final class PathTracer {
  private enum Step {
    case attribute(name: String, value: PropertyValue)
    case toOne(name: String)
    case toMany(name: String)

    var name: String {
      switch self {
      case .attribute(let name, _), .toOne(let name), .toMany(let name): name
      }
    }
  }

  private let round: Int
  private var steps: [Step] = []
  /// The traces of the objects on the path.
  private var way: [ClassTrace] = []
  /// The last object on the path.
  private var end: ManagedObject?
  private var isTangled = false
  /// The type of the codable value that was read last.
  private var codable: Any.Type?
  /// The path of keys to the part of codable values that differs from all others, or `nil` for
  /// none.
  let marks: BlankDecoder.Marks?

  private init(round: Int, marks: BlankDecoder.Marks? = nil) {
    self.round = round
    self.marks = marks
  }

  /// Returns the names of the properties on a key path of a class. Empty for the identity key path.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if it isn't a path of modeled properties.
  static func names(
    of keyPath: AnyKeyPath, in objectClass: ManagedObject.Type
  ) throws(ArborError) -> [String] {
    let key = KnownPath(objectClass: ObjectIdentifier(objectClass), keyPath: keyPath)
    if let names = known.withLock({ $0[key] }) { return names }
    let names: [String]
    if let told = objectClass.propertyNames[keyPath] {
      names = [told]
    } else {
      names = try trace(keyPath, objectClass)
    }
    known.withLock { known in
      // The number of key paths with arguments, such as subscripts, is unlimited.
      if known.count >= 1024 { known.removeAll() }
      known[key] = names
    }
    return names
  }

  /// A traced key path.
  ///
  /// `@unchecked` because a key path may contain the arguments of subscripts. They are compared but
  /// never read.
  private struct KnownPath: Hashable, @unchecked Sendable {
    let objectClass: ObjectIdentifier
    let keyPath: AnyKeyPath
  }

  private static let known = Lock<[KnownPath: [String]]>([:])

  private static func trace(
    _ keyPath: AnyKeyPath, _ objectClass: ManagedObject.Type
  ) throws(ArborError) -> [String] {
    var found: [String]?
    for round in 0..<2 {
      let tracer = PathTracer(round: round)
      let names = try tracer.follow(keyPath, objectClass)
      guard let names, found == nil || found == names else {
        throw ArborError(
          .invalidPredicate,
          "The key path \(keyPath.words) doesn't consist of properties in the entityDescription of "
            + "\(objectClass). Use properties that read a single attribute or relationship, or "
            + "parts of a Codable value; enumerations among them must be CaseIterable.")
      }
      found = names
    }
    return found ?? []
  }

  private func follow(
    _ keyPath: AnyKeyPath, _ objectClass: ManagedObject.Type
  ) throws(ArborError) -> [String]? {
    let root = try make(objectClass)
    guard let result = (root as Any)[keyPath: keyPath], !isTangled else { return nil }
    let output = Self.unwrapped(result)
    let names = steps.map(\.name)
    guard let output else { return nil }
    if let object = output as? ManagedObject { return object === end ? names : nil }
    if let id = output as? ObjectID {
      if case .toOne = steps.last, id == TracedClass.targetID { return names }
      return id == end?.objectID ? names + ["objectID"] : nil
    }
    if let name = output as? String, name == TracedClass.entityName {
      return names + ["entity", "name"]
    }
    switch steps.last {
    case .attribute(_, let value):
      if let codable, type(of: output) != codable {
        return parts(keyPath, objectClass, codable).map { names + $0 }
      }
      return Self.holds(output, value) ? names : nil
    case .toMany: return output is any Collection || output is any RelationshipValue ? names : nil
    case .toOne, nil: return nil
    }
  }

  /// Returns the keys of the part of a codable value that a key path reads, or `nil` if it isn't a
  /// part.
  private func parts(
    _ keyPath: AnyKeyPath, _ objectClass: ManagedObject.Type, _ codable: Any.Type
  ) -> [String]? {
    guard let codable = codable as? any Decodable.Type,
      let output = Swift.type(of: keyPath).valueType as? any Decodable.Type
    else { return nil }
    let probe = CodableProbe { marks in
      let tracer = PathTracer(round: 0, marks: marks)
      guard let root = try? tracer.make(objectClass) else { return nil }
      return (root as Any)[keyPath: keyPath]
    }
    return probe.keys(of: codable, to: output)
  }

  private static func unwrapped(_ value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return mirror.children.first.flatMap { unwrapped($0.value) }
  }

  /// Returns whether the result of a key path equals the attribute's value. For an enumeration, the
  /// placeholder value matches no case, so the result is accepted.
  private static func holds(_ output: Any, _ value: PropertyValue) -> Bool {
    // A codable type that isn't comparable is accepted, too.
    guard let output = output as? any PredicateArgument else { return output is any Decodable }
    // The placeholder is not the JSON of a codable type.
    if case .list = value { return true }
    // A number outside the range of the property's type is clamped.
    if AttributeRange.bounds(of: type(of: output)) != nil || output is Duration { return true }
    return value.isNull || output is any RawRepresentable
      || PropertyValue.compare(output.predicateValue, value) == .equal
  }

  // MARK: Objects on the path

  /// Creates an object whose accessors report to this tracer.
  func make<T: ManagedObject>(_ objectClass: T.Type) throws(ArborError) -> T {
    let traced = try TracedClass.of(objectClass)
    let trace = ClassTrace(traced, self)
    // The binding creates objects of exactly this class.
    let object = unsafeDowncast(trace.makeObject(objectClass, number: way.count), to: T.self)
    way.append(trace)
    end = object
    return object
  }

  /// Records a read of an object's attribute. An accessor may read the same attribute twice.
  func note(attribute name: String, _ value: PropertyValue, of trace: ClassTrace) {
    guard way.last === trace, steps.count < way.count || steps.last?.name == name else {
      isTangled = true
      return
    }
    if steps.count < way.count { steps.append(.attribute(name: name, value: value)) }
  }

  /// Records the type of the codable value in the attribute that was read last.
  func note<T>(codable type: T.Type) {
    codable = (type as? any OptionalValue.Type)?.wrappedType ?? type
  }

  /// Records a read of an object's relationship.
  func note(relationship name: String, isToMany: Bool, of trace: ClassTrace) {
    guard way.last === trace, steps.count < way.count else {
      isTangled = true
      return
    }
    steps.append(isToMany ? .toMany(name: name) : .toOne(name: name))
  }

  /// Returns the placeholder value of an attribute.
  func marker(for type: AttributeType) -> PropertyValue {
    let isFirst = round == 0
    switch type {
    case .integer16: return isFirst ? -32_001 : 32_001
    case .integer32: return isFirst ? -2_000_000_011 : 2_000_000_011
    case .integer64: return isFirst ? -4_000_000_000_000_000_007 : 4_000_000_000_000_000_007
    case .boolean: return .boolean(!isFirst)
    case .float: return .double(Double(Float(isFirst ? -1e30 : 1e30)))
    case .double: return .double(isFirst ? -1e200 : 1e200)
    case .decimal: return .decimal(Decimal(isFirst ? -4_000_000_007 : 4_000_000_007))
    case .string: return .string(isFirst ? " aZ\u{E9}ß\n" : "Qb\u{1}0 ")
    case .date: return .date(Date(timeIntervalSinceReferenceDate: isFirst ? -1e10 : 1e10))
    case .binary: return .binary(Data(isFirst ? [1, 0] : [255]))
    case .uuid: return .uuid(TracedClass.identifier(isFirst ? 7 : 9))
    case .uri: return URL(string: isFirst ? "trace:a" : "trace:B").map(PropertyValue.uri) ?? .null
    // Not null, because an optional property would end the path.
    case .json: return [.string(isFirst ? "a" : "b")]
    case .transformable, .composite, .undefined: return .null
    }
  }

  /// Returns a placeholder value of a type unknown to the tracer, or `nil` if none can be created.
  ///
  /// - Parameter isLast: Whether to return the last case of a `CaseIterable` enumeration.
  static func placeholder<T>(_ type: T.Type, isLast: Bool = false) -> T? {
    if let cases = type as? any CaseIterable.Type { return value(of: cases, isLast) as? T }
    // Raw values belong to enumerations without payload, whose first case is represented by zero
    // bits, and to structures that wrap plain numbers, for which zero bits are valid. An accessor
    // has to return some value, and only `CaseIterable` types provide one in another way.
    guard _isPOD(type), MemoryLayout<T>.size <= 16 else { return nil }
    return withUnsafeTemporaryAllocation(
      byteCount: max(MemoryLayout<T>.size, 1), alignment: MemoryLayout<T>.alignment
    ) { bytes in
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
      return bytes.baseAddress?.assumingMemoryBound(to: T.self).pointee
    }
  }

  private static func value<C: CaseIterable>(of type: C.Type, _ isLast: Bool) -> Any? {
    isLast ? Array(type.allCases).last : type.allCases.first
  }
}

extension ManagedObject {
  /// Returns the names of the properties on a key path of the class, joined by dots.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if it isn't a path of modeled properties.
  package class func propertyPath(of keyPath: AnyKeyPath) throws(ArborError) -> String {
    try PathTracer.names(of: keyPath, in: self).joined(separator: ".")
  }
}

extension AnyKeyPath {
  /// The key path as it is written in code. If it contains properties whose names aren't available
  /// at run time, such as computed ones, the types at both ends instead: `from Person to String`.
  var words: String {
    let text = debugDescription
    let isNameless = text.contains("<computed ") || text.contains("<offset ")
    return isNameless ? "from \(Self.rootType) to \(Self.valueType)" : text
  }
}
