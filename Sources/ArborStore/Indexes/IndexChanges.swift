internal import ArborModel
internal import LMDB

/// The indexes to build and to drop when a store migrates to another model.
struct IndexChanges {
  typealias PartName = SchemaCatalog.PartName

  /// The indexes to fill: new ones, and those whose definition has changed.
  private(set) var built: Set<PartName> = []
  /// Those of the built indexes that keep their entries, but store object numbers in another form,
  /// because a hierarchy has begun or ended. They are filled at once: until then, values that were
  /// unique could be given twice.
  private(set) var reformed: Set<PartName> = []
  /// The indexes of the older model whose databases are reused, by index of the newer model.
  private(set) var carried: [PartName: PartName] = [:]
  /// Whether every index of the older model keeps all of its entries.
  let leavesEntries: Bool

  /// - Parameters:
  ///   - difference: The difference of the models, which names the indexes to fill: new ones,
  ///     changed ones, and those whose values or objects change although their definition does not.
  ///   - isOfOtherVersion: Whether the file was written with another version of text folding or
  ///     tokenization.
  init(
    from old: ModelSchema, to new: ModelSchema, refilling difference: ModelDifference,
    isOfOtherVersion: Bool
  ) {
    var before = Self.definitions(of: old)
    let after = Self.definitions(of: new)
    var rest = Set(after.keys)
    // Indexes are paired by definition, regardless of name; among several with the same definition,
    // by name. Otherwise an index of the same name and entity is rebuilt.
    let rules: [(_ old: NamedDefinition, _ new: NamedDefinition) -> Bool] = [
      { $0.name == $1.name && $0.definition == $1.definition },
      { $0.definition == $1.definition },
      { $0.name == $1.name && $0.definition.entity == $1.definition.entity },
    ]
    for rule in rules {
      for name in rest.sorted(by: Self.ascending) {
        guard let definition = after[name],
          let source = before.keys.sorted(by: Self.ascending).first(where: { source in
            before[source].map { rule((source.name, $0), (name.name, definition)) } ?? false
          })
        else { continue }
        carried[name] = source
        let former = before.removeValue(forKey: source)
        if former != definition {
          built.insert(name)
          if former?.storing(definition.numbers) == definition { reformed.insert(name) }
        }
        rest.remove(name)
      }
    }
    built.formUnion(rest)
    if isOfOtherVersion { built.formUnion(after.filter { $0.value.isVersioned }.keys) }
    // An index that the difference reports as new or redefined may have been paired here with one
    // of the same definition, which still contains objects of entities that it no longer covers.
    for change in difference.changes where change.effort == .indexBuild {
      guard case .index(let kind) = change.kind, let entity = change.entity else { continue }
      let name: String
      switch kind {
      case .refilled(let refilled): name = refilled
      case .added(let index), .changed(_, to: let index): name = index.name
      default: continue
      }
      if after[PartName(entity, name)] != nil { built.insert(PartName(entity, name)) }
    }
    leavesEntries = before.isEmpty && built.isDisjoint(with: carried.keys)
  }

  /// Marks the indexes that some entities of the newer model declare or inherit for refilling,
  /// because objects of these entities are restored or removed.
  mutating func refill(of entities: Set<String>, in schema: ModelSchema) {
    let owners = Set(
      schema.model.entities.lazy.filter { entities.contains($0.name) }
        .flatMap { schema.model.lineage(of: $0).map(\.name) })
    for entity in schema.entities where owners.contains(entity.name) {
      for index in entity.indexes where index.declaringEntity == entity.index {
        built.insert(PartName(entity.name, index.name))
      }
    }
  }

  private typealias NamedDefinition = (name: String, definition: Definition)

  private static func ascending(_ one: PartName, _ other: PartName) -> Bool {
    (one.entity, one.name) < (other.entity, other.name)
  }

  /// The contents of an index, identified by catalog numbers, because indices differ between
  /// models and names can change.
  private struct Definition: Hashable {
    struct Column: Hashable {
      let property: UInt16
      /// The keys of the part of a JSON attribute, otherwise empty.
      let keys: [String]
      let field: FieldKind
      let isAscending: Bool
      let kind: IndexSchema.Column.Kind
    }

    let entity: UInt16
    let columns: [Column]
    let isUnique: Bool
    private(set) var numbers: NumberForm
    let condition: String?
    /// The layouts of the covered entities, by entity number, if there is a condition, which may
    /// read further fields.
    let layouts: [UInt16: UInt16]
    /// The structures of the JSON attributes of the declaring entity, if there is a condition.
    let shapes: [UInt16: JSONShape]

    /// Returns the definition with another form of numbers.
    func storing(_ numbers: NumberForm) -> Definition {
      var definition = self
      definition.numbers = numbers
      return definition
    }

    var isVersioned: Bool {
      columns.contains { column in
        switch column.kind {
        case .folded, .tokens: true
        case .plain, .elements: false
        }
      }
    }
  }

  private static func shapes(of entity: EntitySchema) -> [UInt16: JSONShape] {
    let shapes = entity.attributes.compactMap { attribute in
      attribute.description.shape.map { (attribute.field.catalogNumber, $0) }
    }
    return Dictionary(uniqueKeysWithValues: shapes)
  }

  private static func definitions(of schema: ModelSchema) -> [PartName: Definition] {
    var definitions: [PartName: Definition] = [:]
    for entity in schema.entities {
      for index in entity.indexes where index.declaringEntity == entity.index {
        let covered = entity.concreteFamily.map { schema.entities[$0] }
        definitions[PartName(entity.name, index.name)] = Definition(
          entity: entity.number,
          columns: index.columns.map { column in
            let field = entity.field(of: column.source)
            return Definition.Column(
              property: field.catalogNumber, keys: column.source.keys,
              field: entity.kind(of: column), isAscending: column.isAscending, kind: column.kind)
          }, isUnique: index.isUnique, numbers: schema.numberForm(of: index),
          condition: index.condition?.text,
          layouts: index.condition == nil
            ? [:] : Dictionary(uniqueKeysWithValues: covered.map { ($0.number, $0.layout.number) }),
          shapes: index.condition == nil ? [:] : shapes(of: entity))
      }
    }
    return definitions
  }
}
