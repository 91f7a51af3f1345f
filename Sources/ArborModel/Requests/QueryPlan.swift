/// How the store answers a fetch: by which access path it visits rows, and what it does with them.
///
/// A plan is a tree of steps, the last one at its root; each takes its rows from its inputs. It is
/// decided by counts, so it depends on the data as well as on the request.
///
/// ```swift
/// print(try context.explain(request))
/// // limit 50
/// // └ sort name
/// //   └ filter salary > 100
/// //     └ index Employee.company: company among 3 objects · about 1322 rows
/// //       └ index Company.country: country == Country 7 · 3 rows
/// ```
public struct QueryPlan: Sendable, Hashable {
  /// What one step of a plan does.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Nothing can match: nothing is read.
    case nothing
    /// Reads the objects whose IDs the predicate names.
    case objects
    /// Reads the objects that an index names; those of its inputs, where it has any, are what the
    /// index is asked for.
    case index
    /// Reads the objects that a relationship leads to from those of its input, or from objects
    /// that the predicate names.
    case relationship
    /// Reads all objects of the entity and its subentities.
    case scan
    /// The objects that any of its inputs finds.
    case union
    /// The objects that all of its inputs find.
    case intersection
    /// Keeps the rows that meet conditions which the access path does not cover.
    case filter
    /// Puts the rows in order.
    case sort
    /// Drops the first rows, and all after a number of rows.
    case limit
    /// Makes values of the rows: one input that finds them, or for each value the index at whose
    /// first or last key it is.
    case aggregate
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
    /// How many rows leave the step, where they have been counted all.
    public let actualRows: Int?
    /// The steps that the step takes its rows, or the objects it looks for, from.
    public let inputs: [Step]

    /// Describes a step.
    package init(
      _ kind: Kind, name: String? = nil, detail: String = "", estimatedRows: Int? = nil,
      actualRows: Int? = nil, inputs: [Step] = []
    ) {
      self.kind = kind
      self.name = name
      self.detail = detail
      self.estimatedRows = estimatedRows
      self.actualRows = actualRows
      self.inputs = inputs
    }
  }

  /// The step that hands the rows out.
  public let root: Step
  /// An index that would have served the fetch; nil where none would, or it is there.
  public let suggestedIndex: IndexAdvice?

  /// Makes a plan.
  package init(_ root: Step, suggestedIndex: IndexAdvice? = nil) {
    self.root = root
    self.suggestedIndex = suggestedIndex
  }

  /// The steps from the one that finds rows to the one that hands them out; not those that find
  /// what the first one looks for.
  public var steps: [Step] {
    var steps = [root]
    while let last = steps.last, last.isChained, let input = last.inputs.first {
      steps.append(input)
    }
    return steps.reversed()
  }

  /// The step that finds the rows.
  public var access: Step { steps.first ?? root }

  /// Whether rows are found by an index.
  public var usesIndex: Bool { access.kind == .index }
}

extension QueryPlan.Step {
  /// Whether the step takes rows from another one.
  fileprivate var isChained: Bool {
    switch kind {
    case .filter, .sort, .limit, .aggregate: true
    default: false
    }
  }

  /// The step and its inputs as lines, each input one step further in.
  fileprivate func lines(_ lead: String = "", _ mark: String = "", _ rest: String = "") -> [String]
  {
    var lines = [lead + mark + description]
    for (inputIndex, input) in inputs.enumerated() {
      let isLast = inputIndex == inputs.count - 1
      lines += input.lines(lead + rest, isLast ? "└ " : "├ ", isLast ? "  " : "│ ")
    }
    return lines
  }
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
  public var description: String { root.lines().joined(separator: "\n") }
}
