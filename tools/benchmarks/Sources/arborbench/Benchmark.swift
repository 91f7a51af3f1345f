import ArborData
import Foundation

/// A run of one mode on a store file: `MODE FILE N [REPETITIONS or BLOCK] [nosync]`.
struct Benchmark {
  static let lookups = 100_000

  let path: String
  let count: Int
  let flags: Set<String>

  func store(_ location: StoreLocation? = nil) throws -> PersistentStore {
    let durability: StoreOptions.Durability = flags.contains("classic") ? .fullClassic : .full
    return try PersistentStore(
      for: [Company.self, Employee.self], at: location ?? .path(path),
      options: StoreOptions(durability: durability))
  }

  func employeeID(_ number: Int, in store: PersistentStore) -> ObjectID {
    ObjectID(storeID: store.id, entityName: "Employee", number: UInt64(number))
  }

  func employee(_ number: Int, in context: ManagedObjectContext) throws -> Employee {
    let id = employeeID(number, in: context.store)
    guard let employee = try context.object(with: id) as? Employee else {
      throw BenchmarkError("no employee \(number)")
    }
    return employee
  }

  /// Operation 1: everything in one transaction.
  func load() throws {
    let data = Workload(count: count)
    let store = try store()
    try Meter.measure("1_bulk_insert") {
      try Self.insert(data, into: store)
      return (count, 0)
    }
  }

  static func insert(_ data: Workload, into store: PersistentStore) throws {
    let context = store.makeContext()
    let companies = data.companies.map { row in
      let company = context.insert(Company.self)
      company.name = row.name
      return company
    }
    for row in data.employees {
      context.insert(Employee.self).fill(from: row, company: companies[row.company - 1])
    }
    try context.commit()
  }

  /// Operation 2: a thousand transactions of one object each. Without sync, the store is in
  /// memory.
  func single(block: Int) throws {
    let rows = Workload.extra(beyond: count, block: block)
    let isSynced = !flags.contains("nosync")
    let store = try store(isSynced ? nil : .inMemory)
    if !isSynced { try Self.insert(Workload(count: count), into: store) }
    let context = store.makeContext()
    let companies = try context.fetch(FetchRequest<Company>()).sorted {
      $0.objectID.number < $1.objectID.number
    }
    try Meter.measure(
      isSynced ? "2_single_txn_durable" : "2_single_txn_nosync", repetitions: rows.count
    ) {
      for row in rows {
        context.insert(Employee.self).fill(from: row, company: companies[row.company - 1])
        try context.commit()
      }
      return (rows.count, 0)
    }
  }

  /// Operations 11 and 12: a tenth updated, a tenth deleted, one transaction each.
  func mutate() throws {
    let updates = Workload.distinct(seed: 45, range: count, count: count / 10, ages: true)
    let deletions = Workload.distinct(seed: 46, range: count, count: count / 10, ages: false)
    let store = try store()
    var context = store.makeContext()
    try Meter.measure("11_update10pct") {
      for (key, age) in updates { try employee(key, in: context).age = age }
      try context.commit()
      return (updates.count, 0)
    }
    context = store.makeContext()
    try Meter.measure("12_delete10pct") {
      for (key, _) in deletions { try context.delete(employee(key, in: context)) }
      try context.commit()
      return (deletions.count, 0)
    }
    let employees = try store.makeContext().fetch(FetchRequest<Employee>())
    let ages = employees.filter { $0.objectID.number <= count }.reduce(0) { $0 + $1.age }
    Meter.printLine(["check_after_mutate", "0", "0", "0", "\(ages)", "0", "0"])
  }

  /// Operation 13: from a closed file to the first object.
  func openTest() throws {
    let key = Workload.keys(seed: 43, range: count, count: 1)[0]
    try Meter.measure("13_open_first_fetch") {
      let context = try store().makeContext()
      let sum = try employee(key, in: context).checksum
      return withExtendedLifetime(context) { (1, sum) }
    }
  }

  /// Operation 14: the size of the file in bytes.
  func size() throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    Meter().report(
      "14_file_bytes", count: attributes[.size] as? Int ?? -1, checksum: 0)
  }
}

/// An error that ends a run.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
