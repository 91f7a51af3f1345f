import ArborJSON
import ArborModel

extension JSONNode {
  /// Runs `body`, and adds the value's location, entity and property to an error that lacks them.
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
  /// The error with entity, property and location, unless it has its own.
  func located(
    _ entity: String, _ property: String?, at location: @autoclosure () -> SourceLocation?
  ) -> ArborError {
    with(
      entity: self.entity ?? entity, keyPath: keyPath ?? property,
      location: self.location ?? location())
  }
}
