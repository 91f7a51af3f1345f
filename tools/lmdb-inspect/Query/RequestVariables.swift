import ArborModel
import ArborObjects
import ArborStore

/// The values of the variables of a model's fetch request, given as `name=text`.
///
/// A value has the type of the attribute that its variable is compared with.
struct RequestVariables {
  let request: String
  let predicate: FetchPredicate
  let entity: EntitySchema
  let store: StoreEngine

  /// Returns the values by variable.
  ///
  /// - Throws: ``InspectError`` for an unknown or missing variable, or a value of another type.
  func values(of assignments: [String]) throws -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for assignment in assignments {
      let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0].drop { $0 == "$" })
      guard parts.count == 2, !name.isEmpty else {
        throw InspectError.notFound("“\(assignment)” is not an assignment. Write it as name=value.")
      }
      guard predicate.variables.contains(name) else {
        let names = predicate.variables.map { "$\($0)" }.joined(separator: ", ")
        throw InspectError.notFound(
          "The request \(request) has no variable $\(name). "
            + (names.isEmpty ? "It has no variables." : "Its variables are \(names)."))
      }
      values[name] = try value(String(parts[1]), of: name)
    }
    let missing = predicate.variables.filter { values[$0] == nil }
    guard missing.isEmpty else {
      let names = missing.map { "$\($0)" }.joined(separator: ", ")
      throw InspectError.notFound(
        "The request \(request) has no value for \(names). Add "
          + missing.map {
            "--set \($0)=\(VariableType.of($0, in: predicate, entity, store).sample)"
          }
          .joined(separator: " ") + ".")
    }
    return values
  }

  private func value(_ text: String, of name: String) throws -> PropertyValue {
    let type = VariableType.of(name, in: predicate, entity, store)
    if let value = type.value(text, in: store) { return value }
    throw InspectError.notFound(
      "“\(text)” is not a valid value for $\(name) of the request \(request). Expected "
        + "\(type.name), such as \(type.sample).")
  }
}
