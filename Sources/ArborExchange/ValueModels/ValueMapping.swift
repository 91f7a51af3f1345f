/// Under which names the properties of a value model stand in its entity.
///
/// ```swift
/// static let managedKeys: ValueMapping = .identity
///   .renaming(["bannerID": "id"]).excluding("cached")
/// ```
public struct ValueMapping: Sendable, Hashable {
  private var names: [String: String] = [:]
  private var excluded: Set<String> = []

  /// Every property under its own name: that of its coding key.
  public static let identity = ValueMapping()

  private init() {}

  /// The mapping with some properties under other names.
  ///
  /// - Parameter names: The names in the entity, by the coding keys.
  public func renaming(_ names: [String: String]) -> ValueMapping {
    var mapping = self
    mapping.names.merge(names) { _, new in new }
    mapping.excluded.subtract(names.keys)
    return mapping
  }

  /// The mapping without some properties, which take no part: they are optional, or have no coding
  /// key at all.
  public func excluding(_ keys: String...) -> ValueMapping { excluding(keys) }

  /// The mapping without some properties, which take no part.
  public func excluding(_ keys: some Sequence<String>) -> ValueMapping {
    var mapping = self
    mapping.excluded.formUnion(keys)
    for key in keys { mapping.names[key] = nil }
    return mapping
  }

  /// The name of a property in the entity, nil where it takes no part.
  public func name(for key: String) -> String? { excluded.contains(key) ? nil : names[key] ?? key }

  /// The properties under other names, in the order of their coding keys.
  var renamedKeys: [(key: String, name: String)] {
    names.sorted { $0.key < $1.key }.map { (key: $0.key, name: $0.value) }
  }

  /// The coding keys that the mapping speaks of.
  var namedKeys: Set<String> { excluded.union(names.keys) }
}
