import ArborModel

extension JSONNode {
  /// Runs what a value of a document asks for, and adds the value's place to what that throws.
  ///
  /// - Parameters:
  ///   - entity: The entity that the value belongs to, where the error names none.
  ///   - property: The property that the value is for, where the error names none.
  func placing<T>(
    entity: String, property: String? = nil, _ body: () throws -> T
  ) throws(ArborError) -> T {
    do {
      return try body()
    } catch let error as ArborError {
      throw error.with(
        entity: error.entity ?? entity, keyPath: error.keyPath ?? property,
        location: error.location ?? location)
    } catch {
      throw self.error("The context refused the value; see the error beneath.")
        .with(entity: entity, keyPath: property, underlying: error)
    }
  }
}
