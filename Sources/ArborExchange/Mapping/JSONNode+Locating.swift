import ArborJSON
import ArborModel

extension JSONNode {
  /// Runs what a value of a document asks for, and adds the value's location to what that throws,
  /// with entity and property where the error names none.
  func locating<T>(
    entity: String, property: String? = nil, _ body: () throws -> T
  ) throws(ArborError) -> T {
    do {
      return try body()
    } catch let error as ArborError {
      throw error.located(entity, property, at: location)
    } catch {
      throw self.error("The context refused the value; see the error beneath.")
        .with(entity: entity, keyPath: property, underlying: error)
    }
  }
}

extension ArborError {
  /// The error with entity, property and location where it names none itself.
  func located(
    _ entity: String, _ property: String?, at location: @autoclosure () -> SourceLocation?
  ) -> ArborError {
    with(
      entity: self.entity ?? entity, keyPath: keyPath ?? property,
      location: self.location ?? location())
  }
}
