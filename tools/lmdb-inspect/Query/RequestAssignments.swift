import ArborBrowser
import ArborModel

extension ModelRequest {
  /// Returns the values of the variables, given as `name=text`.
  ///
  /// - Throws: ``InspectError`` for an unknown or missing variable, `ArborError` for a value of
  ///   another type.
  func values(of assignments: [String]) throws -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for assignment in assignments {
      guard let (name, text) = Self.assignment(assignment) else {
        throw InspectError.notFound("“\(assignment)” is not an assignment. Write it as name=value.")
      }
      guard variables.contains(name) else {
        let names = variables.map { "$\($0)" }.joined(separator: ", ")
        throw InspectError.notFound(
          "The request \(template.name) has no variable $\(name). "
            + (names.isEmpty ? "It has no variables." : "Its variables are \(names)."))
      }
      values[name] = try value(text, of: name)
    }
    let missing = variables.filter { values[$0] == nil }
    guard missing.isEmpty else {
      let names = missing.map { "$\($0)" }.joined(separator: ", ")
      throw InspectError.notFound(
        "The request \(template.name) has no value for \(names). Add "
          + missing.map { "--set \($0)=\(type(of: $0).sample)" }.joined(separator: " ") + ".")
    }
    return values
  }
}
