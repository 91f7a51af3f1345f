import ArborData

extension Benchmark {
  /// Parses distinct predicates, and evaluates predicates of one, two and three terms without an
  /// index on every record of a loaded store. Not part of the workload.
  func predicates() throws {
    let texts = (0..<200_000).map { number in
      switch number % 4 {
      case 0: "age > \(number) AND salary BETWEEN {20000, 80000}"
      case 1: "name BEGINSWITH[c] 'gr\(number)' OR company.name == 'Acme'"
      case 2: "employeeID == \(number)"
      default: "ANY company.employees.age >= \(number) AND NOT (active == TRUE)"
      }
    }
    try Meter.measure("16_parse", repetitions: texts.count) {
      for text in texts { _ = try FetchPredicate(format: text) }
      return (texts.count, 0)
    }
    let store = try store()
    let terms = ["salary > 60000", "salary < 150000", "active == TRUE"]
    for count in 1...terms.count {
      let predicate = try FetchPredicate(format: terms.prefix(count).joined(separator: " AND "))
      try Meter.measure("17_scan_terms_\(count)", repetitions: self.count) {
        (try store.makeContext().count(FetchRequest<Employee>(predicate: predicate)), 0)
      }
    }
  }
}
