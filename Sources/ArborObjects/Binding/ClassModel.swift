public import ArborModel

extension ManagedObjectModel {
  /// Creates the model described by typed classes, with additional parts that don't belong to a
  /// class.
  ///
  /// A class that inherits from another typed class describes a subentity. The superclass's entity
  /// becomes part of the model, too. The model is validated like any other.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(for: [Company.self, Employee.self], versionIdentifier: "2")
  /// let other = try ManagedObjectModel(for: [Company.self, Employee.self]) {
  ///   FetchRequestTemplate("adults", entity: "Employee", predicate: "age >= 18")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - classes: The classes.
  ///   - versionIdentifier: A label for this version of the model.
  ///   - parts: Named requests, composite types, configurations, and entities without a class.
  /// - Throws: ``ArborError`` `invalidModel` with every problem, each with its entity and property.
  public init(
    for classes: [ManagedObject.Type], versionIdentifier: String = "",
    @ManagedObjectModel.Builder _ parts: () -> [ManagedObjectModel.Builder.Part] = { [] }
  ) throws(ArborError) {
    var model = try ManagedObjectModel(describedBy: classes)
    model.versionIdentifier = versionIdentifier
    model.add(parts())
    self = try model.validated()
    DescribedClasses.remember(classes, of: self)
  }

  /// Creates the model described by typed classes, without validating it.
  init(describedBy classes: [ManagedObject.Type]) throws(ArborError) {
    var entities: [EntityDescription] = []
    for objectClass in classes {
      let lineage = objectClass.describedLineage
      if let undescribed = lineage.isEmpty ? objectClass : objectClass.undescribedClass {
        let role = undescribed == objectClass ? "" : ", the superclass of \(objectClass),"
        throw ArborError(
          .invalidModel,
          "\(undescribed)\(role) doesn't describe an entity. Mark it with @Entity.")
      }
      for (position, description) in lineage.enumerated() {
        guard !entities.contains(where: { $0.name == description.name }) else { continue }
        let names = description.attributes.map(\.name) + description.relationships.map(\.name)
        for name in names { try objectClass.refuseReserved(name, description.name) }
        var description = description
        if position > 0, description.parent == nil {
          description.parent = lineage[position - 1].name
        }
        entities.append(description)
      }
    }
    self.init(entities: entities)
  }
}
