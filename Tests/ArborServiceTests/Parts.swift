import ArborData

extension ManagedObjectModel {
  /// The model of the stores that run as services: parts with a code.
  static let parts = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Part",
      attributes: [AttributeDescription(name: "code", type: .integer64, defaultValue: 0)])
  ])
}
