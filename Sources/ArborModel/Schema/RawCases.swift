/// The raw values of an enumeration that a typed class uses for an attribute.
///
/// A model file doesn't list them, so programs without the class accept any value of the type.
package struct RawCases: Sendable {
  private let typeName: String
  /// The raw values of all cases, or empty if the enumeration doesn't list its cases.
  private let known: [PropertyValue]
  private let isCase: @Sendable (PropertyValue) -> Bool

  /// - Parameters:
  ///   - typeName: The enumeration's name, for messages.
  ///   - known: The raw values of all cases, or an empty array if they are unknown.
  ///   - isCase: A closure that returns whether a value is the raw value of a case.
  package init(
    of typeName: String, known: [PropertyValue],
    isCase: @escaping @Sendable (PropertyValue) -> Bool
  ) {
    self.typeName = typeName
    self.known = known
    self.isCase = isCase
  }

  /// Returns whether a value is nil or the raw value of a case.
  package func contains(_ value: PropertyValue) -> Bool { value.isNull || isCase(value) }

  /// The valid values, for messages: `a case of Mode (off, on)`.
  package var expectation: String {
    if known.isEmpty { return "a case of \(typeName)" }
    let shown = known.prefix(12).map(\.description).joined(separator: ", ")
    return "a case of \(typeName) (\(shown)\(known.count > 12 ? ", …" : ""))"
  }

  /// Returns a suggestion of the nearest case, as a sentence with a leading space, or an empty string.
  package func hint(_ value: PropertyValue) -> String {
    guard case .string(let text) = value else { return "" }
    return NearestName.hint(text, in: known.compactMap(\.string))
  }
}
