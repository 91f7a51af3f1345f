internal import ArborFoundation
internal import ArborJSON
internal import ArborModel

/// Access to JSON attributes as values of Swift types.
extension ManagedObject {
  /// Decodes the JSON attribute with the given slot. Returns `nil` if it is `nil`, or if the type
  /// cannot represent it, after recording that for the context's next throwing operation. A value is
  /// decoded once until it changes.
  final func decodeJSON<T: Decodable>(_ field: RecordField, _ slot: Int, as type: T.Type) -> T? {
    let record = currentRecord
    guard field.kind == .json else { wrongType(slot, type) }
    guard !record.isNull(field) else { return nil }
    let decoded = session?.decoded
    if let value = decoded?.value(of: field, in: number, as: type, record.bytes(field)) {
      return value
    }
    let json = Data(record.bytes(field))
    do {
      let value = try CanonicalJSON.decode(type, from: json)
      decoded?.keep(value, of: field, in: number, json)
      return value
    } catch {
      // The commit refuses a pending value that could not be encoded.
      if CanonicalJSON.isUnencodable(json) { return nil }
      let attribute = binding.entity.attributes[binding.attribute(slot).slot].description
      if let value = Self.decode(type, json, error, fillingFrom: attribute.defaultValue) {
        decoded?.keep(value, of: field, in: number, json)
        return value
      }
      noteUnreadable(
        attribute.name, type, DecodingProblem(error), String(decoding: json, as: UTF8.self))
      return nil
    }
  }

  /// Decodes JSON with those members of an attribute's default that the decoder misses. Returns `nil`
  /// if the default doesn't have them, or if another error remains.
  private static func decode<T: Decodable>(
    _ type: T.Type, _ json: Data, _ error: any Error, fillingFrom standard: PropertyValue
  ) -> T? {
    guard let standard = standard.json, var filled = try? JSONValue.parse(json) else { return nil }
    var error = error
    while let missing = MissingMember(error),
      filled.fill(missing.key, at: missing.path, from: standard)
    {
      let json = Data(filled.canonicalBytes)
      do { return try CanonicalJSON.decode(type, from: json) } catch let other { error = other }
    }
    return nil
  }

  /// Encodes a value for the JSON attribute with the given slot. Members of the present value that the
  /// type doesn't know, but another version of the program does, are kept.
  final func encodeJSON(_ value: some Encodable, _ slot: Int) {
    let field = binding.attribute(slot, changing: self).field
    guard field.kind == .json else { wrongType(slot, type(of: value)) }
    var json = CanonicalJSON.encodeForCommit(value)
    if json.elementsEqual("null".utf8) { return setNullAttribute(slot) }
    let record = currentRecord
    if !record.isNull(field), let type = type(of: value) as? any (Decodable & Encodable).Type {
      let attribute = binding.entity.attributes[binding.attribute(slot).slot].description
      json =
        Self.keepUnknown(of: record.bytes(field), in: json, type, attribute.defaultValue) ?? json
    }
    write { buffer, allocator in
      json.withUnsafeBytes { buffer.store(field, bytes: $0, allocator: allocator) }
    }
  }

  /// Returns JSON with those members of the stored value that a type doesn't know, or `nil` if there
  /// are none.
  private static func keepUnknown<T: Codable>(
    of stored: UnsafeRawBufferPointer, in json: Data, _ type: T.Type, _ standard: PropertyValue
  ) -> Data? {
    let shape = CodableType(type).shape
    guard shape.mayHaveUnknown, !json.elementsEqual(stored) else { return nil }
    let bytes = Data(stored)
    guard let former = try? JSONValue.parse(bytes) else { return nil }
    // A type that doesn't reveal its structure knows what it writes of what it reads.
    let known =
      shape.containsAny ? Self.reencoded(bytes, type, standard) : shape.known(in: former)
    guard let known, known != former, let value = try? JSONValue.parse(json) else { return nil }
    let kept = value.keepingUnknown(of: former, known: known)
    guard kept != value else { return nil }
    // A decoder of the type's own may read more than it reveals. Then the result isn't the value that
    // was set.
    let result = Data(kept.canonicalBytes)
    return Self.reencoded(result, type, standard) == value ? result : nil
  }

  /// Returns what a type writes of JSON that it reads, or `nil` if it cannot read it.
  private static func reencoded<T: Codable>(
    _ json: Data, _ type: T.Type, _ standard: PropertyValue
  ) -> JSONValue? {
    let value: T?
    do { value = try CanonicalJSON.decode(type, from: json) } catch {
      value = decode(type, json, error, fillingFrom: standard)
    }
    return value.flatMap { CanonicalJSON.value(of: $0).json }
  }

  // MARK: Unreadable values

  /// Records that a raw value has no case.
  final func noteUnknownCase<T>(_ slot: Int, _ type: T.Type) {
    let field = binding.attribute(slot).field
    let attribute = binding.entity.attributes[binding.attribute(slot).slot].description
    noteUnreadable(
      attribute.name, type, DecodingProblem(what: "no case has this value"),
      "\(currentRecord.value(field))")
  }

  private final func noteUnreadable<T>(
    _ name: String, _ type: T.Type, _ problem: DecodingProblem, _ text: String
  ) {
    let type = (type as? any OptionalValue.Type)?.wrappedType ?? type
    let shown = text.count > 200 ? text.prefix(200) + "…" : text[...]
    let place = problem.path.isEmpty ? "" : " at \(problem.path)"
    session?.note(
      ArborError(
        .unreadableValue,
        "The value of \(binding.entity.name).\(name) cannot be read as \(type)\(place): "
          + "\(problem.what). Roll back, and give new properties a default or make them optional, or "
          + "set the value. It is \(shown)."
      ).with(
        entity: binding.entity.name, objectID: objectID,
        keyPath: problem.path.isEmpty ? name : "\(name).\(problem.path)"
      ).with(offending: String(shown)))
  }
}

extension JSONValue {
  /// Inserts a missing member of an object from the same place of another value.
  ///
  /// - Parameter path: The keys of the object that lacks the member.
  /// - Returns: Whether the other value has the member and this one doesn't.
  fileprivate mutating func fill(
    _ key: String, at path: ArraySlice<any CodingKey>, from standard: JSONValue
  ) -> Bool {
    guard case .object(var members) = self else { return false }
    if let next = path.first?.stringValue {
      guard var part = members[next], let other = standard[next],
        part.fill(key, at: path.dropFirst(), from: other)
      else { return false }
      members[next] = part
    } else {
      guard members[key]?.isNull ?? true, let other = standard[key] else { return false }
      members[key] = other
    }
    self = .object(members)
    return true
  }
}

/// The member of an object that a decoder misses, or that is null.
private struct MissingMember {
  let key: String
  /// The keys of the object.
  let path: ArraySlice<any CodingKey>

  init?(_ error: any Error) {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context)?:
      self.key = key.stringValue
      path = context.codingPath[...]
    case .valueNotFound(_, let context)?:
      guard let key = context.codingPath.last, key.intValue == nil else { return nil }
      self.key = key.stringValue
      path = context.codingPath.dropLast()
    default: return nil
    }
  }
}

/// The problem that a decoder reports, and its location.
private struct DecodingProblem {
  let what: String
  /// The path of the part in the JSON: `addresses[2].city`. Empty for the whole value.
  let path: String

  init(what: String, at keys: [any CodingKey] = []) {
    self.what = what
    path = keys.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }

  init(_ error: any Error) {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context)?:
      self.init(what: "there is no \"\(key.stringValue)\"", at: context.codingPath)
    case .valueNotFound(let type, let context)?:
      self.init(what: "null is not a \(type)", at: context.codingPath)
    case .typeMismatch(let type, let context)?:
      self.init(what: "it is not a \(type)", at: context.codingPath)
    case .dataCorrupted(let context)?:
      let text = context.debugDescription
      self.init(what: text.hasSuffix(".") ? String(text.dropLast()) : text, at: context.codingPath)
    default: self.init(what: "\(error)")
    }
  }
}
