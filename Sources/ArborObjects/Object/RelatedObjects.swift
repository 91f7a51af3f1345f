public import ArborModel

/// A view of the objects of a to-many relationship that was looked up by name.
///
/// Counting, testing, inserting and removing objects through a view doesn't read the others. A view
/// always reflects the changes of its context. It is the counterpart of ``ToMany`` for models
/// without classes. Its methods throw errors that `ToMany` defers to the context's next operation.
///
/// ```swift
/// let employees = try company.objects(forKey: "employees")
/// try employees.insert(ada)
/// for employee in try employees.fetch() { … }
/// ```
public struct RelatedObjects {
  let owner: ManagedObject
  let relationship: RelationshipSchema

  /// Returns the objects, in their order if the relationship is ordered, otherwise sorted by ID.
  ///
  /// - Throws: The same errors as ``ManagedObject/value(forKey:)``.
  public func fetch() throws(ArborError) -> [ManagedObject] {
    try owner.requireReadable(.relationship(relationship))
    return try owner.reading { owner.objects(of: relationship) }
  }

  /// Returns the number of objects without reading them.
  ///
  /// - Throws: The same errors as ``fetch()``.
  public func count() throws(ArborError) -> Int {
    try owner.requireReadable(.relationship(relationship))
    return try owner.reading { owner.count(of: relationship) }
  }

  /// Returns whether the relationship contains an object, without reading the others.
  ///
  /// - Throws: The same errors as ``fetch()``.
  public func contains(_ object: ManagedObject) throws(ArborError) -> Bool {
    try owner.requireReadable(.relationship(relationship))
    return try owner.reading { owner.contains(object, in: relationship) }
  }

  /// Adds an object, at the end if the relationship is ordered, and updates the inverse. Does
  /// nothing if the relationship already contains it.
  ///
  /// - Throws: The same errors as ``ManagedObject/setObject(_:forKey:)``.
  public func insert(_ object: ManagedObject) throws(ArborError) {
    try owner.changing { () throws(ArborError) in try owner.add(object, to: relationship) }
  }

  /// Removes an object and updates the inverse. Does nothing if the relationship doesn't contain
  /// it.
  ///
  /// - Throws: The same errors as ``ManagedObject/setObject(_:forKey:)``.
  public func remove(_ object: ManagedObject) throws(ArborError) {
    try owner.changing { () throws(ArborError) in try owner.remove(object, from: relationship) }
  }

  /// Replaces all objects, in the given order if the relationship is ordered, and updates the
  /// inverses.
  ///
  /// - Throws: The same errors as ``ManagedObject/setObject(_:forKey:)``.
  public func replaceAll(with objects: some Sequence<ManagedObject>) throws(ArborError) {
    try owner.changing { () throws(ArborError) in try owner.setObjects(objects, of: relationship) }
  }
}

@available(*, unavailable, message: "A view belongs to its object's context. Pass objectIDs.")
extension RelatedObjects: Sendable {}
