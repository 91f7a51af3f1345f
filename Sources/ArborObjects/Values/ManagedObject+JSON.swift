internal import ArborFoundation
internal import ArborJSON
internal import ArborModel

/// Access to JSON attributes as values of Swift types.
extension ManagedObject {
  /// Decodes the JSON attribute with the given slot. Returns `nil` if it is `nil`, or if the type
  /// cannot represent it, after recording that for the context's next throwing operation.
  final func decodeJSON<T: Decodable>(_ field: RecordField, _ slot: Int, as type: T.Type) -> T? {
    let record = currentRecord
    guard field.kind == .json else { wrongType(slot, type) }
    guard !record.isNull(field) else { return nil }
    let json = Data(record.bytes(field))
    do { return try CanonicalJSON.decode(type, from: json) } catch {
      let attribute = binding.entity.attributes[binding.attribute(slot).slot].description
      if let filled = Self.filled(json, from: attribute.defaultValue),
        let value = try? CanonicalJSON.decode(type, from: filled)
      {
        return value
      }
      noteUnreadable(
        attribute.name, type, DecodingProblem(error), String(decoding: json, as: UTF8.self))
      return nil
    }
  }

  /// Encodes a value for the JSON attribute with the given slot.
  final func encodeJSON(_ value: some Encodable, _ slot: Int) {
    let field = binding.attribute(slot, changing: self).field
    guard field.kind == .json else { wrongType(slot, type(of: value)) }
    let json = CanonicalJSON.encodeForCommit(value)
    write { buffer, allocator in
      json.withUnsafeBytes { buffer.store(field, bytes: $0, allocator: allocator) }
    }
  }

  /// Returns JSON with the members that only the attribute's default has, at every level, or `nil` if
  /// there is no default.
  private static func filled(_ json: Data, from standard: PropertyValue) -> Data? {
    guard let standard = standard.json, let stored = try? JSONValue.parse(json) else { return nil }
    return Data(stored.filled(from: standard).canonicalBytes)
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
  /// The value with the members that only another one has, at every level.
  fileprivate func filled(from standard: JSONValue) -> JSONValue {
    guard case .object(var members) = self, case .object(let others) = standard else {
      return self
    }
    for (key, other) in others { members[key] = members[key]?.filled(from: other) ?? other }
    return .object(members)
  }
}

/// What a decoder complains about, and where.
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
