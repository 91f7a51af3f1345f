package import ArborModel

/// The attributes that serve as the labels of objects.
package enum ObjectTitle {
  /// Returns the name of the attribute for each entity that has one.
  package static func attributes(of model: ManagedObjectModel) -> [String: String] {
    let titled = BrowsedSchema(model).entities.compactMap { entity in
      entity.title.map { (entity.name, $0) }
    }
    return Dictionary(titled) { first, _ in first }
  }
}
