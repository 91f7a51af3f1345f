public import ArborFoundation
public import ArborJSON

extension ManagedObjectModel {
  /// Returns the model in its JSON form, which ``init(json:source:)`` parses into an equal model.
  ///
  /// The output is deterministic: keys have a fixed order, and default values are omitted.
  ///
  /// - Parameter style: The style of the JSON: on one line, or indented.
  public func jsonData(_ style: JSONStyle = .pretty) -> Data {
    var root = JSONObject()
    if !versionIdentifier.isEmpty { root["version"] = .string(versionIdentifier) }
    root["entities"] = .named(entities.map { ($0.name, $0.json) })
    if !composites.isEmpty {
      root["composites"] = .named(composites.map { ($0.name, $0.attributes.json) })
    }
    if !fetchRequestTemplates.isEmpty {
      root["requests"] = .named(
        fetchRequestTemplates.map { ($0.name, $0.json(unlessNamed: $0.name)) })
    }
    if !configurations.isEmpty {
      root["configurations"] = .named(
        configurations.sorted { $0.key < $1.key }.map { name, entities in
          (name, .array(entities.map(JSONValue.string)))
        })
    }
    return JSONValue.object(root).data(style)
  }

  /// The JSON form on one line, as it is written to stores.
  package var compactJSON: Data { jsonData(.compact) }
}

extension JSONValue {
  fileprivate static func named(_ members: [(String, JSONValue)]) -> JSONValue {
    var object = JSONObject()
    for (name, value) in members { object[name] = value }
    return .object(object)
  }
}

extension JSONObject {
  /// Adds a flag unless it has its default value.
  fileprivate mutating func add(_ key: String, _ flag: Bool, unless usual: Bool = false) {
    if flag != usual { self[key] = .bool(flag) }
  }

  fileprivate mutating func add(_ key: String, _ text: String?) {
    if let text { self[key] = .string(text) }
  }

  fileprivate mutating func add(_ key: String, _ count: Int) {
    if count != 0 { self[key] = .number(JSONNumber(Int64(count))) }
  }

  fileprivate mutating func add(_ notes: [String: String]) {
    guard !notes.isEmpty else { return }
    self["userInfo"] = .named(notes.sorted { $0.key < $1.key }.map { ($0, .string($1)) })
  }
}

extension EntityDescription {
  fileprivate var json: JSONValue {
    var object = JSONObject()
    object.add("class", className)
    object.add("abstract", isAbstract)
    object.add("parent", parent)
    object.add("renamedFrom", renamingIdentifier)
    object.add("versionHashModifier", versionHashModifier)
    if !uniquenessConstraints.isEmpty {
      object["unique"] = .array(
        uniquenessConstraints.map { constraint in
          let columns = constraint.map(JSONValue.string)
          return columns.count == 1 ? columns[0] : .array(columns)
        })
    }
    if !fetchIndexes.isEmpty {
      object["indexes"] = .named(fetchIndexes.map { ($0.name, $0.json) })
    }
    if !attributes.isEmpty { object["attributes"] = attributes.json }
    if !relationships.isEmpty {
      object["relationships"] = .named(relationships.map { ($0.name, $0.json) })
    }
    if !fetchedProperties.isEmpty {
      object["fetchedProperties"] = .named(fetchedProperties.map { ($0.name, $0.json) })
    }
    object.add(userInfo)
    return .object(object)
  }
}

extension [AttributeDescription] {
  fileprivate var json: JSONValue { .named(map { ($0.name, $0.json) }) }
}

extension AttributeDescription {
  fileprivate var json: JSONValue {
    var object = JSONObject()
    let typeText = ModelJSON.text(of: type) + (isOptional ? "?" : "")
    object["type"] = .string(typeText)
    if !defaultValue.isNull { object["default"] = type.json(of: defaultValue) }
    if !minimum.isNull { object["min"] = type.json(of: minimum) }
    if !maximum.isNull { object["max"] = type.json(of: maximum) }
    object.add("pattern", regularExpression)
    object.add("indexed", isIndexed)
    object.add("transient", isTransient)
    object.add("externalStorage", allowsExternalStorage)
    object.add("derivation", derivation)
    object["shape"] = shape?.json
    object.add("valueClass", valueClassName)
    object.add("preservedOnDeletion", isPreservedOnDeletion)
    object.add("renamedFrom", renamingIdentifier)
    object.add("versionHashModifier", versionHashModifier)
    object.add(userInfo)
    return object.count == 1 ? .string(typeText) : .object(object)
  }
}

extension RelationshipDescription {
  fileprivate var json: JSONValue {
    var object = JSONObject()
    object["to"] = .string(destination)
    object.add("inverse", inverse)
    object.add("toMany", isToMany)
    object.add("ordered", isOrdered)
    object.add("min", minimumCount)
    object.add("max", maximumCount)
    if deleteRule != .nullify { object["deleteRule"] = .string(deleteRule.rawValue) }
    object.add("optional", isOptional, unless: true)
    object.add("transient", isTransient)
    object.add("renamedFrom", renamingIdentifier)
    object.add("versionHashModifier", versionHashModifier)
    object.add(userInfo)
    return .object(object)
  }
}

extension FetchedPropertyDescription {
  fileprivate var json: JSONValue {
    var object = JSONObject()
    object.add("optional", isOptional, unless: true)
    object["request"] = request.json(unlessNamed: name)
    object.add(userInfo)
    return .object(object)
  }
}

extension FetchRequestTemplate {
  /// Returns the template as JSON. Its name is included only if it differs from the key.
  fileprivate func json(unlessNamed key: String) -> JSONValue {
    var object = JSONObject()
    if name != key { object["name"] = .string(name) }
    object["entity"] = .string(entity)
    object.add("predicate", predicate)
    object.add("limit", fetchLimit)
    object.add("batchSize", fetchBatchSize)
    object.add("includesSubentities", includesSubentities, unless: true)
    object.add("includesPendingChanges", includesPendingChanges, unless: true)
    object.add("distinct", returnsDistinctResults)
    if let result = ModelJSON.resultNames.first(where: { $0.type == resultType }),
      resultType != .objects
    {
      object["results"] = .string(result.name)
    }
    return .object(object)
  }
}

extension FetchIndexDescription {
  fileprivate var json: JSONValue {
    let elements = JSONValue.array(elements.map(\.json))
    guard partialIndexPredicate != nil || isUnique else { return elements }
    var object = JSONObject()
    object["elements"] = elements
    object.add("where", partialIndexPredicate)
    object.add("unique", isUnique)
    return .object(object)
  }
}

extension FetchIndexDescription.Element {
  fileprivate var json: JSONValue {
    if !isExpression, kind == .binary, !property.hasPrefix("-") {
      return .string((isAscending ? "" : "-") + property)
    }
    var object = JSONObject()
    object[isExpression ? "expression" : "property"] = .string(property)
    object.add("descending", !isAscending)
    if kind != .binary { object["kind"] = .string(kind.rawValue) }
    return .object(object)
  }
}
