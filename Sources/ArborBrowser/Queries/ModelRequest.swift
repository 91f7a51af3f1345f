package import ArborModel
package import Foundation

/// A fetch request of a store's model, whose variables a user gives values as text.
///
/// A value has the type of the attribute that its variable is compared with.
package struct ModelRequest {
  package let template: FetchRequestTemplate
  package let predicate: FetchPredicate
  private let entity: EntitySchema
  private let schema: ModelSchema
  private let storeID: UUID

  /// Returns the fetch request with a name.
  ///
  /// - Throws: `ArborError` `unknownName` with the existing names.
  package static func named(
    _ name: String, in schema: ModelSchema, of store: UUID
  ) throws(ArborError) -> ModelRequest {
    let templates = schema.model.fetchRequestTemplates
    if let template = templates.first(where: { $0.name == name }) {
      return try ModelRequest(template, in: schema, of: store)
    }
    let names = templates.map(\.name).sorted().joined(separator: ", ")
    throw ArborError(
      .unknownName,
      "The model has no fetch request named \(name). "
        + (names.isEmpty ? "It has no fetch requests." : "Its fetch requests are \(names)."))
  }

  package init(
    _ template: FetchRequestTemplate, in schema: ModelSchema, of store: UUID
  ) throws(ArborError) {
    guard let entity = schema.entity(named: template.entity) else {
      throw ArborError(.unknownName, "The model has no entity \(template.entity).")
    }
    self.template = template
    self.entity = entity
    self.schema = schema
    storeID = store
    do throws(ArborError) {
      predicate = try FetchPredicate(format: template.predicate ?? "TRUEPREDICATE")
    } catch {
      predicate = FetchPredicate(failing: error)
    }
  }

  /// Returns the variable and the text of an assignment, `name=text` or `$name=text`, or `nil` if it
  /// isn't one.
  package static func assignment(_ assignment: String) -> (variable: String, text: String)? {
    guard let sign = assignment.firstIndex(of: "=") else { return nil }
    let name = assignment[..<sign].drop { $0 == "$" }
    return name.isEmpty ? nil : (String(name), String(assignment[sign...].dropFirst()))
  }

  /// The names of the variables, sorted.
  package var variables: [String] { predicate.variables }

  package func type(of variable: String) -> VariableType {
    VariableType.of(variable, in: predicate, entity, schema)
  }

  /// Returns the value of a variable that was typed as text.
  ///
  /// - Throws: `ArborError` `typeMismatch` if the text isn't a value of the variable's type.
  package func value(_ text: String, of variable: String) throws(ArborError) -> PropertyValue {
    let type = type(of: variable)
    if let value = type.value(text, in: schema, of: storeID) { return value }
    throw ArborError(
      .typeMismatch,
      "“\(text)” is not a valid value for $\(variable) of the request \(template.name). Expected "
        + "\(type.name), such as \(type.sample).")
  }

  /// Returns the request as a query, with values for some or all of its variables.
  package func query(_ values: [String: PropertyValue] = [:]) -> SavedQuery {
    var condition = template.predicate
    if !values.isEmpty { condition = predicate.substituting(values).description }
    if !template.includesSubentities {
      let exact = "entity.name == \"\(template.entity)\""
      condition = condition.map { "(\($0)) AND \(exact)" } ?? exact
    }
    var query = SavedQuery(entity: template.entity, predicate: condition)
    if template.fetchLimit > 0 { query.limit = template.fetchLimit }
    if template.returnsDistinctResults { query.isDistinct = true }
    return query
  }
}
