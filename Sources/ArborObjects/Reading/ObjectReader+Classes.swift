internal import ArborModel
internal import ArborWork

/// Which class represents which entity, as this context knows it.
extension ObjectReader {
  /// The binding of a typed class, which makes objects of that class.
  ///
  /// A class that the store was not opened with is bound when it is used for the first time.
  ///
  /// - Throws: ``ArborError`` where the class describes no entity of the model, contradicts it, or
  ///   objects of the entity exist in this context as another class.
  func binding(for objectClass: ManagedObject.Type) throws(ArborError) -> EntityBinding {
    if let binding = classes[objectClass] { return binding }
    let bound = try context.store.bind(objectClass)
    let updated = context.store.boundClasses
    for (old, new) in zip(classes.bindings, updated.bindings)
    where old.objectClass != new.objectClass {
      try refuseRebinding(of: new)
    }
    classes = context.observation == nil ? updated : updated.observed
    return classes[objectClass] ?? bound
  }

  /// Objects cannot change their class: an entity may get another one only while it has none here.
  private func refuseRebinding(of binding: EntityBinding) throws(ArborError) {
    var isInUse = false
    work.registry.forEach { if $0.live.binding.entity === binding.entity { isInUse = true } }
    guard isInUse else { return }
    throw ArborError(
      .notAllowed,
      "This context already holds objects of \(binding.entity.name) that are no "
        + "\(binding.objectClass); open the store with its classes, or use the class first."
    ).with(entity: binding.entity.name)
  }
}
