/// An index that a store does not have and a fetch would have used.
///
/// It is advice about the form of a request: where most objects fulfil the condition, a scan stays
/// the better way.
public struct IndexAdvice: Sendable, Hashable {
  /// The name of the entity to declare the index at.
  public let entity: String
  /// The index, ready to be put among the entity's ``EntityDescription/fetchIndexes``.
  public let index: FetchIndexDescription

  /// Describes advice.
  package init(entity: String, index: FetchIndexDescription) {
    self.entity = entity
    self.index = index
  }
}

extension IndexAdvice {
  /// The entity and what the index is over, as a person reads it: `Employee (age, -name)`.
  package var summary: String { "\(entity) \(index.summary)" }
}

extension IndexAdvice: CustomStringConvertible {
  /// The index as code declares it: `Index("byAgeName", on: "age", "-name") at Employee`.
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
