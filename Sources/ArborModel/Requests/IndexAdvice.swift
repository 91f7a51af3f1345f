/// An index that a fetch would have used if it existed.
///
/// The advice depends only on the form of the request, not on selectivity: if most objects satisfy
/// the condition, a scan remains faster.
public struct IndexAdvice: Sendable, Hashable {
  /// The name of the entity that should declare the index.
  public let entity: String
  /// The index, ready to be added to the entity's ``EntityDescription/fetchIndexes``.
  public let index: FetchIndexDescription

  package init(entity: String, index: FetchIndexDescription) {
    self.entity = entity
    self.index = index
  }
}

extension IndexAdvice {
  /// A human-readable description of the entity and the index: `Employee (age, -name)`.
  package var summary: String { "\(entity) \(index.summary)" }
}

extension IndexAdvice: CustomStringConvertible {
  /// The index as declared in code, followed by the entity:
  /// `FetchIndexDescription("byAgeName", on: "age", "-name") at Employee`.
  public var description: String {
    if let element = index.elements.first, element.kind == .text {
      return "FetchIndexDescription(text: \"\(element.property)\") at \(entity)"
    }
    let columns = index.elements.map { element in
      let name = "\"\(element.isAscending ? "" : "-")\(element.property)\""
      return element.kind == .folded ? ".folded(\(name))" : name
    }
    return
      "FetchIndexDescription(\"\(index.name)\", on: \(columns.joined(separator: ", "))) at \(entity)"
  }
}
