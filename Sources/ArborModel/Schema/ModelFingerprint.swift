/// A short value that identifies how a model is stored.
///
/// Two models have the same fingerprint if and only if a store of one can be opened with the other.
///
/// The fingerprint depends on everything that affects stored bytes:
/// - names of entities, attributes and relationships; parents; which entities are abstract;
/// - types of attributes, including the parts of composites and the names of transformers;
/// - parts of JSON attributes that every value must have because no default supplies them;
/// - whether attributes are optional, because making an attribute mandatory changes old records;
/// - transient properties, external storage, derivations;
/// - destinations and inverses of relationships, and whether they are to-many or ordered;
/// - indexes and uniqueness constraints as they are stored, with their conditions and, if they fold
///   strings, the version of the folding; version hash modifiers;
/// - renaming identifiers that are names of other entities, or of other properties in the
///   hierarchy: if two properties swap names, nothing else differs, and yet their values must be
///   moved.
///
/// It does not depend on:
/// - class names, user info, the version identifier: used only by code and tools;
/// - the order of declaration: the fields of a record are ordered by catalog number;
/// - default values: a layout records the value of an added attribute for older records;
/// - other parts of JSON attributes, as long as their types agree: see ``JSONShape``;
/// - bounds, patterns, mandatory relationships and their counts: checked at commit;
/// - delete rules, fetched properties, named requests, configurations: they act on objects;
/// - indexes that aren't stored, and an indexed attribute with an equivalent constraint or index;
/// - values that the history keeps on deletion: they affect only future deletions;
/// - other renaming identifiers: they identify the origin of data, not how it is stored.
///
/// ```swift
/// if store.model.fingerprint != model.fingerprint { print(store.model.difference(to: model)) }
/// ```
public struct ModelFingerprint: Sendable, Hashable {
  package let bits: UInt128

  package init(bits: UInt128) { self.bits = bits }
}

extension ModelFingerprint: LosslessStringConvertible, Codable {
  /// 32 hexadecimal digits.
  public var description: String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  /// Creates a fingerprint from its 32 hexadecimal digits. Returns `nil` for any other text.
  public init?(_ description: String) {
    guard description.utf8.count == 32, description.allSatisfy(\.isHexDigit),
      let bits = UInt128(description, radix: 16)
    else { return nil }
    self.bits = bits
  }

  /// Decodes the text form from a single-value container.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let fingerprint = Self(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A fingerprint has 32 hexadecimal digits.")
    }
    self = fingerprint
  }

  /// Encodes the text form into a single-value container.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension ManagedObjectModel {
  /// The fingerprint of how the model is stored; see ``ModelFingerprint``.
  ///
  /// - Complexity: Linear in the size of the model; a few microseconds for a small one.
  public var fingerprint: ModelFingerprint {
    var hash = WideHash()
    let indices = Dictionary(
      entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let parts = Dictionary(
      composites.map { ($0.name, $0.attributes) }, uniquingKeysWith: { first, _ in first })
    let lineages = entities.map { lineage(of: $0, indices: indices) }
    var propertyNames: [String: Set<String>] = [:]
    for lineage in lineages {
      let (entity, root) = (lineage[0], lineage[lineage.count - 1].name)
      propertyNames[root, default: []].formUnion(entity.attributes.map(\.name))
      propertyNames[root, default: []].formUnion(entity.relationships.map(\.name))
    }
    let entityNames = Set(indices.keys)
    for lineage in lineages.sorted(by: { $0[0].name < $1[0].name }) {
      let names = propertyNames[lineage[lineage.count - 1].name] ?? []
      let entity = lineage[0]
      hash.mix(identifier: entity.renamingIdentifier, of: entity.name, among: entityNames)
      hash.mix(entity, composites: parts, names: names)
      for index in entity.keptIndexes(where: { isKept($0, of: lineage) }) {
        hash.mix(index) { part(of: $0, in: lineage) }
      }
    }
    return ModelFingerprint(bits: hash.bits)
  }

  private func lineage(of entity: EntityDescription, indices: [String: Int]) -> [EntityDescription]
  {
    var lineage = [entity]
    while let parent = lineage[lineage.count - 1].parent, let parentIndex = indices[parent],
      lineage.count <= entities.count
    {
      lineage.append(entities[parentIndex])
    }
    return lineage
  }

  private func part(of column: KeptIndex.Column, in lineage: [EntityDescription]) -> CodablePath? {
    lineage.lazy.compactMap { entity in
      entity.attributes.first { $0.name == column.firstName }
    }.first.flatMap(column.part)
  }

  private func isKept(_ column: KeptIndex.Column, of lineage: [EntityDescription]) -> Bool {
    for entity in lineage {
      if let attribute = entity.attributes.first(where: { $0.name == column.firstName }) {
        return column.fits(attribute)
      }
      if let relationship = entity.relationships.first(where: { $0.name == column.property }) {
        return column.fits(relationship)
      }
    }
    return false
  }
}

extension WideHash {
  /// Mixes in a part's renaming identifier if it is the name of another part.
  fileprivate mutating func mix(
    identifier: String?, of name: String, among names: Set<String>
  ) {
    if let identifier, identifier != name, names.contains(identifier) { mix(identifier) }
  }

  /// Mixes in the parts of an entity that affect stored bytes.
  ///
  /// - Parameter names: The names of all properties in the entity's hierarchy.
  fileprivate mutating func mix(
    _ entity: EntityDescription, composites: [String: [AttributeDescription]], names: Set<String>
  ) {
    mix(UInt8(ascii: "E"))
    mix(entity.name)
    mix(entity.parent)
    mix(entity.versionHashModifier)
    mix(entity.isAbstract)
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      mix(identifier: attribute.renamingIdentifier, of: attribute.name, among: names)
      mix(attribute, composites: composites, depth: 0)
    }
    for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
      mix(identifier: relationship.renamingIdentifier, of: relationship.name, among: names)
      mix(UInt8(ascii: "R"))
      mix(relationship.name)
      mix(relationship.destination)
      mix(relationship.inverse)
      mix(relationship.versionHashModifier)
      mix(relationship.isToMany, relationship.isOrdered, relationship.isTransient)
    }
  }

  private mutating func mix(
    _ attribute: AttributeDescription, composites: [String: [AttributeDescription]], depth: Int
  ) {
    mix(UInt8(ascii: "A"))
    mix(attribute.name)
    mix(attribute.derivation)
    mix(attribute.versionHashModifier)
    mix(attribute.isOptional, attribute.isTransient, attribute.allowsExternalStorage)
    mix(attribute.type.kind.fingerprintCode)
    switch attribute.type {
    case .transformable(let transformer): mix(transformer)
    case .json: mix(required: attribute.shape, standard: attribute.defaultValue)
    case .composite(let name):
      // The names of the parts are stored, but not the name of the type. Valid models don't nest
      // infinitely, but hashing an invalid one must terminate, too.
      guard depth < 16, let parts = composites[name] else { return mix(name) }
      mix(UInt8(ascii: "("))
      let names = Set(parts.map(\.name))
      for part in parts.sorted(by: { $0.name < $1.name }) {
        mix(identifier: part.renamingIdentifier, of: part.name, among: names)
        mix(part, composites: composites, depth: depth + 1)
      }
      mix(UInt8(ascii: ")"))
    default: break
    }
  }

  /// - Parameter part: A closure that returns the part of a JSON attribute that a column contains.
  fileprivate mutating func mix(
    _ index: KeptIndex, part: (KeptIndex.Column) -> CodablePath?
  ) {
    mix(UInt8(ascii: index.isUnique ? "U" : "I"))
    mix(index.name)
    for column in index.columns {
      mix(column.property)
      mix(column.isAscending)
      if let part = part(column) {
        // The types of parts that may be missing aren't mixed in otherwise.
        mix(UInt8(ascii: part.element == nil ? "P" : "L"))
        mix((part.fieldKind ?? part.elementKind)?.rawValue ?? 0)
      }
      switch column.kind {
      case .plain, .elements: break
      case .folded(let folding):
        mix(UInt8(ascii: "F"))
        mix(folding.rawValue)
        mix(UInt8(StringFolding.version))
      case .tokens:
        mix(UInt8(ascii: "T"))
        mix(UInt8(StringFolding.version))
        mix(UInt8(TextTokens.version))
      }
    }
    if let condition = index.condition {
      mix(UInt8(ascii: "?"))
      mix(condition)
    }
  }
}
