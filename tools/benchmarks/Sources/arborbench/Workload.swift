import Foundation

/// The data of workload W: the same numbers in the same order as in every other implementation.
///
/// Splitmix64 with seed 42 generates, in this order: four letters of each company's name; the
/// shuffle of the employee IDs; then each employee's fields.
struct Workload {
  struct CompanyRow {
    let name: String
  }

  struct EmployeeRow {
    let employeeID: Int64
    let name: String
    let email: String
    let age: Int
    let salary: Double
    let hiredAt: Date
    let active: Bool
    /// The company's number, from 1.
    let company: Int
  }

  let companies: [CompanyRow]
  let employees: [EmployeeRow]

  /// Returns all `count` employees in `count / 100` companies.
  init(count: Int) {
    var random = SplitMix(seed: 42)
    let companyCount = count / 100
    companies = (1...companyCount).map { index in
      let letters = random.letters(4)
      let digits = String(index % 1_000_000)
      return CompanyRow(
        name: "Co" + letters + String(repeating: "0", count: 6 - digits.count) + digits)
    }
    var employeeIDs = (1...Int64(count)).map { $0 }
    for last in stride(from: count - 1, to: 0, by: -1) {
      employeeIDs.swapAt(last, random.below(last + 1))
    }
    employees = employeeIDs.map { Self.employee($0, companies: companyCount, &random) }
  }

  /// Returns a thousand employees beyond the first `count`. Each block has its own seed and IDs.
  static func extra(beyond count: Int, block: Int) -> [EmployeeRow] {
    var random = SplitMix(seed: 1000 + UInt64(block))
    return (0..<1000).map { index in
      employee(Int64(count + 1 + block * 1000 + index), companies: count / 100, &random)
    }
  }

  /// Returns numbers from 1 to `range`, with repetition.
  static func keys(seed: UInt64, range: Int, count: Int) -> [Int] {
    var random = SplitMix(seed: seed)
    return (0..<count).map { _ in 1 + random.below(range) }
  }

  /// Returns distinct numbers from 1 to `range`, each with a new age if `ages` is set.
  static func distinct(seed: UInt64, range: Int, count: Int, ages: Bool) -> [(key: Int, age: Int)] {
    var random = SplitMix(seed: seed)
    var keys = (1...range).map { $0 }
    return (0..<count).map { index in
      keys.swapAt(index, index + random.below(range - index))
      return (keys[index], ages ? 18 + random.below(73) : 0)
    }
  }

  private static func employee(
    _ employeeID: Int64, companies: Int, _ random: inout SplitMix
  ) -> EmployeeRow {
    let nameLength = 8 + random.below(17)
    return EmployeeRow(
      employeeID: employeeID, name: random.letters(nameLength),
      email: random.letters(12) + "@example.com", age: 18 + random.below(73),
      salary: 20_000 + random.unit() * 180_000,
      hiredAt: Date(timeIntervalSince1970: 1_262_304_000 + random.unit() * 300_000_000),
      active: random.next() & 1 == 1, company: 1 + random.below(companies))
  }
}

/// The generator that all implementations of the workload share.
struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func unit() -> Double { Double(next() >> 11) * 0x1.0p-53 }

  mutating func letters(_ count: Int) -> String {
    String(decoding: (0..<count).map { _ in 97 + UInt8(next() % 26) }, as: UTF8.self)
  }
}
