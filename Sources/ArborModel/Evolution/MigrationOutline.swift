/// The steps that bring a store from one model to another, worked out from the models alone.
///
/// ```
/// 1. Change the catalogue:
///    Person.fullName: renamed from Person.name
///    Person.nickname: removed, its values are dropped
/// 2. Pass over the objects of Person:
///    Person.initials: added, it is computed for present objects
/// 3. Build indexes of Person:
///    Person: the index byName is added: (fullName)
/// Dropped: Person.nickname.
/// To be checked:
///    Person.rank: present objects without a value break the rule
/// ```
///
/// The catalogue comes first, since everything else reads records by it; then code, which sees the
/// values as they were; then passes; indexes last, since they are filled with what has come of it.
package struct MigrationOutline: Sendable, Hashable {
  /// What one step does. Without an entity it is about values of composite types, wherever they
  /// are.
  package enum Work: Sendable, Hashable {
    /// It changes the catalogue, whatever the number of objects.
    case catalogue
    /// Code says what becomes of the objects of an entity.
    case code(entity: String?)
    /// Every object of an entity is looked at.
    case pass(entity: String?)
    /// Indexes of an entity are filled.
    case indexBuild(entity: String?)
  }

  package struct Step: Sendable, Hashable {
    package let work: Work
    /// What the step is for; never empty.
    package let changes: [ModelDifference.Change]
  }

  /// The steps, in the order in which they are done.
  package let steps: [Step]
  /// What is dropped with permission.
  package let dropped: [ModelDifference.Loss]
  /// What would be dropped, although nobody has named it: nothing may be done while there is any.
  package let unnamed: [ModelDifference.Loss]
  /// Names of things to drop that nothing is lost of, such as misspelt ones.
  package let unknownNames: [String]
  /// The changes with rules that present objects may break.
  package let checks: [ModelDifference.Change]

  /// Works out the steps.
  ///
  /// - Parameter names: What may be dropped, as `Entity` or `Entity.property` with the names of the
  ///   older model; nil for everything. A change that needs code does without where what it drops
  ///   is named.
  package init(_ difference: ModelDifference, dropping names: Set<String>?) {
    func isNamed(_ loss: ModelDifference.Loss) -> Bool { names?.contains(loss.name) ?? true }
    var changes: [Work: [ModelDifference.Change]] = [:]
    var order: [Work] = []
    for change in difference.storedChanges {
      let isDropped = change.effort == .code && change.loss.map(isNamed) == true
      let work = Self.work(isDropped ? .catalogue : change.effort, change.entity)
      if changes[work] == nil { order.append(work) }
      changes[work, default: []].append(change)
    }
    steps = Self.phases.flatMap { phase in
      order.filter { $0.phase == phase }.map { Step(work: $0, changes: changes[$0] ?? []) }
    }
    let coded = Set(difference.changes.lazy.filter { $0.effort == .code }.compactMap(\.loss))
    dropped = difference.losses.filter(isNamed)
    // What only code could keep is asked of the code.
    unnamed = difference.losses.filter { !isNamed($0) && !coded.contains($0) }
    unknownNames = (names ?? []).subtracting(difference.losses.map(\.name)).sorted()
    checks = difference.changes.filter { $0.rule != nil }
  }

  private static let phases: [ModelDifference.Effort] = [.catalogue, .code, .pass, .indexBuild]

  private static func work(_ effort: ModelDifference.Effort, _ entity: String?) -> Work {
    switch effort {
    case .none, .catalogue: .catalogue
    case .indexBuild: .indexBuild(entity: entity)
    case .pass: .pass(entity: entity)
    case .code: .code(entity: entity)
    }
  }
}

extension MigrationOutline.Work {
  fileprivate var phase: ModelDifference.Effort {
    switch self {
    case .catalogue: .catalogue
    case .code: .code
    case .pass: .pass
    case .indexBuild: .indexBuild
    }
  }
}

extension MigrationOutline: CustomStringConvertible {
  /// The numbered steps with their changes, then what is dropped and what has to be checked.
  package var description: String {
    var lines: [String] = []
    for (index, step) in steps.enumerated() {
      lines.append("\(index + 1). \(step.work):")
      lines += step.changes.map { "   \($0.summary)" }
    }
    if steps.isEmpty { lines.append("Nothing that is stored changes.") }
    func list(_ title: String, _ names: [String]) {
      if !names.isEmpty { lines.append("\(title): \(names.joined(separator: ", ")).") }
    }
    list("Dropped", dropped.map(\.name))
    list("Would be dropped and is not named", unnamed.map(\.name))
    list("Named to be dropped, but not lost", unknownNames)
    if !checks.isEmpty { lines.append("To be checked:") }
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
    case .catalogue: "Change the catalogue"
    case .code(let entity?): "Run code for the objects of \(entity)"
    case .code: "Run code for the values of composite types"
    case .pass(let entity?): "Pass over the objects of \(entity)"
    case .pass: "Pass over the values of composite types"
    case .indexBuild(let entity?): "Build indexes of \(entity)"
    case .indexBuild: "Build indexes"
    }
  }
}
