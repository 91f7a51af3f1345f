import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// The budget of work of untrusted predicates. What a predicate does is measured by the processor
/// time of the thread, which other programs hardly affect.
@Suite("The work of untrusted predicates", .timeLimit(.minutes(40))) struct PredicateWorkTests {
  /// A budget that is spent in a few milliseconds by optimized code.
  private static let budget = 2_000_000
  /// The processor time that no predicate with the budget exceeds, also without optimization. It
  /// includes parsing the text.
  private static let mostTime = Duration.milliseconds(1500)

  private static func limits(_ work: Int? = budget) -> PredicateLimits {
    var limits = PredicateLimits.untrusted
    limits.maximumWork = work
    limits.maximumElements = nil
    limits.timeLimit = nil
    return limits
  }

  private static func refusal(_ most: Int = budget) -> String {
    "The predicate needs more work than its limit of \(most) units. Simplify it, or raise "
      + "maximumWork in its limits."
  }

  private func withEmployee<R>(_ body: (ManagedObjectContext) throws -> R) throws -> R {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      employee.name = "12"
      employee.age = 3
      try context.commit()
      return try body(context)
    }
  }

  private func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
  }

  /// Counts the employees that match a text.
  ///
  /// - Returns: The error, and the processor time.
  private func run(
    _ text: String, _ limits: PredicateLimits, in context: ManagedObjectContext
  ) -> (error: ArborError?, time: Duration) {
    var error: ArborError?
    let time = processorTime {
      do throws(ArborError) {
        _ = try context.count(
          Employee.self, matching: FetchPredicate(format: text, limits: limits))
      } catch let thrown {
        error = thrown
      }
    }
    return (error, time)
  }

  private static func list(_ element: String, _ count: Int) -> String {
    "{" + Array(repeating: element, count: count).joined(separator: ", ") + "}"
  }

  private static func digits(_ count: Int) -> String {
    "\"" + String(repeating: "7", count: count) + "\""
  }

  /// Returns a predicate that evaluates a test for each element of a list.
  private static func repeated(_ test: String, for list: String = numbers) -> String {
    "SUBQUERY(\(list), $x, \(test)).@count > 0"
  }

  private static let numbers = list("1", 4000)

  private static func disjunction(_ count: Int, _ test: (Int) -> String) -> String {
    (0..<count).map(test).joined(separator: " OR ")
  }

  /// Predicates whose work is far more than their number of elements, most of them from texts of
  /// about 50 KB.
  private static let expensive: [(name: String, text: String)] = {
    var texts: [(name: String, text: String)] = []
    func add(_ name: String, _ text: String) { texts.append((name, text)) }
    let long = digits(20_000)
    let cast = "CAST($x + \(long), 'NSDecimalNumber') == 1"
    add("casts of texts to decimals", repeated(cast, for: list("name", 4000)))
    let decimal = "CAST(name, 'NSDecimalNumber')"
    let powers = disjunction(600) { "(\(decimal) + $x) ** 1.\($0) == -1" }
    add("powers of decimals", repeated(powers))
    let years = disjunction(600) { "year(CAST($x + \($0), 'NSDate'), '+0\($0 % 9):00') == 1" }
    add("calendars", repeated(years))
    let hidden = "TERNARY(age == $x + 2, \(list("2", 4000)), {1})"
    add("a list behind TERNARY", repeated("sum(\(hidden)) < 0"))
    add("folded texts", repeated("(name + \(long)) CONTAINS[cd] name + 'x'"))
    let names = list("name", 500)
    add("a list compared with long texts", repeated("(name + \(long)) IN[c] \(names)"))
    add("comparisons of numbers", repeated(disjunction(1500) { "age + \($0) == -1" }))
    let zones = (0..<2000).map { "'Zone/Z\($0)'" }.joined(separator: ", ")
    let year = "year(CAST(age, 'NSDate'), $x) == 1"
    add("time zones that don't exist", repeated(year, for: "{\(zones)}"))
    add("sets", repeated("count(\(list("age", 2000)) UNION {$x}) == 3"))
    let constant = "CAST(\(digits(6000)), 'NSDecimalNumber')"
    let sum = Array(repeating: constant, count: 9).joined(separator: " + ")
    add("constants", repeated("$x == \(sum)", for: "{age}"))
    return texts
  }()

  @Test("Work that has little to do with the number of elements is limited")
  func workIsLimited() throws {
    try withEmployee { context in
      for (name, text) in Self.expensive {
        let limited = run(text, Self.limits(), in: context)
        #expect(limited.error?.code == .limitExceeded, "\(name)")
        #expect(
          limited.error?.message == Self.refusal(), "\(name): \(limited.error?.message ?? "none")")
        print("work of \(name): \(limited.time)")
        #expect(limited.time < Self.mostTime, "\(name)")
      }
    }
  }

  @Test("The expensive predicates need far more work than the budget")
  func theBudgetMatters() throws {
    try withEmployee { context in
      for (name, text) in Self.expensive[1...3] {
        let more = run(text, Self.limits(20 * Self.budget), in: context)
        #expect(more.error?.message == Self.refusal(20 * Self.budget), "\(name)")
      }
    }
  }

  @Test("The work for constant expressions is limited")
  func constantsAreLimited() throws {
    try withEmployee { context in
      let blanks = Self.list("\"\"", 11)
      let large = (0..<7).reduce("\"7\"") { text, _ in "join(\(blanks), \(text))" }
      let error = run("uppercase(\(large)) == name", Self.limits(), in: context).error
      #expect(error?.code == .limitExceeded)
      #expect(
        error?.message
          == "The predicate's constant expressions need more work than the limit of 100000000 "
          + "units. Simplify them, or pass their values as arguments.")
    }
  }

  @Test("The budget applies to single objects, and to combined predicates")
  func everywhere() throws {
    try withEmployee { context in
      let text = Self.expensive[0].text
      let employee = try #require(try context.fetch(Employee.self).first)
      let filter = try FetchPredicate(format: text, limits: Self.limits())
      let matching = try failure { _ = try filter.matches(employee) }
      #expect(matching.message == Self.refusal())
      let small = try FetchPredicate(
        format: "length(uppercase(name)) == 2", limits: Self.limits(50))
      let alone = try failure { _ = try small.matches(employee) }
      #expect(alone.message == Self.refusal(50))
      // The stricter of two budgets applies.
      let both = try FetchPredicate(format: "length(name) == 2", limits: Self.limits()) && small
      let stricter = try failure { _ = try context.count(Employee.self, matching: both) }
      #expect(stricter.message == Self.refusal(50))
      #expect(try context.count(Employee.self, matching: "length(uppercase(name)) == 2") == 1)
      let enough = try FetchPredicate(
        format: "length(uppercase(name)) == 2", limits: Self.limits(100_000))
      #expect(try enough.matches(employee))
    }
  }

  @Test("Untrusted predicates have a budget of work and a time limit")
  func untrustedLimits() throws {
    #expect(PredicateLimits.untrusted.maximumWork == 1_000_000_000)
    #expect(PredicateLimits.untrusted.timeLimit == .seconds(10))
    #expect(PredicateLimits.standard.maximumWork == nil)
    #expect(PredicateLimits.standard.timeLimit == nil)
    try withEmployee { context in
      var limits = PredicateLimits.untrusted
      limits.timeLimit = .zero
      let late = try failure {
        _ = try context.count(
          Employee.self, matching: FetchPredicate(format: "age == 3", limits: limits))
      }
      #expect(late.code == .deadlineExceeded)
      #expect(
        late.message
          == "The operation exceeded its deadline. Request less data, or extend the deadline.")
    }
  }

  // MARK: Random predicates

  /// The kind of the elements that `$x` denotes in a random predicate.
  private enum Kind: CaseIterable { case text, number }

  private static func length(_ random: inout SeededRandom) -> Int {
    [1, 30, 1000].randomElement(using: &random) ?? 1
  }

  private static func text(_ depth: Int, _ kind: Kind, _ random: inout SeededRandom) -> String {
    guard depth > 0 else {
      let count = length(&random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return "name"
      case 1: return kind == .text ? "$x" : "name"
      case 2: return "\"" + String(repeating: "é a*?", count: count / 3) + "\""
      default: return "(name + \(digits(count)))"
      }
    }
    let inner = text(depth - 1, kind, &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0: return "uppercase(\(inner))"
    case 1: return "lowercase(\(inner))"
    case 2: return "canonical(\(inner))"
    case 3: return "(\(inner) + \(text(0, kind, &random)))"
    case 4: return "join({\(inner), \(text(0, kind, &random))}, name)"
    case 5: return "CAST(\(number(depth - 1, kind, &random)), 'NSString')"
    default: return "TERNARY(age == 3, \(inner), name)"
    }
  }

  private static func number(_ depth: Int, _ kind: Kind, _ random: inout SeededRandom) -> String {
    guard depth > 0 else {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: return "age"
      case 1: return kind == .number ? "$x" : "age"
      case 2: return "1.5"
      case 3: return "CAST(name, 'NSDecimalNumber')"
      default: return "12345678901234567890123.5"
      }
    }
    let inner = number(depth - 1, kind, &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "length(\(text(depth - 1, kind, &random)))"
    case 1: return "CAST(\(text(depth - 1, kind, &random)), 'NSNumber')"
    case 2: return "CAST(\(text(depth - 1, kind, &random)), 'NSDecimalNumber')"
    case 3:
      let name = ["sqrt", "ln", "exp", "floor", "abs", "trunc"].randomElement(using: &random)
      return "\(name ?? "abs")(\(inner))"
    case 4:
      let name = ["sum", "max", "median", "average", "stddev"].randomElement(using: &random)
      return "\(name ?? "sum")(\(list(inner, Int.random(in: 1...100, using: &random))))"
    case 5: return "year(CAST(\(inner), 'NSDate'), '+01:00')"
    case 6: return "count(\(list("age", length(&random))) UNION {\(inner)})"
    default:
      let sign = ["+", "-", "*", "/", "**"].randomElement(using: &random) ?? "+"
      return "(\(inner) \(sign) \(number(0, kind, &random)))"
    }
  }

  private static func test(_ kind: Kind, _ random: inout SeededRandom) -> String {
    let depth = Int.random(in: 0...3, using: &random)
    if Bool.random(using: &random) {
      let signs = ["==", "<", ">=", "IN"]
      let sign = signs.randomElement(using: &random) ?? "=="
      let right = number(0, kind, &random)
      return "\(number(depth, kind, &random)) \(sign) "
        + (sign == "IN" ? list(right, length(&random)) : right)
    }
    let signs = [
      "==", "<", "CONTAINS", "CONTAINS[cd]", "CONTAINS[w]", "CONTAINS[l]", "BEGINSWITH[c]",
      "ENDSWITH[l]", "LIKE", "LIKE[cd]", "TOKENMATCHES", "==[cd]", "<[l]", "IN", "IN[cd]", "IN[l]",
    ]
    let sign = signs.randomElement(using: &random) ?? "=="
    let right = text(0, kind, &random)
    return "\(text(depth, kind, &random)) \(sign) "
      + (sign.hasPrefix("IN") ? list(right, length(&random) / 10 + 1) : right)
  }

  private static func hostile(_ random: inout SeededRandom) -> String {
    let kind = Kind.allCases.randomElement(using: &random) ?? .text
    let tests = (0..<Int.random(in: 1...8, using: &random)).map { _ in test(kind, &random) }
    let condition = tests.joined(separator: Bool.random(using: &random) ? " OR " : " AND ")
    let elements = [10, 300, 2000].randomElement(using: &random) ?? 10
    return repeated(condition, for: list(kind == .text ? "name" : "age", elements))
  }

  @Test("No random predicate does more work than its budget permits")
  func randomPredicates() throws {
    var random = SeededRandom()
    let count = TestLength.of(200, long: 10_000)
    print("work of random predicates: seed \(random.seed), \(count) predicates")
    try withEmployee { context in
      var (limited, passed, refused, most) = (0, 0, 0, Duration.zero)
      for round in 0..<count {
        let text = Self.hostile(&random)
        var (error, time) = run(text, Self.limits(), in: context)
        // What is looked up or loaded for the first time takes longer.
        if time >= Self.mostTime { (error, time) = run(text, Self.limits(), in: context) }
        switch error?.code {
        case nil: passed += 1
        case .limitExceeded?:
          limited += error?.message == Self.refusal() ? 1 : 0
        case .invalidPredicate?: refused += 1
        default: Issue.record("seed \(random.seed), case \(round): \(error?.message ?? "")")
        }
        most = max(most, time)
        #expect(
          time < Self.mostTime,
          "seed \(random.seed), case \(round): \(time) for \(text.prefix(3000))")
      }
      print(
        "work of random predicates: \(passed) pass, \(limited) limited, \(refused) refused, \(most)"
      )
      #expect(passed > count / 10 && limited > count / 10 && refused < count / 2)
    }
  }
}
