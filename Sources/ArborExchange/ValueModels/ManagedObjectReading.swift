import ArborModel
import ArborObjects

/// The state shared by all models that one call creates from managed objects. It maps each object
/// to its model.
final class ManagedObjectReading: ModelSession {
  private struct Identity: Hashable {
    let object: ObjectIdentifier
    let type: ObjectIdentifier
  }

  private struct Frame {
    let identity: Identity
    var postponed: [BackReference] = []
  }

  /// The maximum nesting depth of models. Initializers of models call each other, so deeper nesting
  /// could overflow the stack.
  static let maximumDepth = 256

  let mappings: ModelMappings
  var shapes: ModelShapes { mappings.shapes }
  /// The key of the only relationship that the outermost model of a probe reads, or `nil` if this
  /// isn't a probe. Models nested in a probe read no relationships.
  private let probedKey: String?
  /// The models with their objects. Retaining the objects keeps their identifiers valid.
  private var models: [Identity: (model: any ValueModel, object: ManagedObject)] = [:]
  private var frames: [Frame] = []
  private var open: Set<Identity> = []
  /// The back references of finished models that are still to be set.
  private var waiting: [BackReference] = []

  private let schema: ModelSchema
  private let context: ManagedObjectContext

  init(_ schema: ModelSchema, in context: ManagedObjectContext, probing key: String? = nil) {
    mappings = ModelMappings(schema)
    probedKey = key
    self.schema = schema
    self.context = context
  }

  /// Creates models of objects. Models and back references form one graph.
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
        "modelType(for:) of \(M.self) returned nil for an object of \(object.entity.name). Return "
          + "a type."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: source.name)
    }
    func make<Chosen: ValueModel>(_ type: Chosen.Type) throws -> M? {
      guard type is M.Type else { return nil }
      return try instance(type, object, decoder) as? M
    }
    guard let model = try make(chosen) else {
      throw ArborError(
        .noModelType,
        "modelType(for:) of \(M.self) returned \(chosen) for an object of \(object.entity.name). "
          + "Return \(M.self) or a subclass of it."
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
    // A model nested in a probe reads no relationships, so a cycle cannot occur.
    let isNew = probedKey != nil || open.insert(identity).inserted
    guard isNew else { throw circle(object, parent.source.name, traits) }
    guard frames.count < Self.maximumDepth else {
      throw ArborError(
        .limitExceeded,
        "The models are nested more than \(Self.maximumDepth) levels deep. Add the nested property "
          + "to backReferences, which aren't nested."
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
    // The identity of a structure without relationships isn't observable.
    if traits.isClass || mapping.hasRelationships { models[identity] = (model, object) }
    for reference in frame.postponed + keyless(of: object, mapping) {
      waiting.append(reference.from(model))
    }
    return model
  }

  /// Returns the back references whose keys the type doesn't decode because they have no coding
  /// keys.
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

  /// Checks that a model type can represent an object.
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
      "The objects form a cycle through an object whose \(traits.name) is still being created. "
        + "Add the property that closes the cycle to backReferences of a class, or exclude it in "
        + "managedKeys."
    ).with(entity: object.entity.name, objectID: object.objectID, keyPath: name)
  }

  /// Returns a property of an object, or `nil` if it is excluded or is an empty to-one
  /// relationship. In that case, the property of the model keeps its default.
  ///
  /// - Parameters:
  ///   - type: The requested type, or `nil` if it is unknown.
  ///   - cohort: The objects that are read together with the object, or `nil` for the object alone.
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

  /// Returns whether a property is a back reference, which is set after all models have been
  /// created.
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
      // An empty relationship has nothing to set, and cannot identify the key path.
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

  /// Finds the key path of a coding key by probing: creates a model that reads only this
  /// relationship, and checks which property was set. Returns `nil` if none was.
  private func probe(
    _ key: String, of object: ManagedObject, _ traits: ModelTraits, _ candidates: [AnyKeyPath]
  ) throws -> AnyKeyPath? {
    func set<M: ValueModel>(_ type: M.Type) -> [AnyKeyPath]? {
      let reading = ManagedObjectReading(schema, in: context, probing: key)
      let source = ManagedObjectSource(object)
      // The reading holds the models, because the property may be a weak reference.
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
        "The key “\(key)” matches several backReferences of \(traits.name). Give the properties "
          + "different types, or make their relationships optional."
      ).with(entity: object.entity.name, objectID: object.objectID, keyPath: key)
    }
  }

  /// Sets the back references that were postponed. Models that are created meanwhile can add
  /// further back references.
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

/// A property of a model that refers back to other models and is set after those have been created.
struct BackReference {
  let object: ManagedObject
  let key: String
  let keyPath: AnyKeyPath
  let traits: ModelTraits
  /// The model that has the property, once it has been created.
  private(set) var model: (any ValueModel)?

  /// Returns the reference with its model.
  func from(_ model: any ValueModel) -> BackReference {
    var reference = self
    reference.model = model
    return reference
  }

  /// Returns the wrapped type of an optional property, or `nil` if the property isn't optional.
  static func wrappedType(of keyPath: AnyKeyPath) -> Any.Type? {
    (type(of: keyPath).valueType as? any OptionalModelValue.Type)?.wrappedType
  }

  /// Returns the name of a stored property of a final class, or `nil` for any other property, whose
  /// key path doesn't contain the name.
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
        "\(traits.name).\(key) is listed in backReferences but cannot be set. Declare it as an "
          + "optional variable of a class."
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

/// Objects that models are created from and that were reached along the same relationships.
///
/// The destinations of a relationship are prefetched for all objects when the first model requests
/// them: with one pass over the relationship and one over the entity, regardless of the number of
/// objects.
final class ReadCohort {
  private let context: ManagedObjectContext
  private let trail: Trail
  /// The objects, determined when one of their relationships is first requested, which rarely
  /// happens at the innermost level.
  private lazy var objects: [ManagedObject] = makeObjects?() ?? []
  private var makeObjects: (() -> [ManagedObject])?
  private var next: [Relationship: ReadCohort] = [:]

  /// A relationship of an entity, independent of the model type.
  private struct Relationship: Hashable {
    let entity: Int
    let slot: Int
  }

  /// The owners from which each relationship has been followed. Prevents endless recursion in
  /// cyclic graphs.
  private final class Trail {
    var owners: [Relationship: Set<ManagedObject>] = [:]
  }

  /// Creates the cohort of the objects that a call creates models from.
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

  /// Prefetches a relationship for all objects that have it, and returns the cohort of the
  /// destinations. Owners from which the relationship was followed before are excluded.
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
      // The context keeps only the most recent prefetch of a to-many relationship. If a tree
      // follows one relationship on several levels, models of the upper levels still need it.
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
