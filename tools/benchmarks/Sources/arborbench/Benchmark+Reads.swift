import ArborData
import Foundation

/// Operations 3 to 10, each with a new context, so that none reuses the objects of another.
extension Benchmark {
  func read(repetitions: Int) throws {
    let store = try store()
    for _ in 0..<repetitions {
      try lookUps(store)
      try ranges(store)
      try scans(store)
      try sorts(store)
      try aggregates(store)
      try traversals(store)
    }
  }

  private func lookUps(_ store: PersistentStore) throws {
    let ids = Workload.keys(seed: 43, range: count, count: Self.lookups)
    let employeeIDs = Workload.keys(seed: 44, range: count, count: Self.lookups)
    var context = store.makeContext()
    try Meter.measure("3_lookup_id", repetitions: Self.lookups) {
      var sum: UInt64 = 0
      try context.withSnapshot {
        for id in ids { sum &+= try employee(id, in: context).checksum }
      }
      return (Self.lookups, sum)
    }
    context = store.makeContext()
    try Meter.measure("3t_lookup_id_txn_each", repetitions: Self.lookups) {
      var sum: UInt64 = 0
      for id in ids { sum &+= try employee(id, in: context).checksum }
      return (Self.lookups, sum)
    }
    context = store.makeContext()
    try Meter.measure("4_lookup_unique", repetitions: Self.lookups) {
      var sum: UInt64 = 0
      try context.withSnapshot {
        for id in employeeIDs {
          let found = try context.fetchOne(Employee.self, matching: "employeeID == \(id)")
          sum &+= found?.checksum ?? 0
        }
      }
      return (Self.lookups, sum)
    }
  }

  private func ranges(_ store: PersistentStore) throws {
    let request = FetchRequest<Employee>(predicate: "age BETWEEN {30, 39}")
    let context = store.makeContext()
    try Meter.measure("5_range_materialise") {
      let found = try context.fetch(request)
      return (found.count, UInt64(found.reduce(0) { $0 + $1.salary }))
    }
    try Meter.measure("5_range_count", repetitions: 100) {
      var found = 0
      for _ in 0..<100 { found = try store.makeContext().count(request) }
      return (found, UInt64(found))
    }
  }

  private func scans(_ store: PersistentStore) throws {
    var context = store.makeContext()
    try Meter.measure("6_scan_predicate") {
      let found = try context.fetch(
        FetchRequest<Employee>(predicate: "salary > 110000 AND name CONTAINS 'ab'"))
      return (found.count, UInt64(found.reduce(0) { $0 + $1.salary }))
    }
    context = store.makeContext()
    try Meter.measure("6b_fetch_all") {
      let found = try context.fetch(FetchRequest<Employee>())
      return (found.count, found.reduce(0) { $0 &+ $1.checksum })
    }
  }

  private func sorts(_ store: PersistentStore) throws {
    var newest = FetchRequest<Employee>(sortKeys: ["-hiredAt"])
    newest.fetchLimit = 50
    try Meter.measure("7_sort_index_limit50", repetitions: 1000) {
      var (found, sum): (Int, UInt64) = (0, 0)
      for _ in 0..<1000 {
        // Objects don't retain their context, which relationships require.
        let context = store.makeContext()
        let employees = try context.fetch(newest)
        found = employees.count
        sum = withExtendedLifetime(context) { employees.reduce(0) { $0 &+ $1.checksum } }
      }
      return (found, sum)
    }
    var byName = FetchRequest<Employee>(sortKeys: ["name"])
    byName.fetchLimit = 100
    let context = store.makeContext()
    try Meter.measure("8_sort_name_take100") {
      let found = try context.fetch(byName)
      return (found.count, found.reduce(0) { $0 &* 31 &+ $1.checksum })
    }
    byName.fetchLimit = 0
    try Meter.measure("8b_sort_name_all_ids") {
      let found = try context.fetchIDs(byName)
      return (found.count, found.reduce(0) { $0 &* 31 &+ $1.number })
    }
  }

  private func aggregates(_ store: PersistentStore) throws {
    let context = store.makeContext()
    let inRange = context.objects(Employee.self).filter("age BETWEEN {30, 39}")
    try Meter.measure("9_aggregate_range") {
      let (count, sum, least, greatest, mean) = try inRange.values(
        of: .count("salary"), .sum(\.salary), .minimum(\.salary), .maximum(\.salary),
        .average(\.salary))
      let checksum = [sum, least ?? 0, greatest ?? 0, mean ?? 0].reduce(UInt64(0)) {
        $0 &+ UInt64($1)
      }
      return (count, checksum)
    }
  }

  private func traversals(_ store: PersistentStore) throws {
    for isPrefetched in [false, true] {
      var request = FetchRequest<Company>()
      if isPrefetched { request.relationshipKeyPathsForPrefetching = ["employees"] }
      let context = store.makeContext()
      try Meter.measure(isPrefetched ? "10_traverse_prefetched" : "10_traverse_materialise") {
        var (found, total) = (0, 0.0)
        for company in try context.fetch(request) {
          let employees = company.employees
          found += employees.count
          total += employees.reduce(0) { $0 + $1.salary }
        }
        return (found, UInt64(total))
      }
    }
  }
}
