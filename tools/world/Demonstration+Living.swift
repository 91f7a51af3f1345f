import ArborData

/// Typed classes, an undo group, a background load and live results.
extension Demonstration {
  func watch(_ model: ManagedObjectModel) async throws {
    let manager = try CorporateStore(
      model: model, at: .file(store), classes: [Company.self, Department.self, Employee.self])
    defer { manager.store.close() }
    guard let company = try manager.fetchOne(Company.self, matching: "companyName == 'Foo Inc.'")
    else { throw DemonstrationError("no company Foo Inc.") }
    let employees = try manager.employees(of: company)
    try raiseAndUndo(manager, employees)
    try await hire(manager, company, employees)
  }

  /// Doubles the lowest salary repeatedly as one undo group, then undoes it.
  private func raiseAndUndo(
    _ manager: CorporateStore, _ employees: FetchedResults<Employee>
  ) throws {
    try report.step {
      guard let last = employees.objects.last else { throw DemonstrationError("no employees") }
      let (name, salary) = (last.name, last.salary)
      manager.beginUndoGroup()
      while employees.objects.first !== last {
        last.salary *= 2
        try employees.update()
      }
      manager.endUndoGroup()
      let top = Int(last.salary)
      manager.undo()
      try employees.update()
      guard last.salary == salary, employees.objects.last === last else {
        throw DemonstrationError("undo did not revert all changes")
      }
      return "raised \(name) from \(Int(salary)) to \(top), first in the live list; undone at once"
    }
  }

  private func hire(
    _ manager: CorporateStore, _ company: Company, _ employees: FetchedResults<Employee>
  ) async throws {
    let (count, batch) = (5000, 500)
    let before = employees.count
    try await report.step {
      let (report, changes) = (report, manager.store.changes)
      async let watched = Self.count(changes, upTo: count, report)
      for _ in 0..<(count / batch) { try await manager.hire(batch, at: company.objectID) }
      let hired = await watched
      try employees.update()
      return "hired \(hired) in the background, \(batch) at a time; the live list has "
        + "\(employees.count - before) more"
    }
    try report.step {
      let dismissed = try manager.dismissTrainees()
      try manager.commit()
      try employees.update()
      return "dismissed \(dismissed) trainees: the live list has \(employees.count)"
    }
  }

  /// Counts the objects inserted by commits and shows the progress until there are enough.
  private static func count(
    _ changes: some AsyncSequence<CommittedChanges, Never> & Sendable, upTo total: Int,
    _ report: Report
  ) async -> Int {
    var count = 0
    for await change in changes {
      count += change.inserted.count
      report.progress(count, of: total, "hired in the background")
      if count >= total { break }
    }
    return count
  }
}
