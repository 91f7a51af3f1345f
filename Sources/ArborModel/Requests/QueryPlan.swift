/// How the store answers a fetch: which rows it visits by what way, and what it does with them.
///
/// A plan is a chain of steps, the last one first; each takes its rows from the one below. It is
/// decided by exact counts, so it depends on the data as well as on the request.
///
/// ```swift
/// print(try context.explain(request))
/// // limit 50
/// // └ sort by name
/// //   └ filter 1 condition
/// //     └ index Employee.age: age >= 30 and < 40 · 1322 rows
/// ```
public struct QueryPlan: Sendable, Hashable {
  /// What one step of a plan does.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Nothing can match: nothing is read.
    case nothing
    /// Reads the objects whose IDs the predicate names.
    case objects
    /// Reads the objects that an index names.
    case index
    /// Reads the objects that a relationship's inverse names.
    case relationship
    /// Reads all objects of the entity and its subentities.
    case scan
    /// Keeps the rows that meet conditions which the way they were found does not ensure.
    case filter
    /// Puts the rows in order.
    case sort
    /// Drops the first rows, and all after a number of rows.
    case limit
  }

  /// One step.
  public struct Step: Sendable, Hashable {
    /// What the step does.
    public let kind: Kind
    /// The name of the index or relationship it uses, as `Entity.name`.
    public let name: String?
    /// The range, the conditions, the sort keys or the limit, in words.
    public let detail: String
    /// How many rows leave the step, as far as the planner could tell; nil where it could not.
    public let estimatedRows: Int?
    /// How many rows leave the step, where the planner counted them all.
    public let actualRows: Int?

    /// Describes a step.
    public init(
      _ kind: Kind, name: String? = nil, detail: String = "", estimatedRows: Int? = nil,
      actualRows: Int? = nil
    ) {
      self.kind = kind
      self.name = name
      self.detail = detail
      self.estimatedRows = estimatedRows
      self.actualRows = actualRows
    }
  }

  /// The steps from the one that reads rows to the one that hands them out.
  public let steps: [Step]

  /// Makes a plan of its steps, the reading one first.
  public init(steps: [Step]) { self.steps = steps }

  /// The step that reads the rows.
  public var access: Step { steps.first ?? Step(.nothing) }

  /// Whether rows are found by an index.
  public var usesIndex: Bool { access.kind == .index }
}

extension QueryPlan.Step: CustomStringConvertible {
  /// The step on one line: what it does, with what, how many rows.
  public var description: String {
    var text = kind.rawValue
    if let name { text += " \(name)" }
    if !detail.isEmpty { text += name == nil ? " \(detail)" : ": \(detail)" }
    if let actualRows {
      text += " · \(actualRows) \(actualRows == 1 ? "row" : "rows")"
    } else if let estimatedRows {
      text += " · about \(estimatedRows) \(estimatedRows == 1 ? "row" : "rows")"
    }
    return text
  }
}

extension QueryPlan: CustomStringConvertible {
  /// The steps as a tree, the last one first.
  public var description: String {
    steps.reversed().enumerated().map { depth, step in
      depth == 0 ? step.description : String(repeating: "  ", count: depth - 1) + "└ \(step)"
    }.joined(separator: "\n")
  }
}
