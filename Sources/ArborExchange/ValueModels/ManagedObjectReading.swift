import ArborModel
import ArborObjects

/// What all models that one call makes of stored objects share: which model an object is.
final class ManagedObjectReading: ModelSession {
  private struct Identity: Hashable {
    let object: ObjectIdentifier
    let type: ObjectIdentifier
  }

  private struct Frame {
    let identity: Identity
    var postponed: [BackReference] = []
  }

  /// Models nest as their initializers call each other; beyond this depth the stack could end.
  static let maximumDepth = 256

  let mappings: ModelMappings
  var shapes: ModelShapes { mappings.shapes }
  /// Of a probe: the only relationship that the outermost model reads, as those within read none.
  private let probedKey: String?
  /// With the objects, for an identity is one as long as its object lives.
  private var models: [Identity: (model: any ValueModel, object: ManagedObject)] = [:]
  private var frames: [Frame] = []
  private var open: Set<Identity> = []
  /// The back references of finished models that have yet to be set.
  private var waiting: [BackReference] = []

  private let schema: ModelSchema
  private let context: ManagedObjectContext

  init(_ schema: ModelSchema, in context: ManagedObjectContext, probing key: String? = nil) {
    mappings = ModelMappings(schema)
    probedKey = key
    self.schema = schema
    self.context = context
  }

  /// Makes models of objects, each model and its back references in one graph.
  func models<M: ValueModel>(_ type: M.Type, of objects: [ManagedObject]) throws -> [M] {
    let shape = shapes.traits(of: type)
    _ = try mappings.mapping(of: shape)
    let cohort = ReadCohort(objects, in: context)
    let models = try objects.map { object in
      let source = ManagedObjectSource(object, in: cohort)
      return try model(type, of: object, at: source, ModelDecoder(source, self))
    }
    try setBackReferences()
    return models
  }

  func model<M: ValueModel>(
    _ type: M.Type, of object: ManagedObject, at source: ManagedObjectSource,
    _ decoder: ModelDecoder<ManagedObjectSource>
  ) throws -> M {
    let type: (any ValueModel.Type)? = M.modelType(for: object)
    guard let chosen = type else {
      throw ArborError(
        .noModelType,
        "\(M.self) has no type for an object of \(object.entity.name). Return one from "
          + "modelType(for:)."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: source.name)
    }
    func make<Chosen: ValueModel>(_ type: Chosen.Type) throws -> M? {
      guard type is M.Type else { return nil }
      return try instance(type, object, decoder) as? M
    }
    guard let model = try make(chosen) else {
      throw ArborError(
        .noModelType,
        "\(M.self) chose \(chosen) for an object of \(object.entity.name), which is not a subtype. "
          + "Return the type or a subclass from modelType(for:)."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: source.name)
    }
    return model
  }

  private func instance<M: ValueModel>(
    _ type: M.Type, _ object: ManagedObject, _ parent: ModelDecoder<ManagedObjectSource>
  ) throws -> M {
    let identity = Identity(object: ObjectIdentifier(object), type: ObjectIdentifier(type))
    if probedKey == nil, let known = models[identity]?.model as? M { return known }
    let traits = shapes.traits(of: type)
    let mapping = try mappings.mapping(of: traits)
    try check(object, mapping)
    // Whatever a probe leads to, the model there reads no further.
    let isNew = probedKey != nil || open.insert(identity).inserted
    guard isNew else { throw circle(object, parent.source.name, traits) }
    guard frames.count < Self.maximumDepth else {
      throw ArborError(
        .limitExceeded,
        "The models nest more than \(Self.maximumDepth) levels deep. Add the nested property to "
          + "backReferences, which don't nest."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: parent.source.name)
    }
    frames.append(Frame(identity: identity))
    let decoder = ModelDecoder(
      ManagedObjectSource(object, in: parent.source.cohort), self, traits: traits,
      parent: parent.traits == nil ? nil : parent)
    var made: M?
    defer {
      open.remove(identity)
      if made == nil { frames.removeLast() }
    }
    let model = try traits.validate(try decoder.initialize(type))
    made = model
    let frame = frames.removeLast()
    // The identity of a structure without relationships is of no use to anybody.
    if traits.isClass || mapping.hasRelationships { models[identity] = (model, object) }
    for reference in frame.postponed + keyless(of: object, mapping) {
      waiting.append(reference.from(model))
    }
    return model
  }

  /// The back references of a type for which no key was asked, since it has none for them.
  private func keyless(of object: ManagedObject, _ mapping: ModelMapping) -> [BackReference] {
    guard probedKey == nil else { return [] }
    let traits = mapping.traits
    return traits.backReferences.compactMap { keyPath in
      guard let type = BackReference.wrappedType(of: keyPath),
        !traits.askedBackReferences.contains(ObjectIdentifier(type)),
        let name = BackReference.name(of: keyPath),
        case .relationship? = try? mapping.property(name)
      else { return nil }
      return BackReference(object: object, key: name, keyPath: keyPath, traits: traits)
    }
  }

  /// Checks that a model type may stand for an object.
  private func check(_ object: ManagedObject, _ mapping: ModelMapping) throws(ArborError) {
    let name = object.entity.name
    guard !object.isKind(of: mapping.entity) else { return }
    throw ArborError(
      .invalidMapping,
      "\(mapping.traits.name) belongs to the entity \(mapping.entity.name), but the object is of "
        + "entity \(name). Use that entity's model."
    ).with(entity: name, objectID: object.objectID)
  }

  private func circle(
    _ object: ManagedObject, _ name: String?, _ traits: ModelTraits
  ) -> ArborError {
    ArborError(
      .invalidMapping,
      "The objects form a cycle through one whose \(traits.name) is being created. Add the "
        + "property that closes it to backReferences of a class, or exclude it in managedKeys."
    ).with(entity: object.entity.name, objectID: object.objectID, keyPath: name)
  }

  /// A property of an object: `nil` if it takes no part or is a relationship to nothing, which
  /// leaves the model's property at its default.
  ///
  /// - Parameters:
  ///   - type: The type that is asked for; `nil` if it is not known.
  ///   - cohort: The objects that are read together with the object; nil: none.
  func member(
    _ key: String, as type: Any.Type?, of object: ManagedObject, in cohort: ReadCohort?,
    _ traits: ModelTraits
  ) throws -> ManagedObjectSource? {
    switch try mappings.mapping(of: traits).property(key, as: type) {
    case .excluded: return nil
    case .attribute(let attribute):
      return ManagedObjectSource(
        .value(object.value(atSlot: attribute.slot)), of: object,
        name: attribute.name, type: attribute.type)
    case .relationship(let relationship):
      let name = relationship.name
      let isBlank = probedKey != nil && (frames.count > 1 || key != probedKey)
      let next = probedKey == nil ? try cohort?.following(relationship) : nil
      if relationship.isToMany {
        let members = isBlank || probedKey != nil ? [] : object.objects(atSlot: relationship.slot)
        return ManagedObjectSource(.objects(members), of: object, name: name, in: next)
      }
      guard !isBlank, let target = object.object(atSlot: relationship.slot) else { return nil }
      return ManagedObjectSource(.object(target), of: object, name: name, in: next)
    }
  }

  /// Whether a property is a back reference; it is set when all models have been made.
  func postpones(
    _ key: String, _ type: Any.Type, of object: ManagedObject, _ traits: ModelTraits
  ) throws -> Bool {
    guard probedKey == nil, !frames.isEmpty,
      case .relationship(let relationship) = try mappings.mapping(of: traits).property(
        key, as: type)
    else { return false }
    let keyPath: AnyKeyPath
    if let known = traits.backReferenceKeys[key] {
      guard let known else { return false }
      keyPath = known
    } else {
      let candidates = traits.backReferences.filter { BackReference.wrappedType(of: $0) == type }
      guard !candidates.isEmpty else {
        traits.backReferenceKeys[key] = AnyKeyPath??.some(nil)
        return false
      }
      traits.askedBackReferences.insert(ObjectIdentifier(type))
      // Nothing there is nothing to set, and nothing to find the key path by.
      if !relationship.isToMany, try object.object(forKey: relationship.name) == nil { return true }
      let found = try probe(key, of: object, traits, candidates)
      traits.backReferenceKeys[key] = AnyKeyPath??.some(found)
      guard let found else { return false }
      keyPath = found
    }
    frames[frames.count - 1].postponed.append(
      BackReference(object: object, key: key, keyPath: keyPath, traits: traits))
    return true
  }

  /// Finds the key path of a coding key, which key paths do not tell: a model that reads nothing
  /// but this one relationship shows where it went.
  private func probe(
    _ key: String, of object: ManagedObject, _ traits: ModelTraits, _ candidates: [AnyKeyPath]
  ) throws -> AnyKeyPath? {
    func set<M: ValueModel>(_ type: M.Type) -> [AnyKeyPath]? {
      let reading = ManagedObjectReading(schema, in: context, probing: key)
      let source = ManagedObjectSource(object)
      // It holds the models, which the property may not do.
      return withExtendedLifetime(reading) {
        guard let model = try? reading.instance(type, object, ModelDecoder(source, reading)) else {
          return nil
        }
        return candidates.filter { model[keyPath: $0].flatMap(flattened) != nil }
      }
    }
    switch set(traits.type) {
    case let found? where found.count <= 1: return found.first
    case nil where candidates.count == 1: return candidates[0]
    default:
      throw ArborError(
        .invalidMapping,
        "The key “\(key)” doesn't identify one of \(traits.name)'s backReferences. Give them "
          + "different types, or make relationships of the models optional."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: key)
    }
  }

  /// Sets the properties that were left for when all models have been made. Models that these lead
  /// to may have such properties too.
  private func setBackReferences() throws {
    var next = 0
    while next < waiting.count {
      let reference = waiting[next]
      next += 1
      let decoder = ModelDecoder(
        ManagedObjectSource(reference.object), self, traits: reference.traits)
      try reference.set(by: decoder)
    }
    waiting = []
  }
}

/// A property of a model that leads back to others, to be set once these have been made.
struct BackReference {
  let object: ManagedObject
  let key: String
  let keyPath: AnyKeyPath
  let traits: ModelTraits
  /// The model that has the property, once it has been made.
  private(set) var model: (any ValueModel)?

  /// The reference of a model that has been made.
  func from(_ model: any ValueModel) -> BackReference {
    var reference = self
    reference.model = model
    return reference
  }

  /// What the optional property of a key path wraps; nil for any other property.
  static func wrappedType(of keyPath: AnyKeyPath) -> Any.Type? {
    (type(of: keyPath).valueType as? any OptionalModelValue.Type)?.wrappedType
  }

  /// The name of a stored property of a final class, which a key path tells; nil for any other.
  static func name(of keyPath: AnyKeyPath) -> String? {
    let name = keyPath.debugDescription.split(separator: ".").last.map(String.init)
    return name.flatMap { $0.contains("<") ? nil : $0 }
  }

  func set(by decoder: ModelDecoder<ManagedObjectSource>) throws {
    var cursor = 0
    guard
      let source = try decoder.source.member(
        key, as: nil, of: traits, decoder.session, cursor: &cursor),
      let type = Self.wrappedType(of: keyPath) as? any Decodable.Type
    else { return }
    func read<T: Decodable>(_ type: T.Type) throws -> Any { try decoder.read(type, source) }
    let value = try read(type)
    guard let root = Swift.type(of: keyPath).rootType as? any ValueModel.Type, set(value, root)
    else {
      throw ArborError(
        .invalidMapping,
        "\(traits.name).\(key) is one of backReferences and cannot be set. Make it an optional "
          + "variable of a class."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: key)
    }
  }

  private func set<Root: ValueModel>(_ value: Any, _ root: Root.Type) -> Bool {
    guard let model = model as? Root,
      let optional = Swift.type(of: keyPath).valueType as? any OptionalModelValue.Type
    else { return false }
    return optional.assign(value, keyPath, of: model)
  }
}

/// Objects that models are made of, reached the same way.
///
/// What one of them leads to is read for all of them together, once the first model asks for it: in
/// one pass over the relationship and one over the entity, whatever the number of objects.
final class ReadCohort {
  private let context: ManagedObjectContext
  private let trail: Trail
  /// Made when a model asks where they lead, which most last ones do not.
  private lazy var objects: [ManagedObject] = makeObjects?() ?? []
  private var makeObjects: (() -> [ManagedObject])?
  private var next: [Relationship: ReadCohort] = [:]

  /// A relationship of an entity, whatever model type leads along it.
  private struct Relationship: Hashable {
    let entity: Int
    let slot: Int
  }

  /// What has been read along each relationship, so that circles come to an end.
  private final class Trail {
    var owners: [Relationship: Set<ManagedObject>] = [:]
  }

  /// The objects that a call makes models of.
  convenience init(_ objects: [ManagedObject], in context: ManagedObjectContext) {
    self.init(in: context, Trail()) { objects }
  }

  private init(
    in context: ManagedObjectContext, _ trail: Trail, _ objects: @escaping () -> [ManagedObject]
  ) {
    self.context = context
    self.trail = trail
    makeObjects = objects
  }

  /// Reads what a relationship leads to from all of the objects that have it; returns the objects
  /// there, as far as the relationship was not followed from their owners before.
  func following(_ relationship: MappedRelationship) throws(ArborError) -> ReadCohort {
    let id = Relationship(
      entity: relationship.owner.index, slot: relationship.slot)
    if let known = next[id] { return known }
    let slot = relationship.slot
    var owners: [ManagedObject] = []
    for object in objects where object.isKind(of: relationship.owner) && !object.isDeleted {
      if trail.owners[id, default: []].insert(object).inserted { owners.append(object) }
    }
    if owners.count > 1 {
      // Of a to-many relationship the context remembers what it has read last. Where the levels of
      // a tree follow one relationship, models of the levels above have yet to ask.
      try context.session.prefetch(
        atSlot: slot, of: relationship.isToMany ? Array(trail.owners[id] ?? []) : owners)
    }
    let cohort = ReadCohort(in: context, trail) {
      owners.flatMap { owner in
        relationship.isToMany
          ? owner.objects(atSlot: slot) : owner.object(atSlot: slot).map { [$0] } ?? []
      }.eachOnce
    }
    next[id] = cohort
    return cohort
  }
}
