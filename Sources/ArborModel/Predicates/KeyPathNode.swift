/// A chain of names and collection operators; no part at all is `SELF`.
package struct KeyPathNode: Sendable, Hashable {
  package enum Part: Sendable, Hashable {
    case name(String, PredicateSite)
    /// Names that a `%K` of a format takes from an argument.
    case argument(Int, PredicateSite)
    /// `@count` and its kin, with the `@`.
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

  /// The names of the parts; without those that are arguments.
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
  /// A collection operator where the text begins with `@`, else a name.
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
