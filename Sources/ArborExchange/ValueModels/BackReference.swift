import ArborModel
import ArborObjects

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
        "\(traits.name).\(key) is one of backReferences and cannot be set; make it an optional "
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
