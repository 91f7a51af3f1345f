/// The source of a typed class: the members that the `@Entity` macro adds to a class, and the class
/// that the source generator writes for an entity of a model.
///
/// Both use this type, so that their output cannot diverge. The strings are fragments of Swift
/// source, which this type doesn't parse.
package struct EntitySource: Sendable {
  /// The class's name as it appears in source, in backticks if necessary.
  package var className: String
  package var name: String
  /// The superclass as it appears in source, or `nil` for `ManagedObject`.
  package var superclass: String?
  /// The access level of overriding members, followed by a space, or empty for internal.
  package var access: String
  /// The other modifiers of the class, followed by a space.
  package var modifiers: String
  package var properties: [PropertySource]
  /// The names of the attributes that are unique on their own.
  package var uniqueAttributes: [String]
  /// The names of the hooks that the class overrides, or `nil` if they aren't known.
  package var overriddenHooks: [String]?
  /// Further arguments of `EntityDescription`.
  package var facts: EntityFacts

  package init(
    className: String, name: String, superclass: String? = nil, access: String = "",
    modifiers: String = "", properties: [PropertySource] = [], uniqueAttributes: [String] = [],
    facts: EntityFacts = .init()
  ) {
    self.className = className
    self.name = name
    self.superclass = superclass
    self.access = access
    self.modifiers = modifiers
    self.properties = properties
    self.uniqueAttributes = uniqueAttributes
    self.facts = facts
  }

  package var attributes: [PropertySource] { properties.filter { !$0.kind.isRelationship } }
  package var relationships: [PropertySource] { properties.filter(\.kind.isRelationship) }

  /// The members that describe the entity.
  package var descriptionMembers: [String] {
    let open = "\(access)override class var"
    let members = [
      "\(open) entityDescription: EntityDescription { describedEntity }",
      "\(open) entityName: String { \(SourceText.literal(name)) }",
      "\(open) attributeCount: Int { \(number(attributes.count, of: "attributeCount")) }",
      "\(open) relationshipCount: Int { \(number(relationships.count, of: "relationshipCount")) }",
      "private static let describedEntity = \(description)",
    ]
    return members + [propertyNames, hooks, initialValues].compactMap(\.self)
  }

  /// The declaration of the overridden hooks, or `nil` if they aren't known, for example because
  /// the class will be extended by hand.
  private var hooks: String? {
    guard let overriddenHooks else { return nil }
    var arguments = overriddenHooks.map { ".\($0)" }
    arguments.append("of: \(className).self")
    if let superclass { arguments.append("inheriting: \(superclass).self") }
    return "\(access)override class var overriddenHooks: OverriddenHooks {\n"
      + "  OverriddenHooks(\(arguments.joined(separator: ", ")))\n}"
  }

  /// The table that maps the key paths of requests to names, or `nil` if there are no properties.
  private var propertyNames: String? {
    guard !properties.isEmpty else { return nil }
    let entries = properties.map {
      "\\\(className).\(SourceText.identifier($0.name)): \(SourceText.literal($0.name))"
    }
    let line = "[\(entries.joined(separator: ", "))]"
    let table =
      line.count + 4 <= SourceText.width ? line : SourceText.lines(entries, indentation: 2)
    return "\(access)override class var propertyNames: [AnyKeyPath: String] {\n  \(table)\n}"
  }

  /// The method that evaluates the initial values of a new object, or `nil` if all are constants.
  private var initialValues: String? {
    let lines = attributes.compactMap { attribute -> String? in
      guard let value = attribute.initialValue,
        let index = attributes.firstIndex(where: { $0.name == attribute.name })
      else { return nil }
      let slot = number(index, of: "attributeCount")
      return "  object._setAttribute(\(slot), (\(value)) as \(attribute.type))\n"
    }
    guard !lines.isEmpty else { return nil }
    return "\(access)override class func setInitialValues(of object: ManagedObject) {\n"
      + "  super.setInitialValues(of: object)\n\(lines.joined())}"
  }

  /// Returns the expressions that read and write a property. `set` is `nil` if it is read-only.
  package func accessors(of property: PropertySource) -> (
    get: String, set: String?, modify: [String]?
  ) {
    let own = property.kind.isRelationship ? relationships : attributes
    let index = own.firstIndex { $0.name == property.name } ?? 0
    let count = property.kind.isRelationship ? "relationshipCount" : "attributeCount"
    let slot = number(index, of: count)
    return (
      "\(property.kind.getter)(\(slot))",
      property.isReadOnly ? nil : property.kind.setter.map { "\($0)(\(slot), newValue)" },
      property.kind.modifier.map {
        [
          "var change = \($0)(\(slot), \(property.type).self)", "defer { change.finish() }",
          "yield &change.members",
        ]
      }
    )
  }

  /// The class as it would be written by hand, without a macro.
  package var expandedClass: String {
    var members = descriptionMembers.map { SourceText.indented($0) }
    if !properties.isEmpty { members.append("") }
    members += properties.map { property in
      let accessors = accessors(of: property)
      let head = "  \(access)var \(SourceText.identifier(property.name)): \(property.type) {"
      guard let set = accessors.set else { return "\(head) \(accessors.get) }" }
      let modify = (accessors.modify ?? []).map { "\n      \($0)" }.joined()
      return "\(head)\n    get { \(accessors.get) }\n    set { \(set) }\n"
        + (modify.isEmpty ? "" : "    _modify {\(modify)\n    }\n") + "  }"
    }
    return classText(members)
  }

  /// The class with an `@Entity` attribute.
  package var macroClass: String {
    let arguments = macroArguments
    let attribute =
      arguments.isEmpty ? "@Entity" : SourceText.call("@Entity", arguments, indentation: 0)
    let separator = arguments.isEmpty ? " " : "\n"
    return "\(attribute)\(separator)\(classText(properties.map(\.declaration)))"
  }

  private func classText(_ members: [String]) -> String {
    let head = "\(access)\(modifiers)class \(className): \(superclass ?? "ManagedObject") {"
    return members.isEmpty ? "\(head)}" : "\(head)\n\(members.joined(separator: "\n"))\n}"
  }

  private var bareClassName: String { className.filter { $0 != "`" } }

  /// Returns an index counted from the end of the superclass's properties.
  private func number(_ own: Int, of count: String) -> String {
    superclass.map { "\($0).\(count) + \(own)" } ?? "\(own)"
  }

  private var macroArguments: [String] {
    (name == bareClassName ? [] : [SourceText.literal(name)])
      + Self.arguments([
        ("isAbstract", facts.isAbstract), ("uniquenessConstraints", facts.uniqueness),
        ("fetchIndexes", facts.indexes), ("renamedFrom", facts.renamedFrom),
        ("versionHashModifier", facts.versionHashModifier), ("userInfo", facts.userInfo),
        ("fetchedProperties", facts.fetchedProperties),
      ])
  }

  private static func arguments(_ values: [(label: String, value: String?)]) -> [String] {
    values.compactMap { label, value in value.map { "\(label): \($0)" } }
  }

  private var description: String {
    var first = "name: \(SourceText.literal(name))"
    first += ", className: \(SourceText.literal(bareClassName))"
    if let isAbstract = facts.isAbstract { first += ", isAbstract: \(isAbstract)" }
    var arguments = [first]
    arguments += list("attributes", attributes.map { $0.describing(in: className) })
    arguments += list("relationships", relationships.map { $0.describing(in: className) })
    let single = uniqueAttributes.map { "[\(SourceText.literal($0))]" }
    let unique = [single.isEmpty ? nil : "[\(single.joined(separator: ", "))]", facts.uniqueness]
      .compactMap(\.self)
    arguments += Self.arguments([
      ("fetchIndexes", facts.indexes),
      ("uniquenessConstraints", unique.isEmpty ? nil : unique.joined(separator: " + ")),
      ("userInfo", facts.userInfo), ("renamingIdentifier", facts.renamedFrom),
      ("versionHashModifier", facts.versionHashModifier),
      ("fetchedProperties", facts.fetchedProperties),
    ])
    return "EntityDescription(\n  \(arguments.joined(separator: ",\n  ")))"
  }

  private func list(_ label: String, _ elements: [String]) -> [String] {
    guard !elements.isEmpty else { return [] }
    // The elements are already broken into lines for this indentation.
    let comma = elements.count > 1 ? "," : ""
    return ["\(label): [\n    \(elements.joined(separator: ",\n    "))\(comma)\n  ]"]
  }
}

/// The optional parts of an entity description, each a Swift expression, or `nil` if absent.
package struct EntityFacts: Sendable {
  package var isAbstract: String?
  package var uniqueness: String?
  package var indexes: String?
  package var renamedFrom: String?
  package var versionHashModifier: String?
  package var userInfo: String?
  package var fetchedProperties: String?

  package init() {}
}
