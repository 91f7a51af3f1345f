package import ArborJSON
package import ArborModel
package import ArborObjects
internal import ArborStore
internal import Foundation

/// A hypothetical index and its effect on a query.
package struct ProposedIndex {
  private let advice: IndexAdvice

  /// Creates an index from its columns, each a property with `-` for descending order or `[cd]` for
  /// text that is compared without case and diacritics.
  ///
  /// - Throws: `ArborError` `unknownName` or `invalidArgument`.
  package init(
    _ columns: [String], of entity: String, in model: ManagedObjectModel
  ) throws(ArborError) {
    try self.init(columns, of: BrowsedSchema(model).entity(entity))
  }

  init(_ columns: [String], of entity: BrowsedSchema.Entity) throws(ArborError) {
    guard !columns.isEmpty else {
      throw ArborError(
        .invalidArgument,
        "Enter the properties of the index, such as \"name, -age\".")
    }
    let elements = try columns.map { (text) throws(ArborError) in
      try Self.element(text, of: entity)
    }
    let words = elements.map { $0.property.prefix(1).uppercased() + $0.property.dropFirst() }
    advice = IndexAdvice(
      entity: entity.name,
      index: FetchIndexDescription(name: "by" + words.joined(), elements: elements))
  }

  private static func element(
    _ text: String, of entity: BrowsedSchema.Entity
  ) throws(ArborError) -> FetchIndexDescription.Element {
    let isDescending = text.hasPrefix("-")
    let isFolded = text.hasSuffix("[cd]")
    let name = String(text.dropFirst(isDescending ? 1 : 0).dropLast(isFolded ? 4 : 0))
      .trimmingCharacters(in: .whitespaces)
    let attribute = entity.attributes.first { $0.name == name }
    let targets = entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map(\.name)
    let names = entity.attributes.map(\.name) + targets
    guard names.contains(name) else {
      throw ArborError(
        .unknownName,
        "\(entity.name) has no property \(name) that can be indexed."
          + NearestName.hint(name, in: names))
    }
    if isFolded, attribute?.type != .string {
      throw ArborError(.invalidArgument, "\(name) is not a string. Remove [cd].")
    }
    return FetchIndexDescription.Element(
      name, isAscending: !isDescending, kind: isFolded ? .folded : .binary)
  }

  /// The effect of the index on a query.
  package struct Effect {
    private let summary: String
    private let size: IndexSize?
    private let total: Int
    private let effect: IndexEffect?

    fileprivate init(_ summary: String, _ size: IndexSize?, _ total: Int, _ effect: IndexEffect?) {
      self.summary = summary
      self.size = size
      self.total = total
      self.effect = effect
    }

    package var json: JSONValue {
      [
        "summary": .string(summary), "size": size?.json ?? .null, "total": JSONValue(total),
        "effect": effect.map { effect in
          [
            "conditions": .string(effect.conditions), "rows": JSONValue(effect.rows),
            "givesOrder": .bool(effect.givesOrder),
          ]
        } ?? .null,
      ]
    }

    /// Returns a description of the effect.
    ///
    /// - Parameter bytes: A closure that formats a number of bytes with its unit.
    package func text(_ bytes: (Int) -> String) -> String {
      let space =
        size.map { "up to \($0.entries) entries, about \(bytes($0.bytes)) (estimated); " } ?? ""
      guard let effect else {
        return
          "\(summary): \(space)this query would not use it, because neither a condition nor the "
          + "order begins with its first property"
      }
      return "\(summary): \(space)the query would find \(effect.rows) of \(total) objects"
        + (effect.conditions.isEmpty ? "" : " by \(effect.conditions)")
        + (effect.givesOrder ? ", already sorted" : "")
    }
  }

  /// Returns the effect of the index on a query of its entity. Reads every object.
  package func effect(
    on request: FetchRequest<ManagedObject>, in context: ManagedObjectContext
  ) throws(ArborError) -> Effect {
    Effect(
      advice.summary, try IndexSize(advice, in: context),
      try context.count(FetchRequest<ManagedObject>(entity: advice.entity)),
      try context.effect(of: advice.index, on: request))
  }
}
