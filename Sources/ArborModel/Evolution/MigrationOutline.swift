/// The steps of migrating a store from one model to another, derived from the models alone.
///
/// ```
/// 1. Update the model catalog:
///    Person.fullName: renamed from Person.name
///    Person.nickname: removed, its values are dropped
/// 2. Pass over the objects of Person:
///    Person.initials: added, computed for existing objects
/// 3. Build indexes of Person:
///    Person: the index byName is added: (fullName)
/// Dropped: Person.nickname.
/// Rules to check:
///    Person.rank: existing objects without a value violate the rule
/// ```
///
/// The catalog comes first, because all other steps read records with it. Custom code, which sees
/// the old values, and passes follow. Indexes are built last, from the results.
package struct MigrationOutline: Sendable, Hashable {
  /// The work of a step. Steps without an entity concern values of composite types in any entity.
  package enum Work: Sendable, Hashable {
    /// A change to the catalog. Its cost doesn't depend on the number of objects.
    case catalog
    /// Custom code for the objects of an entity.
    case code(entity: String?)
    /// A pass over all objects of an entity.
    case pass(entity: String?)
    /// The construction of an entity's indexes.
    case indexBuild(entity: String?)
  }

  package struct Step: Sendable, Hashable {
    package let work: Work
    /// The changes that require the step, never empty.
    package let changes: [ModelDifference.Change]
  }

  /// The steps, in execution order.
  package let steps: [Step]
  /// The losses that the caller has permitted.
  package let dropped: [ModelDifference.Loss]
  /// The losses that the caller has not permitted and that code cannot prevent. The migration must
  /// not run if there are any.
  package let unnamed: [ModelDifference.Loss]
  /// Permitted names without a corresponding loss, for example misspelled ones.
  package let unknownNames: [String]
  /// The changes with rules that existing objects may violate.
  package let checks: [ModelDifference.Change]

  /// Determines the steps.
  ///
  /// - Parameter names: The permitted losses as `Entity` or `Entity.property`, with the names in
  ///   the older model, or `nil` to permit all. A change that requires code is migrated without
  ///   code if its loss is permitted.
  package init(_ difference: ModelDifference, dropping names: Set<String>?) {
    func isNamed(_ loss: ModelDifference.Loss) -> Bool { names?.contains(loss.name) ?? true }
    var changes: [Work: [ModelDifference.Change]] = [:]
    var order: [Work] = []
    for change in difference.storedChanges {
      let isDropped = change.effort == .code && change.loss.map(isNamed) == true
      let work = Self.work(isDropped ? .catalog : change.effort, change.entity)
      if changes[work] == nil { order.append(work) }
      changes[work, default: []].append(change)
    }
    steps = Self.phases.flatMap { phase in
      order.filter { $0.phase == phase }.map { Step(work: $0, changes: changes[$0] ?? []) }
    }
    let coded = Set(difference.changes.lazy.filter { $0.effort == .code }.compactMap(\.loss))
    dropped = difference.losses.filter(isNamed)
    // Losses that code can prevent are left to the code.
    unnamed = difference.losses.filter { !isNamed($0) && !coded.contains($0) }
    unknownNames = (names ?? []).subtracting(difference.losses.map(\.name)).sorted()
    checks = difference.changes.filter { $0.rule != nil }
  }

  private static let phases: [ModelDifference.Effort] = [.catalog, .code, .pass, .indexBuild]

  private static func work(_ effort: ModelDifference.Effort, _ entity: String?) -> Work {
    switch effort {
    case .none, .catalog: .catalog
    case .indexBuild: .indexBuild(entity: entity)
    case .pass: .pass(entity: entity)
    case .code: .code(entity: entity)
    }
  }
}

extension MigrationOutline.Work {
  fileprivate var phase: ModelDifference.Effort {
    switch self {
    case .catalog: .catalog
    case .code: .code
    case .pass: .pass
    case .indexBuild: .indexBuild
    }
  }
}

extension MigrationOutline: CustomStringConvertible {
  /// The numbered steps with their changes, followed by the losses and the rules to check.
  package var description: String {
    var lines: [String] = []
    for (index, step) in steps.enumerated() {
      lines.append("\(index + 1). \(step.work):")
      lines += step.changes.map { "   \($0.summary)" }
    }
    if steps.isEmpty { lines.append("No stored data changes.") }
    func list(_ title: String, _ names: [String]) {
      if !names.isEmpty { lines.append("\(title): \(names.joined(separator: ", ")).") }
    }
    list("Dropped", dropped.map(\.name))
    list("Would be dropped, but not listed", unnamed.map(\.name))
    list("Listed to be dropped, but not lost", unknownNames)
    if !checks.isEmpty { lines.append("Rules to check:") }
    for change in checks {
      guard let rule = change.rule else { continue }
      lines.append("   " + (change.subject.map { "\($0): " } ?? "") + rule.description)
    }
    return lines.joined(separator: "\n")
  }
}

extension MigrationOutline.Work: CustomStringConvertible {
  package var description: String {
    switch self {
    case .catalog: "Update the model catalog"
    case .code(let entity?): "Run code for the objects of \(entity)"
    case .code: "Run code for the values of composite types"
    case .pass(let entity?): "Pass over the objects of \(entity)"
    case .pass: "Pass over the values of composite types"
    case .indexBuild(let entity?): "Build indexes of \(entity)"
    case .indexBuild: "Build indexes"
    }
  }
}
