public import ArborModel

/// The objects of a to-many relationship that was looked up by its name.
///
/// A view counts, tests, inserts and removes without reading the other objects, and always reflects
/// the changes of its context. It is the counterpart of ``ToMany`` for models without classes; its
/// methods throw what `ToMany` leaves to the context's next operation.
///
/// ```swift
/// let employees = try company.objects(forKey: "employees")
/// try employees.insert(ada)
/// for employee in try employees.fetch() { … }
/// ```
public struct RelatedObjects {
  let owner: ManagedObject
  let relationship: RelationshipSchema

  /// Reads the objects, in their order if the relationship is ordered, otherwise in that of their
  /// IDs.
  ///
  /// - Throws: As ``ManagedObject/value(forKey:)``.
  public func fetch() throws(ArborError) -> [ManagedObject] {
    try owner.requireReadable(.relationship(relationship))
    return try owner.reading { owner.objects(of: relationship) }
  }

  /// Returns the number of objects without reading them.
  ///
  /// - Throws: As ``fetch()``.
  public func count() throws(ArborError) -> Int {
    try owner.requireReadable(.relationship(relationship))
    return try owner.reading { owner.count(of: relationship) }
  }

  /// Returns whether the relationship leads to an object, without reading the others.
  ///
  /// - Throws: As ``fetch()``.
  public func contains(_ object: ManagedObject) throws(ArborError) -> Bool {
    try owner.requireReadable(.relationship(relationship))
    return try owner.reading { owner.contains(object, in: relationship) }
  }

  /// Adds an object, at the end if the relationship is ordered, and updates the inverse. Does
  /// nothing if it is already there.
  ///
  /// - Throws: As ``ManagedObject/setObject(_:forKey:)``.
  public func insert(_ object: ManagedObject) throws(ArborError) {
    try owner.changing { () throws(ArborError) in try owner.add(object, to: relationship) }
  }

  /// Removes an object and updates the inverse. Does nothing if it isn't there.
  ///
  /// - Throws: As ``ManagedObject/setObject(_:forKey:)``.
  public func remove(_ object: ManagedObject) throws(ArborError) {
    try owner.changing { () throws(ArborError) in try owner.remove(object, from: relationship) }
  }

  /// Replaces all objects, in the given order if the relationship is ordered, and updates the
  /// inverses.
  ///
  /// - Throws: As ``ManagedObject/setObject(_:forKey:)``.
  public func replaceAll(with objects: some Sequence<ManagedObject>) throws(ArborError) {
    try owner.changing { () throws(ArborError) in try owner.setObjects(objects, of: relationship) }
  }
}

@available(*, unavailable, message: "A view stays with its object's context.")
extension RelatedObjects: Sendable {}
