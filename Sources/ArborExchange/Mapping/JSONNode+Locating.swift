import ArborJSON
import ArborModel

extension JSONNode {
  /// Runs what a value of a document asks for, and adds the value's location to what that throws,
  /// with entity and property where the error names none.
  func locating<T>(
    entity: String, property: String? = nil, _ body: () throws(ArborError) -> T
  ) throws(ArborError) -> T {
    do throws(ArborError) {
      return try body()
    } catch {
      throw error.located(entity, property, at: location)
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
