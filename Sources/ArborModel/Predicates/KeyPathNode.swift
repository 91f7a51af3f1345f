/// A chain of names and collection operators. An empty chain is `SELF`.
package struct KeyPathNode: Sendable, Hashable {
  package enum Part: Sendable, Hashable {
    case name(String, PredicateSite)
    /// The names that an argument provides for a format's `%K`.
    case argument(Int, PredicateSite)
    /// A collection operator such as `@count`, including the `@`.
    case collectionOperator(String, PredicateSite)
  }

  package var parts: [Part]
  package var site: PredicateSite

  package init(_ parts: [Part], site: PredicateSite = .none) {
    self.parts = parts
    self.site = site
  }

  package init(names: [String], site: PredicateSite = .none) {
    self.init(names.map { .name($0, site) }, site: site)
  }

  /// The names of the parts, without arguments.
  package var names: [String] {
    parts.compactMap { part in
      switch part {
      case .name(let name, _), .collectionOperator(let name, _): name
      case .argument: nil
      }
    }
  }

  package static let collectionOperators = [
    "@count", "@sum", "@avg", "@min", "@max", "@unionOfObjects", "@distinctUnionOfObjects",
    "@unionOfArrays", "@distinctUnionOfArrays", "@distinctUnionOfSets",
  ]
}

extension KeyPathNode.Part {
  /// Creates a collection operator if the text starts with `@`, otherwise a name.
  package init(_ text: String, _ site: PredicateSite = .none) {
    self = text.hasPrefix("@") ? .collectionOperator(text, site) : .name(text, site)
  }
}

extension KeyPathNode {
  static func tooLong(_ count: Int, _ most: Int) -> String {
    "The key path has \(count) names, which exceeds the limit of \(most). Follow fewer "
      + "relationships."
  }
}
