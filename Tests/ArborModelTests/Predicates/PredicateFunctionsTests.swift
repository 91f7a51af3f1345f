import ArborModel
import Testing

/// Registered functions in predicates. The registry is shared by the process, so each test uses
/// names of its own.
@Suite struct PredicateFunctionsTests {
  @Test("Registered functions are called")
  func callsWhatIsRegistered() throws {
    FetchPredicate.registerFunction("initial") { arguments in
      guard case .string(let text) = arguments[0], let first = text.first else { return .null }
      let tail = arguments.dropFirst().reduce(into: "") { tail, value in
        if case .string(let text) = value { tail += text }
      }
      return .string(String(first) + tail)
    }
    let world = try PredicateWorld()
    world.insert(world.person, ["name": "Ada"])
    world.insert(world.person, [:])
    #expect(try world.matches("FUNCTION(name, 'initial') == 'A'").count == 1)
    #expect(try world.matches("FUNCTION(name, 'initial:', '.', name) == 'A.Ada'").count == 1)
    #expect(try world.matches("FUNCTION(boss.name, 'initial') == nil").count == 2)
    FetchPredicate.unregisterFunction("initial:")
    // The shape is already bound, but the function is looked up at compilation.
    #expect(throws: ArborError.self) { try world.matches("FUNCTION(name, 'initial') == 'A'") }
  }

  @Test("Unknown functions are rejected with a suggestion")
  func refusesOthers() throws {
    FetchPredicate.registerFunction("reversed") { $0[0] }
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) {
      try world.matches("FUNCTION(name, 'reversd') == 'A'")
    }
    #expect(error?.message.contains("registerFunction") == true)
    #expect(error?.message.contains("reversed") == true)
  }
}
