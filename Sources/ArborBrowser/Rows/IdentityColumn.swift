/// The column with the names of objects, such as `Employee/7`, in tables and exports.
package enum IdentityColumn {
  /// The column's name, which no property can have.
  package static let name = "@id"

  /// Returns a name for the column in a request for rows with other columns.
  package static func alias(besides names: [String]) -> String {
    var alias = "object"
    while names.contains(alias) { alias += "X" }
    return alias
  }
}
