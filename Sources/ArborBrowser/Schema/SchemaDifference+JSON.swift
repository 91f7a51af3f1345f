package import ArborJSON
internal import ArborModel

extension SchemaDifference {
  /// The entities in the form of the page's schema, with `mark` and `notes` of each part.
  package var json: JSONValue {
    ["entities": .array(entities.map(\.json)), "others": .array(others.map(JSONValue.string))]
  }
}

extension SchemaDifference.Entity {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "parent": parent.map(JSONValue.string) ?? .null,
      "isAbstract": .bool(isAbstract), "mark": SchemaDifference.json(mark),
      "notes": .array(notes.map(JSONValue.string)),
      "attributes": .array(parts.filter { $0.relationship == nil }.map(\.json)),
      "relationships": .array(parts.filter { $0.relationship != nil }.map(\.json)),
    ]
  }
}

extension SchemaDifference.Part {
  fileprivate var json: JSONValue {
    var fields: JSONObject = [
      "name": .string(name), "type": .string(type), "isOwn": true,
      "mark": SchemaDifference.json(mark), "notes": .array(notes.map(JSONValue.string)),
    ]
    if let relationship {
      fields["destination"] = .string(relationship.destination)
      fields["inverse"] = relationship.inverse.map(JSONValue.string) ?? .null
      fields["isToMany"] = .bool(relationship.isToMany)
    }
    return .object(fields)
  }
}

extension SchemaDifference {
  fileprivate static func json(_ mark: Mark?) -> JSONValue {
    mark.map { .string($0.rawValue) } ?? .null
  }
}
