import ArborModel
import ModelSamples
import Testing

/// The work that operations charge, compared with the number of bytes and elements that they read.
@Suite("The work of operations") struct ValueWorkTests {
  /// Returns the work of counting the people that match a text, for a single person whose name has
  /// a length.
  ///
  /// - Returns: `nil` if the operands are unsuitable.
  private func work(_ text: String, length: Int, charges: Bool = true) throws -> Int? {
    let world = try PredicateWorld()
    world.insert(
      world.person,
      [
        "name": .string(String(repeating: "7", count: length)), "long": .integer(1),
        "extra": .string(String(repeating: "8", count: length)),
      ])
    world.chargesWork = charges
    do throws(ArborError) {
      let predicate = try FetchPredicate(format: text)
      let bound = try PredicateBinder.bind(predicate, to: world.person, in: world.schema)
      _ = try PredicateCompiler.compile(
        [bound.root], arguments: predicate.arguments, for: world.person,
        environment: world.environment)
    } catch { return nil }
    _ = try world.matches(FetchPredicate(format: text))
    return world.work
  }

  /// Returns whether an operation charges a unit for each byte of a text.
  private func chargesBytes(_ text: String, charges: Bool = true) throws -> Bool? {
    guard let short = try work(text, length: 20, charges: charges),
      let long = try work(text, length: 20_020, charges: charges)
    else { return nil }
    return long - short >= 20_000
  }

  /// Calls of all functions but `count`, which doesn't read the bytes of elements.
  private static let calls: [String] = PredicateFunction.allCases.flatMap {
    (function) -> [String] in
    let name = function.name
    if function == .count || function.arity == 0...0 { return [] }
    guard function.arity != 2...2 else {
      return [
        "\(name)(name, name)", "\(name)(long, name)", "\(name)({name, name, long}, {name, extra})",
      ]
    }
    return [
      "\(name)(name)", "\(name)({name, name, name})", "\(name)(extra)", "\(name)({extra, long})",
    ]
  }

  private static let casts = [
    "NSNumber", "NSDecimalNumber", "NSString", "NSDate", "NSUUID", "NSURL",
  ].flatMap { ["CAST(name, '\($0)')", "CAST(extra, '\($0)')"] }

  @Test("Every function and cast charges for the bytes of its operands")
  func functionsAndCasts() throws {
    var suitable = 0
    for call in Self.calls + Self.casts {
      // A list and a single value can be compared with nil.
      guard let isCharged = try chargesBytes("\(call) == nil") else { continue }
      #expect(isCharged, "\(call)")
      suitable += 1
    }
    #expect(suitable >= 40, "\(suitable)")
  }

  @Test("Every comparison charges for the bytes of its operands")
  func comparisons() throws {
    var suitable = 0
    let options = ["", "[c]", "[d]", "[cd]", "[l]", "[cl]", "[w]"]
    for comparison in ComparisonOperator.allCases {
      for option in options {
        let sign = comparison.rawValue + option
        let sides = [
          ("name", "'77'"), ("extra", "'77'"), ("name", "extra"), ("name + 'x'", "'77'"),
          ("'77'", "name"), ("name", "{'77', '78'}"), ("extra", "{'77', name}"),
          ("{'77', name}", "name"), ("name + 'x'", "{'77', '78'}"),
        ]
        for (left, right) in sides {
          // False without reading anything, because a string never equals a list.
          if left == "name", right.hasPrefix("{"), [.equal, .notEqual].contains(comparison) {
            continue
          }
          let text = "\(left) \(sign) \(right)"
          guard let isCharged = try chargesBytes(text) else { continue }
          #expect(isCharged, "\(text)")
          suitable += 1
        }
      }
    }
    #expect(suitable >= 200, "\(suitable)")
  }

  @Test("Code compiled without a budget charges nothing, which the comparison finds")
  func withoutBudget() throws {
    #expect(try chargesBytes("uppercase(name) == nil") == true)
    #expect(try chargesBytes("uppercase(name) == nil", charges: false) == false)
    #expect(try work("name CONTAINS[cd] '7'", length: 1000, charges: false) == 0)
  }

  @Test("The elements of a list behind TERNARY are charged wherever it is used")
  func listsBehindTernary() throws {
    func list(_ count: Int) -> String {
      "TERNARY(long == 1, {\(Array(repeating: "2", count: count).joined(separator: ", "))}, {3})"
    }
    let uses = [
      "sum(*) < 0", "*.@count > 5000", "long IN *", "* == {1}", "median(*) < 0", "*[FIRST] == 0",
      "(* UNION {1}).@count == 0", "SUBQUERY(*, $y, $y == 3).@count == 9",
    ]
    var suitable = 0
    for use in uses {
      func charged(_ count: Int) throws -> Int? {
        let test = use.replacing("*", with: list(count))
        return try work("SUBQUERY({1, 2, 3}, $x, \(test)).@count > 5", length: 1)
      }
      guard let short = try charged(10), let long = try charged(1010) else { continue }
      #expect(long - short >= 3 * 1000, "\(use)")
      suitable += 1
    }
    #expect(suitable >= 4, "\(suitable)")
  }
}
