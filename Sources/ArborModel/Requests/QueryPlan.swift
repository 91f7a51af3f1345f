/// The plan for executing a fetch: the access path that finds the rows, and the steps that process
/// them.
///
/// A plan is a tree whose root is the last step. Each step gets its rows from its inputs. Planning
/// is cost-based, so a plan depends on the data as well as on the request.
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
  /// The kind of a step.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No row can match, so nothing is read.
    case nothing
    /// Reads the objects whose IDs are in the predicate.
    case objects
    /// Reads the objects found in an index. If the step has inputs, the objects of the inputs are
    /// the search keys.
    case index
    /// Reads the objects related to those of its input, or to objects in the predicate.
    case relationship
    /// Scans all objects of the entity and its subentities.
    case scan
    /// Combines the objects of all inputs.
    case union
    /// Keeps the objects that all inputs have in common.
    case intersection
    /// Keeps the rows that satisfy the conditions that the access path doesn't cover.
    case filter
    /// Sorts the rows.
    case sort
    /// Skips the first rows, and drops all rows beyond a maximum number.
    case limit
    /// Aggregates the rows. The input is the step that finds the rows or, for a minimum or maximum,
    /// the index whose first or last key is the value.
    case aggregate
  }

  /// A step of a plan.
  public struct Step: Sendable, Hashable {
    /// The kind of the step.
    public let kind: Kind
    /// The name of the index or relationship that the step uses, as `Entity.name`, or `nil` if it
    /// doesn't use one.
    public let name: String?
    /// The range, conditions, sort keys or limit, as text.
    public let detail: String
    /// The estimated number of rows that the step returns, or `nil` if it is unknown.
    public let estimatedRows: Int?
    /// The actual number of rows that the step returns, or `nil` if not all have been counted.
    public let actualRows: Int?
    /// The time that the step took, without that of its inputs, or `nil` if it was not measured.
    /// The time of the step that finds the rows includes that of its inputs and of planning.
    public let duration: Duration?
    /// The number of keys that the step read from its index or relationship, or `nil` if they were
    /// not counted.
    public let keysRead: Int?
    /// The number of records that the step read, or `nil` if they were not counted.
    public let recordsRead: Int?
    /// The steps that provide the rows or search keys.
    public let inputs: [Step]

    package init(
      _ kind: Kind, name: String? = nil, detail: String = "", estimatedRows: Int? = nil,
      actualRows: Int? = nil, duration: Duration? = nil, keysRead: Int? = nil,
      recordsRead: Int? = nil, inputs: [Step] = []
    ) {
      self.kind = kind
      self.name = name
      self.detail = detail
      self.estimatedRows = estimatedRows
      self.actualRows = actualRows
      self.duration = duration
      self.keysRead = keysRead
      self.recordsRead = recordsRead
      self.inputs = inputs
    }
  }

  /// The step that returns the results.
  public let root: Step
  /// An index that would have improved the fetch, or `nil` if there isn't one or the store already
  /// has it.
  public let suggestedIndex: IndexAdvice?

  /// Hints about conditions that are valid, but probably not as intended, such as a `LIKE` with `%`
  /// as a wildcard.
  public let notes: [String]

  package init(_ root: Step, suggestedIndex: IndexAdvice? = nil, notes: [String] = []) {
    self.root = root
    self.suggestedIndex = suggestedIndex
    self.notes = notes
  }

  /// The steps from the one that finds the rows to the one that returns them. Steps that provide
  /// search keys are not included.
  public var steps: [Step] {
    var steps = [root]
    while let last = steps.last, last.isChained, let input = last.inputs.first {
      steps.append(input)
    }
    return steps.reversed()
  }

  /// The step that finds the rows.
  public var access: Step { steps.first ?? root }

  /// A Boolean value that indicates whether rows are found by an index.
  public var usesIndex: Bool { access.kind == .index }
}

extension QueryPlan.Step {
  /// Whether the step processes the rows of another one.
  fileprivate var isChained: Bool {
    switch kind {
    case .filter, .sort, .limit, .aggregate: true
    default: false
    }
  }

  /// Returns the step with the figures of a run.
  package func measured(
    _ duration: Duration?, keysRead: Int?, recordsRead: Int?
  ) -> QueryPlan.Step {
    QueryPlan.Step(
      kind, name: name, detail: detail, estimatedRows: estimatedRows, actualRows: actualRows,
      duration: duration, keysRead: keysRead, recordsRead: recordsRead, inputs: inputs)
  }

  /// Returns the step and its inputs as lines, with inputs indented.
  fileprivate func lines(
    _ lead: String = "", _ mark: String = "", _ rest: String = "",
    text: (QueryPlan.Step) -> String
  ) -> [String] {
    var lines = [lead + mark + text(self)]
    for (inputIndex, input) in inputs.enumerated() {
      let isLast = inputIndex == inputs.count - 1
      lines += input.lines(
        lead + rest, isLast ? "└ " : "├ ", isLast ? "  " : "│ ", text: text)
    }
    return lines
  }
}

extension QueryPlan.Step: CustomStringConvertible {
  /// The step on one line: kind, name, details and number of rows.
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
  /// The steps as a tree, with the last one first, and the notes.
  public var description: String { text { $0.description } }

  /// Returns the steps as a tree, with the last one first, each as the text that `line` returns,
  /// and the notes.
  package func text(_ line: (Step) -> String) -> String {
    (root.lines(text: line) + notes.map { "note: \($0)" }).joined(separator: "\n")
  }
}
