/// The way from a document's root to a value, as `$.employees[3].hired`.
package struct JSONPath: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case key(String)
    case index(Int)
  }

  private(set) var steps: [Step] = []

  /// The path of the root, `$`.
  package init() {}

  package mutating func append(key: String) { steps.append(.key(key)) }

  package mutating func append(index: Int) { steps.append(.index(index)) }
}
