import ArborData

/// A manager with methods of its domain.
final class CorporateStore: DataManager {
  /// Returns live results with the employees of a company, highest salary first.
  func employees(of company: Company) throws -> FetchedResults<Employee> {
    try context.fetchedResults(
      FetchRequest<Employee>(predicate: "company == \(company)", sortKeys: ["-salary", "name"]))
  }

  /// Inserts employees of a company in the background.
  func hire(_ count: Int, at company: ObjectID) async throws {
    let numbers = try store.uniqueIDs.next(count)
    try await commitInBackground { context in
      guard let company = try context.existingObject(with: company) as? Company else { return }
      for number in numbers {
        let employee = context.insert(Employee.self)
        employee.employeeID = 1_000_000 + number
        employee.name = "Trainee \(number)"
        employee.salary = 20_000
        employee.company = company
      }
    }
  }

  /// Deletes the employees inserted this way.
  func dismissTrainees() throws -> Int {
    try context.objects(Employee.self).filter("employeeID > 1000000").delete()
  }
}
